/**
 * Counts of a batch's inputs. At every moment, `started` is the sum of the others: each input that
 * was read is in exactly one of them.
 */
export interface BatchCounts {
  /** The number of inputs that were read (integer, ≥ 0). */
  readonly started: number;
  /** The number of inputs whose job completed (integer, ≥ 0). */
  readonly completed: number;
  /** The number of inputs that failed, in their job or before it started (integer, ≥ 0). */
  readonly failed: number;
  /**
   * The number of inputs without an end: their job waits, runs, or may run, for example after an
   * abort or a lost response (integer, ≥ 0).
   */
  readonly unfinished: number;
  /**
   * With a journal, the number of inputs that share the job of an earlier one with the same key,
   * and yield its result (integer, ≥ 0).
   */
  readonly duplicates: number;
  /**
   * With a journal, the number of inputs whose result an earlier run or another process has
   * delivered: the loop does not get them again (integer, ≥ 0).
   */
  readonly skipped: number;
}

/** Fields that every batch result has. */
export interface BatchItem<Input> {
  /** The input's position (integer, ≥ 0). */
  readonly index: number;
  /** The input as it was given. */
  readonly input: Input;
  /** The id of the job. `undefined` if it is not known whether the job was submitted. */
  readonly jobId: string | undefined;
  /** The input's key in the journal. Missing without one. */
  readonly key?: string;
  /**
   * Records in the journal that the result was processed, so that no later run yields it again.
   * Resolves when that is durable. Only needed with `delivery: "done"`. Not enumerable.
   * @throws JournalUnavailableError
   */
  done(): Promise<void>;
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
  /**
   * The inputs that were read and whose result the loop did not get. After an abort or a `break`,
   * they are those whose job is left behind: `client.endpoint(id).job(jobId)` continues with it.
   */
  readonly left: readonly BatchItem<Input>[];
}
