import type { EndpointRuntime } from "../endpoints/runtime";
import { type HttpResponse, json, type QueueRequest, stream } from "../io/http";
import { hasEnded, type Job } from "../jobs/jobStates";
import { errorStatusOf, isRecord, openAiError, SSE_DONE, sseEvent } from "../openai/openAiJob";

/** Handles `/openai/*`: submits a job and responds with its worker's output. */
export async function openai(request: QueueRequest, runtime: EndpointRuntime): Promise<HttpResponse> {
  const { method, payload = method === "GET" ? {} : undefined, segments } = request;
  if (!isRecord(payload)) {
    return json(400, openAiError(400, "The body must be a JSON object."), "queue.openai-error");
  }
  const input = { openai_route: `/${segments.slice(1).join("/")}`, openai_input: payload };
  const { id } = runtime.submit("runsync", { input, policy: runtime.policy() });
  const signal = request.signal();
  if (payload.stream === true) return respondInPieces(id, runtime, signal);
  const job = await runtime.waitForEnd(id, undefined, signal);
  cancelUnread(id, runtime);
  return wholeResponse(id, job);
}

async function respondInPieces(id: string, runtime: EndpointRuntime, signal: AbortSignal): Promise<HttpResponse> {
  const pieces = piecesOf(id, runtime, signal);
  const first = await pieces.next();
  if (!first.done && errorStatusOf(first.value) === undefined) {
    return stream(200, "text/event-stream", eventsOf(id, first.value, pieces), "queue.openai-stream");
  }
  if (!first.done) {
    await pieces.return(undefined);
    return outputResponse(first.value);
  }
  const job = first.value;
  const isOutput = job?.status === "COMPLETED" && errorStatusOf(job.output) === undefined;
  if (!isOutput) return wholeResponse(id, job);
  return stream(200, "text/event-stream", lastEvents(id, job, [job.output]), "queue.openai-stream");
}

/**
 * Yields the pieces that the job streams. Returns the job when it has ended, or `undefined` if it
 * was deleted.
 */
async function* piecesOf(
  id: string,
  runtime: EndpointRuntime,
  signal: AbortSignal,
): AsyncGenerator<unknown, Job | undefined> {
  let retriesAtFirst: number | undefined;
  try {
    for (;;) {
      const job = await runtime.waitForItems(id, signal);
      if (!job || signal.aborted) return job;
      const items = runtime.takeStream(job);
      if (items.length > 0) retriesAtFirst ??= job.retries;
      // Another worker would start over, although some pieces were already sent.
      if (job.retries !== (retriesAtFirst ?? job.retries))
        return { ...job, status: "FAILED", error: "the worker was lost" };
      for (const { output } of items) yield output;
      if (items.length === 0 && hasEnded(job)) return job;
    }
  } finally {
    cancelUnread(id, runtime);
  }
}

/** Cancels an unfinished job whose result nobody can read any more. */
function cancelUnread(id: string, runtime: EndpointRuntime): void {
  const job = runtime.find(id);
  if (job && !hasEnded(job)) runtime.cancel(job);
}

/**
 * Yields pieces as server-sent events. A string is sent unchanged, and any other value becomes an
 * event.
 */
async function* eventsOf(
  id: string,
  first: unknown,
  pieces: AsyncGenerator<unknown, Job | undefined>,
): AsyncGenerator<string> {
  let areEvents = typeof first === "string";
  yield eventOf(first);
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) return yield* lastEvents(id, value, areEvents ? undefined : []);
      areEvents = typeof value === "string";
      yield eventOf(value);
    }
  } finally {
    await pieces.return(undefined);
  }
}

/**
 * Yields the end of a stream.
 * @param outputs events to send first; `undefined` if the worker writes the events and their end
 * itself
 */
async function* lastEvents(
  id: string,
  job: Job | undefined,
  outputs: readonly unknown[] | undefined,
): AsyncGenerator<string> {
  if (job?.status !== "COMPLETED") yield sseEvent(failureOf(id, job));
  else if (outputs) yield* [...outputs.map(eventOf), SSE_DONE];
}

function eventOf(value: unknown): string {
  return typeof value === "string" ? value : sseEvent(value);
}

/**
 * Returns the response to a request that does not stream. The output of a streaming handler is a
 * list.
 */
function wholeResponse(id: string, job: Job | undefined): HttpResponse {
  if (job?.status !== "COMPLETED") return json(500, failureOf(id, job), "queue.openai-error");
  return outputResponse(Array.isArray(job.output) ? job.output[0] : job.output);
}

function outputResponse(output: unknown): HttpResponse {
  const status = errorStatusOf(output);
  return json(status ?? 200, output ?? null, status === undefined ? "queue.openai" : "queue.openai-error");
}

function failureOf(id: string, job: Job | undefined): unknown {
  if (!job) return openAiError(500, `The job ${id} was removed before it had ended.`);
  return openAiError(500, job.error ?? `The job ${id} is ${job.status}.`);
}
