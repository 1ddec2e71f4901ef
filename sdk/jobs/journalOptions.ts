import { InvalidInputError } from "../errors";
import type { Journal } from "../journal/journal";
import { aFunction, aString, hasMethod, type OptionChecks, oneOfWords, optionCheck } from "../transport/callOptions";
import type { JournaledContext } from "./journaledInputs";
import type { QueueTransport } from "./queueTransport";

/** Options of `runMany` for a batch that outlives the process. */
export interface JournalOptions<Input extends object> {
  /**
   * Where the key and the job id of each input are recorded, such as `fileJournal(path)` or
   * `postgresJournal({ pool })`. A later run, or another process, goes on with the jobs that this
   * one leaves, and submits none of them again.
   * @default none
   */
  readonly journal?: Journal | undefined;
  /** The batch's name in the journal. Required with `journal`. */
  readonly batch?: string | undefined;
  /**
   * Returns the key of an input: 1 to 500 characters. Inputs with one key are one job.
   * @default the SHA-256 of the input's canonical JSON, without the other fields of the request
   */
  readonly key?: ((input: Input) => string) | undefined;
  /**
   * The version of `key`. A journal with another version is refused, because its keys would not
   * match.
   * @default "1"
   */
  readonly keyVersion?: string | undefined;
  /**
   * What happens to inputs of which nobody knows whether they were submitted, after a lost response
   * or a kill: `report` yields a `SubmitUncertainError` in each run, `submit` submits them again,
   * so that their job may run twice.
   * @default "report"
   */
  readonly uncertain?: "report" | "submit" | undefined;
  /**
   * What happens to inputs whose job the service no longer knows: `report` yields a
   * `JobExpiredError` with the job id in each run, `submit` submits them again.
   * @default "report"
   */
  readonly expired?: "report" | "submit" | undefined;
  /**
   * `results`: the journal also stores each output, so that a result that was not delivered does
   * not expire. Inputs are never stored.
   * @default "ids"
   */
  readonly store?: "ids" | "results" | undefined;
  /**
   * When a result counts as delivered, so that no later run yields it: `next`, when the loop asks
   * for the next one; `done`, when `result.done()` is called, for loops that process several at
   * once. A result may be delivered twice, so write it under its `key`.
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
  store: oneOfWords("ids", "results"),
  delivery: oneOfWords("next", "done"),
};

/**
 * Checks the options that belong together.
 * @throws InvalidInputError
 */
export function checkJournalOptions({ journal, ...options }: JournalOptions<never>): void {
  if (journal) {
    if (options.batch) return;
    const message = "is required with a journal: the batch's name, which later runs use again";
    throw new InvalidInputError("the batch", [{ property: "batch", message }]);
  }
  const names = ["batch", "key", "keyVersion", "uncertain", "expired", "store", "delivery"] as const;
  const alone = names.filter((name) => options[name] !== undefined);
  const problems = alone.map((property) => ({ property, message: "needs the option journal" }));
  if (problems.length > 0) throw new InvalidInputError("the batch", problems);
}

/** Returns what a batch with a journal needs, except for the calls. */
export function journaledContext<Output, Input extends object>(
  options: JournalOptions<Input> & Pick<Partial<JournaledContext<Output>>, "request" | "schema">,
  journal: Journal,
  { context, endpointId }: QueueTransport,
): Omit<JournaledContext<Output>, "start" | "resume"> {
  const { batch = "", key, keyVersion = "1", uncertain, expired, store, request, schema } = options;
  return {
    ...{ journal, request, schema, clock: context.clock, log: context.log },
    identity: { batch, endpointId, keyVersion },
    keyOf: key as ((input: object) => string) | undefined,
    again: [
      ...(uncertain === "submit" ? (["uncertain"] as const) : []),
      ...(expired === "submit" ? (["expired"] as const) : []),
    ],
    stores: store === "results",
  };
}
