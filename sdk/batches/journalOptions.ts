import { InvalidInputError } from "../errors/errors";
import type { QueueTransport } from "../jobs/queueTransport";
import type { Journal } from "../journal/journal";
import { aFunction, aString, hasMethod, type OptionChecks, oneOfWords, optionCheck } from "../transport/callOptions";
import type { JournaledContext } from "./journaledInputs";

/** Options of `runMany` for batches that must survive the end of the process. */
export interface JournalOptions<Input extends object> {
  /**
   * Where the key and the job id of each input are recorded, such as `fileJournal(path)` or
   * `postgresJournal({ pool })`. A later run or another process continues with the jobs that this
   * process leaves behind, and does not submit them again.
   * @default none
   */
  readonly journal?: Journal | undefined;
  /** The name of the batch in the journal. Required if `journal` is set. */
  readonly batch?: string | undefined;
  /**
   * Returns the key of an input, which has 1 to 500 characters. Inputs with the same key share one
   * job.
   * @default the SHA-256 of the input's canonical JSON, without the other fields of the request
   */
  readonly key?: ((input: Input) => string) | undefined;
  /**
   * The version of the `key` function. A journal with a different version is rejected, because its
   * keys would not match.
   * @default "1"
   */
  readonly keyVersion?: string | undefined;
  /**
   * How to handle inputs that may or may not have been submitted, because a response was lost or
   * the process was killed. `report` yields a `SubmitUncertainError` in each run. `submit` submits
   * them again, so their jobs may run twice.
   * @default "report"
   */
  readonly uncertain?: "report" | "submit" | undefined;
  /**
   * How to handle inputs whose job RunPod no longer knows. `report` yields a `JobExpiredError` with
   * the job id in each run. `submit` submits them again.
   * @default "report"
   */
  readonly expired?: "report" | "submit" | undefined;
  /**
   * How to handle inputs whose job failed in an earlier run. `keep` counts them as `failedEarlier`.
   * `submit` submits them again.
   * @default "keep"
   */
  readonly failed?: "keep" | "submit" | undefined;
  /**
   * With `results`, the journal also stores each output, so that results cannot expire before they
   * are delivered, and can be delivered again. Inputs are never stored.
   * @default "ids"
   */
  readonly store?: "ids" | "results" | undefined;
  /**
   * Called for each result that was already delivered. Returns `true` if the loop should receive it
   * again, because your program has lost it. The result comes from the journal with `store:
   * "results"`, or from RunPod while it keeps the job. If it is gone, the loop receives a
   * `JobExpiredError`.
   * @default results are delivered once
   */
  readonly redeliver?: ((key: string) => boolean) | undefined;
  /**
   * Determines when a result counts as delivered, so that no later run yields it. `next`: when the
   * loop asks for the next result. `done`: when `result.done()` is called, for loops that process
   * several results at the same time. A result may be delivered twice, so store it under its `key`.
   * @default "next"
   */
  readonly delivery?: "next" | "done" | undefined;
}

const aJournal = optionCheck((value) => hasMethod(value, "open"), "must be a journal, such as fileJournal(path)");

export const JOURNAL_OPTIONS: OptionChecks<JournalOptions<object>> = {
  journal: aJournal,
  batch: aString,
  key: aFunction,
  keyVersion: aString,
  uncertain: oneOfWords("report", "submit"),
  expired: oneOfWords("report", "submit"),
  failed: oneOfWords("keep", "submit"),
  store: oneOfWords("ids", "results"),
  redeliver: aFunction,
  delivery: oneOfWords("next", "done"),
};

/**
 * Checks that the journal options are valid together.
 * @throws InvalidInputError
 */
export function checkJournalOptions({ journal, ...options }: JournalOptions<never>): void {
  if (journal) {
    if (options.batch) return;
    const message = "is required with a journal: the batch's name, which later runs use again";
    throw new InvalidInputError("the batch", [{ property: "batch", message }]);
  }
  const names = Object.keys(JOURNAL_OPTIONS) as (keyof typeof options)[];
  const alone = names.filter((name) => options[name] !== undefined);
  const problems = alone.map((property) => ({ property, message: "needs the option journal" }));
  if (problems.length > 0) throw new InvalidInputError("the batch", problems);
}

/** Returns the context of a batch with a journal, without the functions that make calls. */
export function journaledContext<Output, Input extends object>(
  options: JournalOptions<Input> & Pick<Partial<JournaledContext<Output>>, "request" | "schema">,
  journal: Journal,
  { context, endpointId }: QueueTransport,
): Omit<JournaledContext<Output>, "start" | "resume" | "readEndpoint"> {
  const { batch = "", key, keyVersion = "1", store, redeliver, request, schema } = options;
  return {
    journal,
    request,
    schema,
    clock: context.clock,
    log: context.log,
    identity: { batch, endpointId, keyVersion },
    keyOf: key as ((input: object) => string) | undefined,
    again: (["uncertain", "expired", "failed"] as const).filter((state) => options[state] === "submit"),
    stores: store === "results",
    redeliver,
  };
}
