/**
 * What a durable record of a batch must do. `runMany` uses `fileJournal` and `postgresJournal`; for
 * another store, implement these five methods and run `journalRules` against them.
 */
export interface Journal {
  /**
   * Opens the record of a batch, and creates it if there is none.
   * @throws JournalRefusedError if the record is of another endpoint, batch or key version
   * @throws JOURNAL_LOCKED if another process holds a store that only one can use
   * @throws JournalUnavailableError if the store cannot be reached
   */
  open(batch: JournalBatch): Promise<OpenJournal>;
}

/** The record of one batch, and who may use it. */
export interface JournalBatch {
  /** The batch's name. */
  readonly batch: string;
  /** The endpoint that runs its jobs. */
  readonly endpointId: string;
  /** The version of the function that makes the keys. */
  readonly keyVersion: string;
}

/**
 * An open record. Each method acts on many keys as one step for each key: two processes never both
 * claim a key. A method that rejects may have had its effect, and is called again.
 */
export interface OpenJournal {
  /**
   * How long a process owns what it has claimed after its last call of `claim` or `record`, in
   * milliseconds, by the store's own clock. `Infinity` if a dead process is noticed in another way.
   */
  readonly leaseMs: number;
  /**
   * Claims the keys that are free: unknown, released, claimed by the same owner, or in a state of
   * `again`. For the others it does what `collect` does. Starts or renews the owner's lease. If
   * that has ended, it changes nothing.
   * @returns an entry for each key, or `undefined` if the owner's lease has ended
   */
  claim(owner: string, keys: readonly string[], again: readonly AgainState[]): Promise<JournalEntry[] | undefined>;
  /**
   * Looks at keys. Those whose owner's lease has ended get this owner if they are `submitted` or
   * `settled`, and become `uncertain` if they are `claimed`.
   * @returns an entry for each key that is known
   */
  collect(owner: string, keys: readonly string[]): Promise<JournalEntry[]>;
  /**
   * Records changes, at most one for each key, in the way of `applied`, and renews the owner's
   * lease unless that has ended. The changes are recorded in any case. Durable when it resolves.
   * @param ends `true`: the owner's lease ends now
   * @returns `false` if the owner's lease has ended
   */
  record(owner: string, changes: readonly JournalChange[], ends?: boolean): Promise<boolean>;
  /** Releases the store. */
  close(): Promise<void>;
}

/**
 * The state of a key.
 *
 * - `claimed`: its owner is about to submit a job, or has just done so.
 * - `uncertain`: nobody knows whether a job was submitted. Never submitted again by default.
 * - `released`: it is known that no job was submitted.
 * - `submitted`: a job has the id `jobId`.
 * - `settled`: that job has ended.
 * - `delivered`: the loop has processed the result.
 * - `expired`: the service no longer has the result. Never submitted again by default.
 */
export type JournalState = "claimed" | "uncertain" | "released" | "submitted" | "settled" | "delivered" | "expired";

/** States that are submitted again only on request. */
export type AgainState = "uncertain" | "expired";

/** What is known of a key. */
export interface JournalEntry {
  /** The key of an input. */
  readonly key: string;
  /** Its state. */
  readonly state: JournalState;
  /** The process that changed it last, or that collects it. */
  readonly owner: string;
  /** The id of the job. Set in the states from `submitted` on. */
  readonly jobId?: string | undefined;
  /** When the job was submitted, in milliseconds since the Unix epoch. */
  readonly submittedAt?: number | undefined;
  /** The end of the job as JSON, if it was stored: `{ status, output, error }`. */
  readonly result?: string | undefined;
}

/** A change of a key. */
export interface JournalChange {
  /** The key of an input. */
  readonly key: string;
  /** The process that claimed the key, or that collects it. */
  readonly owner: string;
  /** The new state. */
  readonly state: Exclude<JournalState, "claimed">;
  /** The id of the job. Not set for `released`, and for `uncertain`. */
  readonly jobId?: string | undefined;
  /** When the job was submitted, in milliseconds since the Unix epoch. */
  readonly submittedAt?: number | undefined;
  /** The end of the job as JSON, to be stored. */
  readonly result?: string | undefined;
}

/** States in the order in which a job goes through them. */
const PROGRESS: readonly JournalState[] = ["submitted", "settled", "delivered"];

/**
 * Returns the entry after a change. It is the same object if the change has no effect.
 *
 * - `released` and `uncertain` count only from the owner of a key that has no job.
 * - A job id is always recorded on a key that has none.
 * - The state of a job only goes forward. A change about another job has no effect.
 */
export function applied(entry: JournalEntry, change: JournalChange): JournalEntry {
  const { state, owner, jobId, submittedAt, result } = change;
  const hasNoJob = entry.jobId === undefined;
  if (state === "released" || state === "uncertain") {
    const from: readonly JournalState[] = state === "released" ? ["claimed", "uncertain"] : ["claimed"];
    return hasNoJob && from.includes(entry.state) && entry.owner === owner ? { ...entry, state } : entry;
  }
  if (state === "expired") {
    return entry.jobId === jobId && ["submitted", "settled"].includes(entry.state) ? { ...entry, state } : entry;
  }
  if (hasNoJob) return { key: entry.key, state, owner, jobId, submittedAt, result };
  if (entry.jobId !== jobId || entry.state === "expired") return entry;
  const goesOn = PROGRESS.indexOf(state) > PROGRESS.indexOf(entry.state);
  if (!goesOn) return entry;
  return { ...entry, state, owner, result: entry.result ?? result };
}

/** Returns `true` if an owner may claim a key. */
export function isFree(entry: JournalEntry | undefined, owner: string, again: readonly AgainState[]): boolean {
  if (!entry || entry.state === "released") return true;
  if (entry.state === "claimed") return entry.owner === owner;
  return again.some((state) => state === entry.state);
}

/** Returns an entry whose owner is gone, after another has looked at it. */
export function takenOver(entry: JournalEntry, owner: string): JournalEntry {
  if (entry.state === "claimed") return { ...entry, state: "uncertain" };
  return entry.state === "submitted" || entry.state === "settled" ? { ...entry, owner } : entry;
}
