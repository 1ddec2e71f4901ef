import { onAbort } from "../contract/clock";
import { InvalidInputError } from "../errors/errors";
import type { JobHandle } from "../jobs/jobHandle";
import { ON_ABORT, type WaitOptions } from "../jobs/jobHandleOptions";
import type { OutputSchema } from "../jobs/jobOutput";
import type { JobRequest } from "../jobs/jobRequest";
import { SUBMIT_OPTIONS, type SubmitOptions } from "../jobs/submit";
import { anObject, aSchema, checkCallOptions, type OptionChecks, wholeFrom } from "../transport/callOptions";
import type { BatchInputs } from "./batchInputs";
import { type BatchJobs, createBatchJobs, type Runner } from "./batchJobs";
import type { Batch, BatchResult } from "./batchResults";
import { outcomeOf, waitInBatch } from "./batchRun";
import { type JournaledContext, runJournaled } from "./journaledInputs";
import { checkJournalOptions, JOURNAL_OPTIONS, type JournalOptions } from "./journalOptions";

/**
 * The options of `runMany`. `timeoutMs`, `maxRetries` and `headers` apply to each submit request.
 */
export interface RunManyOptions<Output, Input extends object = object> extends SubmitOptions, JournalOptions<Input> {
  /**
   * The maximum number of submitted jobs whose results the loop has not yet taken (integer, ≥ 1).
   * If the loop is slow, the batch slows down too, so that memory use does not grow.
   * @default 100
   */
  readonly concurrency?: number | undefined;
  /**
   * The fields to add to every request, besides `input`.
   * @default none
   */
  readonly request?: Omit<JobRequest, "input"> | undefined;
  /**
   * The schema of each job's output, such as a zod schema or another Standard Schema.
   * @default none: the output is `unknown`
   */
  readonly schema?: OutputSchema<Output> | undefined;
  /**
   * Stops the batch. No more jobs are submitted. The batch still receives the responses to submit
   * requests in progress, and yields results that are already complete. Then the loop throws the
   * signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Determines what happens to unfinished jobs when `signal` aborts or the loop is left early:
   * `detach` lets them continue, and `cancel` cancels them before the loop ends. If a job cannot be
   * cancelled and may therefore continue, the loop throws a `CancelFailedError` or a
   * `SubmitUncertainError` that names the first such job. The client's logger reports all of them.
   * @default "detach"
   */
  readonly onAbort?: WaitOptions["onAbort"];
}

const RUN_MANY_OPTIONS: OptionChecks<RunManyOptions<unknown>> = {
  ...SUBMIT_OPTIONS,
  ...JOURNAL_OPTIONS,
  concurrency: wholeFrom(1),
  request: anObject,
  schema: aSchema,
  onAbort: ON_ABORT,
};

/** Submits the job for an input. */
type StartJob<Output> = (request: JobRequest, signal: AbortSignal) => Promise<JobHandle<Output>>;

const DEFAULT_CONCURRENCY = 100;

/**
 * Creates a batch from options that have been checked. Nothing is read or sent before `next` is
 * called for the first time.
 */
export function createBatch<Input extends object, Output>(
  start: StartJob<Output>,
  inputs: BatchInputs<Input>,
  { concurrency = DEFAULT_CONCURRENCY, onAbort: effect, request, signal, delivery }: RunManyOptions<Output, Input>,
  journaled?: JournaledContext<Output>,
): Batch<Input, Output> {
  const runner: Runner<Input, Output> = journaled ? runJournaled(journaled) : runInputs(start, request);
  const jobs = createBatchJobs(runner, inputs, { concurrency, onAbort: effect });
  const results = resultsOf(jobs, signal, delivery !== "done");
  return {
    get counts() {
      return { ...jobs.counts };
    },
    get left() {
      return jobs.left();
    },
    drain: () => jobs.drain(),
    next: () => results.next(),
    return() {
      jobs.stop(false);
      return results.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * Checks the arguments of `runMany`.
 * @throws InvalidInputError
 */
export function checkBatch(inputs: unknown, options: RunManyOptions<unknown, never>): void {
  checkCallOptions<object>(options, RUN_MANY_OPTIONS as OptionChecks<object>);
  checkJournalOptions(options);
  const isIterable =
    typeof inputs === "object" && inputs !== null && (Symbol.iterator in inputs || Symbol.asyncIterator in inputs);
  if (isIterable) return;
  const message = "must be an array, an iterable or an async iterable of objects";
  throw new InvalidInputError("the batch", [{ property: "inputs", message }]);
}

/** Runs each input without recording it in a journal. */
function runInputs<Input extends object, Output>(
  start: StartJob<Output>,
  request: RunManyOptions<Output, Input>["request"],
): Runner<Input, Output> {
  return {
    async run(item, stop) {
      try {
        const job = await start({ ...request, input: item.input }, stop.submits);
        item.jobId = job.id;
        const { output } = await waitInBatch(job, stop);
        return { kind: "completed", output };
      } catch (error) {
        const outcome = outcomeOf(error, item, stop);
        item.jobId ??= jobIdOf(error);
        return outcome;
      }
    },
  };
}

/** Yields the results. Does not end before all requests of the batch have ended. */
async function* resultsOf<Input, Output>(
  jobs: BatchJobs<Input, Output>,
  signal: AbortSignal | undefined,
  isDeliveredByNext: boolean,
): AsyncGenerator<BatchResult<Input, Output>, void, undefined> {
  signal?.throwIfAborted();
  const ignoreAbort = onAbort(signal, () => jobs.stop(true, signal?.reason));
  try {
    await jobs.open();
    for (;;) {
      const result = jobs.take();
      if (result) {
        yield result;
        // This error can be ignored, because a failing journal ends the batch anyway.
        if (isDeliveredByNext) result.done().catch(() => {});
      } else if (!jobs.isOver()) await jobs.change();
      else if (signal?.aborted) throw signal.reason;
      else return jobs.throwError();
    }
  } finally {
    ignoreAbort();
    jobs.stop(false, signal?.reason);
    await jobs.close();
  }
}

function jobIdOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "jobId" in error ? (error.jobId as string) : undefined;
}
