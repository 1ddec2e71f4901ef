/**
 * The counts of a batch's inputs. `started` is always the sum of the other counts, because each
 * input that was read belongs to exactly one of them.
 */
export interface BatchCounts {
  /** The number of inputs that were read (integer, ≥ 0). */
  readonly started: number;
  /** The number of inputs whose job completed (integer, ≥ 0). */
  readonly completed: number;
  /** The number of inputs that failed, either in their job or before it started (integer, ≥ 0). */
  readonly failed: number;
  /**
   * The number of inputs without a final result (integer, ≥ 0). Their job is waiting, running, or
   * may be running, for example after an abort or a lost response.
   */
  readonly unfinished: number;
  /**
   * With a journal, the number of inputs that have the same key as an earlier input (integer, ≥ 0).
   * They share the job of that input and yield its result.
   */
  readonly duplicates: number;
  /**
   * With a journal, the number of inputs whose output was already delivered by an earlier run or by
   * another process (integer, ≥ 0). The loop does not receive these results again.
   */
  readonly skipped: number;
  /**
   * With a journal, the number of inputs whose job failed in an earlier run or in another process
   * (integer, ≥ 0). The loop does not receive these errors again. With `failed: "submit"`, inputs
   * that failed in an earlier run are submitted again instead.
   */
  readonly failedEarlier: number;
}

/** The fields that all batch results have. */
export interface BatchItem<Input> {
  /** The position of the input (integer, ≥ 0). */
  readonly index: number;
  /** The input as it was given. */
  readonly input: Input;
  /** The id of the job. `undefined` if it is unknown whether the job was submitted. */
  readonly jobId: string | undefined;
  /** The input's key in the journal. Missing if there is no journal. */
  readonly key?: string;
  /**
   * Records in the journal that the result was processed, so that no later run yields it again.
   * Resolves when the record is durable. Only needed with `delivery: "done"`. This property is not
   * enumerable.
   * @throws JournalUnavailableError also after the end of the loop. The next run then yields the
   * result again
   */
  done(): Promise<void>;
}

/** The result of an input whose job completed. */
export interface BatchSuccess<Input, Output> extends BatchItem<Input> {
  /** The output of the job, as returned by the schema if there is one. */
  readonly output: Output;
  /** Always `undefined`. */
  readonly error?: undefined;
}

/** The result of an input that has no output. */
export interface BatchFailure<Input> extends BatchItem<Input> {
  /**
   * The reason why there is no output. `SubmitUncertainError` means that the job may have been
   * submitted; it is not submitted again. If waiting for a job failed, the job continues: use
   * `client.endpoint(id).job(jobId)` to resume waiting for it.
   */
  readonly error: Error;
  /** Always `undefined`. */
  readonly output?: undefined;
}

/** The result of one input of a batch: either the output of its job, or an error. */
export type BatchResult<Input = unknown, Output = unknown> = BatchSuccess<Input, Output> | BatchFailure<Input>;

/** The results of `runMany`, in the order in which the jobs end. They can be read only once. */
export interface Batch<Input, Output> extends AsyncIterableIterator<BatchResult<Input, Output>, void, undefined> {
  /** The counts of the batch so far. */
  readonly counts: BatchCounts;
  /**
   * The inputs that were read but whose results the loop has not received. After an abort or a
   * `break`, these are the inputs whose jobs were left behind: use `client.endpoint(id).job(jobId)`
   * to resume waiting for a job.
   */
  readonly left: readonly BatchItem<Input>[];
}
