import { checkBatch, createBatch, type RunManyOptions } from "../batches/batch";
import type { BatchInputs } from "../batches/batchInputs";
import type { Batch } from "../batches/batchResults";
import { journaledContext } from "../batches/journalOptions";
import { createJobQueue, type JobQueue, type JobQueueParts } from "../jobs/jobQueue";
import type { JobRequest } from "../jobs/jobRequest";
import type { QueueContext } from "../jobs/queueTransport";
import { callOpenAi, OPENAI_OPTIONS, type OpenAiOptions, openaiStream } from "../openai/openai";
import { requestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";

/**
 * The queue of an endpoint (contract, Queue-based job API). All users of the same client share its
 * rate limits and polls.
 */
export interface EndpointQueue extends JobQueue {
  /**
   * The base URL of the workers' OpenAI-compatible server. Pass it to clients such as the package
   * `openai` as `baseURL`, and the key of this client as `apiKey`.
   */
  readonly openaiUrl: string;
  /**
   * Submits a job for each input and yields the results in the order in which the jobs end. Each
   * result contains the job's output or its error. Inputs are read one at a time, whenever there is
   * room for another job. No job is submitted twice. With a `journal`, this is true even if the
   * process is killed, because the next run continues where the last one stopped.
   * @throws InvalidInputError, before any call
   * @throws an error that affects all inputs (a wrong key, an unknown endpoint, a closed client) or
   * that occurred while reading the inputs, after the results of jobs that were already submitted
   * @example
   * for await (const { input, output, error } of client.endpoint("abc").runMany(inputs, { concurrency: 50 })) {
   *   console.log(input, error ?? output);
   * }
   */
  runMany<Input extends object, Output = unknown>(
    inputs: BatchInputs<Input>,
    options?: RunManyOptions<Output, Input>,
  ): Batch<Input, Output>;
  /**
   * Sends a request to the workers' OpenAI-compatible server, for example
   * `openai("v1/chat/completions", { body })`.
   * @throws SubmitUncertainError if the response to a request with a body was lost
   */
  openai<Output = unknown>(path: string, options?: OpenAiOptions<Output>): ResponsePromise<Output>;
  /**
   * Sends a request like `openai`, with `stream: true` in its body, and yields the JSON of each
   * server-sent event up to `[DONE]`. The response ends early if the signal aborts or the loop
   * exits.
   * @throws SubmitUncertainError if the beginning of the response was lost
   * @throws RequestTimeoutError during iteration, if nothing arrives for `timeoutMs`
   * @throws OpenAiStreamError during iteration, if the server sends an error
   * @example
   * const body = { model: "m", messages: [{ role: "user", content: "Hi" }] };
   * for await (const event of await client.endpoint("abc").openaiStream("v1/chat/completions", { body })) {
   *   console.log(event);
   * }
   */
  openaiStream<Event = unknown>(
    path: string,
    options?: OpenAiOptions<Event>,
  ): ResponsePromise<AsyncIterableIterator<Event, void, undefined>>;
}

/**
 * Creates the queue of an endpoint.
 * @throws InvalidInputError if the id cannot be part of a path
 */
export function createEndpointQueue(
  context: QueueContext,
  endpointId: string,
): JobQueueParts & { readonly queue: EndpointQueue } {
  const parts = createJobQueue(context, endpointId);
  const { queue: jobs, transport, run } = parts;
  const queue: EndpointQueue = {
    ...jobs,
    openaiUrl: `${transport.url}/openai/v1`,
    runMany(inputs, options = {}) {
      checkBatch(inputs, options);
      const { schema, idempotent, journal, request: { policy } = {} } = options;
      const submit = { ...requestOptions(options), idempotent };
      // Don't abort the request, because it may already have started a job whose id nobody would
      // know.
      const keepsAttempt = true;
      const journaled = journal && {
        ...journaledContext(options, journal, transport),
        start: (request: JobRequest, signal: AbortSignal, beforeSend: () => void) =>
          run(request, { ...submit, signal }, { keepsAttempt, beforeSend }),
        resume: (jobId: string, submittedAt: number | undefined) =>
          jobs.job(jobId, {
            ...(submittedAt !== undefined && { submittedAt: new Date(submittedAt) }),
            ...(policy?.ttl != null && { ttl: policy.ttl }),
          }),
        readEndpoint: () => jobs.health(),
      };
      const start = (request: JobRequest, signal: AbortSignal) =>
        run(request, { ...submit, schema, signal }, { keepsAttempt });
      return createBatch(start, inputs, options, journaled);
    },
    openai: (path, given) => checkedCall(given, OPENAI_OPTIONS, (options) => callOpenAi(transport, path, options)),
    openaiStream: (path, given) =>
      checkedCall(given, OPENAI_OPTIONS, (options) => openaiStream(transport, path, options)),
  };
  return { ...parts, queue };
}
