import { onAbort } from "../contract/clock";
import { InvalidInputError, ServerlessGpuError } from "../errors";
import { anObject, aSchema, checkOptions, type OptionChecks, wholeFrom } from "../transport/callOptions";
import { CancelFailedError, SubmitUncertainError } from "./jobErrors";
import type { JobHandle } from "./jobHandle";
import { ON_ABORT, type WaitOptions } from "./jobHandleOptions";
import type { OutputSchema } from "./jobOutput";
import type { JobRequest } from "./jobRequest";
import { SUBMIT_OPTIONS, type SubmitOptions } from "./submit";

/** The inputs of a batch: a list, or anything that yields them. */
export type BatchInputs<Input> = Iterable<Input> | AsyncIterable<Input>;

/** Options of `runMany`. `timeoutMs`, `maxRetries` and `headers` are for each submit. */
export interface RunManyOptions<Output> extends SubmitOptions {
  /**
   * The largest number of submitted jobs whose results the loop has not taken yet (integer, ≥ 1). A
   * slow loop therefore slows the batch down, and memory does not grow.
   * @default 100
   */
  readonly concurrency?: number | undefined;
  /** Fields to add to every request, in addition to `input`. @default none */
  readonly request?: Omit<JobRequest, "input"> | undefined;
  /**
   * The schema of each job's output, such as a zod schema, or another Standard Schema.
   * @default none: the output is `unknown`
   */
  readonly schema?: OutputSchema<Output> | undefined;
  /**
   * Decides what happens to jobs that have not ended when `signal` aborts or the loop is left
   * early: `detach` lets them continue, `cancel` cancels them before the loop ends. If a cancel
   * fails and a job may continue, the loop throws a `CancelFailedError` or a `SubmitUncertainError`
   * that names the first; the client's logger gets each.
   * @default "detach"
   */
  readonly onAbort?: WaitOptions["onAbort"];
}

const RUN_MANY_OPTIONS: OptionChecks<RunManyOptions<unknown>> = {
  ...SUBMIT_OPTIONS,
  concurrency: wholeFrom(1),
  request: anObject,
  schema: aSchema,
  onAbort: ON_ABORT,
};

/** Job counts of a batch. */
export interface BatchCounts {
  /** The number of inputs that were read (integer, ≥ 0). */
  readonly started: number;
  /** The number of jobs that completed (integer, ≥ 0). */
  readonly completed: number;
  /** The number of inputs that failed, in their job or before it started (integer, ≥ 0). */
  readonly failed: number;
  /**
   * The number of inputs whose result is an error although their job may still run, for example
   * after an abort or a lost response: whole, ≥ 0.
   */
  readonly unfinished: number;
}

/** Fields that every batch result has. */
export interface BatchItem<Input> {
  /** The input's position (integer, ≥ 0). */
  readonly index: number;
  /** The input as it was given. */
  readonly input: Input;
  /** The id of the job. `undefined` if it is not known whether the job was submitted. */
  readonly jobId: string | undefined;
}

/** The result of an input whose job completed. */
export interface BatchSuccess<Input, Output> extends BatchItem<Input> {
  /** The output of the job, as the schema returned it where one was given. */
  readonly output: Output;
  /** Always `undefined`. */
  readonly error?: undefined;
}

/** The result of an input without an output. */
export interface BatchFailure<Input> extends BatchItem<Input> {
  /**
   * The reason. `SubmitUncertainError`: the job may have been submitted; it was not submitted
   * again. If a wait failed, its job continues: `client.endpoint(id).job(jobId)` continues with it.
   */
  readonly error: Error;
  /** Always `undefined`. */
  readonly output?: undefined;
}

/** The result of one input of a batch: the output of its job, or the error. */
export type BatchResult<Input = unknown, Output = unknown> = BatchSuccess<Input, Output> | BatchFailure<Input>;

/** The results of `runMany`, in the order in which the jobs end. It can be read once. */
export interface Batch<Input, Output> extends AsyncIterableIterator<BatchResult<Input, Output>, void, undefined> {
  /** The batch's job counts so far. */
  readonly counts: BatchCounts;
}

/** Submits the job of an input. */
export type StartJob<Output> = (request: JobRequest, signal: AbortSignal) => Promise<JobHandle<Output>>;

const DEFAULT_CONCURRENCY = 100;

/** Submit errors that every further submit would also get. */
const CONCERNS_ALL = ["AUTHENTICATION", "CLIENT_CLOSED", "CONFIGURATION", "NOT_FOUND"];

/** Errors of a wait for a job that does not run any more. */
const ENDS_JOB = ["JOB_FAILED", "JOB_EXPIRED", "NOT_FOUND", "OUTPUT_MISMATCH"];

/** Creates a batch from checked options. Nothing is read or sent before its first `next`. */
export function createBatch<Input extends object, Output>(
  start: StartJob<Output>,
  inputs: BatchInputs<Input>,
  options: RunManyOptions<Output>,
): Batch<Input, Output> {
  const jobs = createBatchJobs(start, inputs, options);
  const results = resultsOf(jobs, options.signal);
  return {
    get counts() {
      return { ...jobs.counts };
    },
    next: () => results.next(),
    return() {
      jobs.stop();
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
export function checkBatch(inputs: unknown, options: RunManyOptions<unknown>): void {
  checkOptions(options, RUN_MANY_OPTIONS);
  const isIterable =
    typeof inputs === "object" && inputs !== null && (Symbol.iterator in inputs || Symbol.asyncIterator in inputs);
  if (isIterable) return;
  const message = "must be an array, an iterable or an async iterable of objects";
  throw new InvalidInputError("the batch", [{ property: "inputs", message }]);
}

/** Yields the results. Ends only when no request of the batch is pending. */
async function* resultsOf<Input, Output>(
  jobs: BatchJobs<Input, Output>,
  signal: AbortSignal | undefined,
): AsyncGenerator<BatchResult<Input, Output>, void, undefined> {
  const ignoreAbort = onAbort(signal, () => jobs.stop(signal?.reason));
  try {
    for (;;) {
      signal?.throwIfAborted();
      const result = jobs.take();
      if (result) yield result;
      else if (jobs.isOver()) return jobs.throwError();
      else await jobs.change();
    }
  } finally {
    ignoreAbort();
    jobs.stop(signal?.reason);
    await jobs.close();
  }
}

/** The jobs of a batch. */
interface BatchJobs<Input, Output> {
  readonly counts: BatchCounts;
  /** Returns the next result, and reads inputs to replace it. `undefined` if there is none yet. */
  take(): BatchResult<Input, Output> | undefined;
  /** Returns `true` if nothing is under way and no more inputs are read. */
  isOver(): boolean;
  /** Throws the error that stopped the reading of inputs, if there was one. */
  throwError(): void;
  /** Resolves on the next change. */
  change(): Promise<void>;
  /** Reads and submits nothing more, and ends all waits. */
  stop(reason?: unknown): void;
  /**
   * Resolves when nothing is under way.
   * @throws the first error of a cancel
   */
  close(): Promise<void>;
}

function createBatchJobs<Input extends object, Output>(
  start: StartJob<Output>,
  inputs: BatchInputs<Input>,
  { concurrency = DEFAULT_CONCURRENCY, request, onAbort: effect }: RunManyOptions<Output>,
): BatchJobs<Input, Output> {
  const counts = { started: 0, completed: 0, failed: 0, unfinished: 0 };
  const stopped = new AbortController();
  const running = new Set<Promise<void>>();
  const finished: BatchResult<Input, Output>[] = [];
  const notCancelled: unknown[] = [];
  /** Set when no more inputs are read. */
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const hasRoom = () => !end && running.size + finished.length < concurrency;
  const source = readInTurn(inputs, hasRoom, begin, (error) => {
    end ??= error;
    wake();
  });

  function begin(input: Input): void {
    const task = runOne(counts.started++, input).then(() => {
      running.delete(task);
      wake();
    });
    running.add(task);
  }

  async function runOne(index: number, input: Input): Promise<void> {
    let jobId: string | undefined;
    try {
      const job = await start({ ...request, input }, stopped.signal);
      jobId = job.id;
      const { output } = await job.wait({ signal: stopped.signal, onAbort: effect });
      counts.completed++;
      finished.push({ index, input, jobId, output });
    } catch (error) {
      const isCancelled = stopped.signal.aborted && effect === "cancel";
      if (mayContinue(error) || (jobId !== undefined && !isCancelled && !endsJob(error))) counts.unfinished++;
      else counts.failed++;
      finished.push({ index, input, jobId: jobId ?? jobIdOf(error), error: error as Error });
      if (isCancelled && mayContinue(error)) notCancelled.push(error);
      // This also applies to the last input.
      if (jobId === undefined && concernsAll(error)) end = end && "error" in end ? end : { error };
    }
  }

  return {
    counts,
    take() {
      const result = finished.shift();
      source.read();
      return result;
    },
    isOver: () => end !== undefined && running.size === 0 && finished.length === 0,
    throwError() {
      if (end && "error" in end) throw end.error;
    },
    change: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    stop(reason) {
      end ??= {};
      stopped.abort(reason);
      wake();
    },
    async close() {
      await Promise.all(running);
      await source.close();
      if (notCancelled.length > 0) throw notCancelled[0];
    },
  };
}

/** Inputs that are read one at a time. */
interface Source {
  /** Reads while there is room. */
  read(): void;
  /** Closes the inputs. Does not wait for a read that has not resolved. */
  close(): Promise<void>;
}

/** @param onEnd called once, when there are no more inputs or a read failed */
function readInTurn<Input>(
  inputs: BatchInputs<Input>,
  hasRoom: () => boolean,
  onInput: (input: Input) => void,
  onEnd: (end: { readonly error?: unknown }) => void,
): Source {
  let iterator: AsyncIterator<Input> | Iterator<Input> | undefined;
  let isReading = false;
  let isOpen = true;

  async function read(): Promise<void> {
    isReading = true;
    try {
      iterator ??= Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
      while (isOpen && hasRoom()) {
        const next = await iterator.next();
        if (next.done) isOpen = false;
        // An input that arrives after the batch was stopped is not submitted.
        else if (hasRoom()) onInput(next.value);
      }
      if (!isOpen) onEnd({});
    } catch (error) {
      isOpen = false;
      onEnd({ error });
    }
    isReading = false;
  }

  return {
    read() {
      if (isOpen && !isReading && hasRoom()) void read();
    },
    async close() {
      if (!isOpen || !iterator) return;
      isOpen = false;
      const closed = Promise.resolve(iterator.return?.());
      if (isReading) closed.catch(() => {});
      else await closed;
    },
  };
}

function jobIdOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "jobId" in error ? (error.jobId as string) : undefined;
}

/** Returns `true` for an error of a wait whose job has ended, or is not known to the service. */
function endsJob(error: unknown): boolean {
  return error instanceof ServerlessGpuError && ENDS_JOB.includes(error.code);
}

/** Returns `true` if the job may continue although it should have been cancelled. */
function mayContinue(error: unknown): boolean {
  return error instanceof CancelFailedError || error instanceof SubmitUncertainError;
}

function concernsAll(error: unknown): boolean {
  return error instanceof ServerlessGpuError && CONCERNS_ALL.includes(error.code);
}
