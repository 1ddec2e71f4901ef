/** A durable record of a batch: `fileJournal` or `postgresJournal`. */
export interface Journal {
  /**
   * Opens the record of a batch, and creates it if it does not exist.
   * @throws JournalRefusedError if the record belongs to another endpoint, batch or key version
   * @throws JournalRefusedError also if a newer version of this package created the record
   * @throws JOURNAL_LOCKED if the store can be used by only one process at a time and another
   * process is using it
   * @throws JournalUnavailableError if the store cannot be reached
   */
  open(batch: JournalBatch): Promise<OpenJournal>;
}

/** Identifies the record of a batch. */
export interface JournalBatch {
  /** The name of the batch. */
  readonly batch: string;
  /** The endpoint that runs the batch's jobs. */
  readonly endpointId: string;
  /** The version of the function that computes the keys. */
  readonly keyVersion: string;
}

/** A key to claim. */
export interface JournalKey {
  /** The key of an input. */
  readonly key: string;
  /** The hash of the input, if the key does not depend on the whole input. */
  readonly hash?: string | undefined;
}

/**
 * An open record. Each method handles many keys, but is atomic for each key, so two processes never
 * both claim a key. A method that rejects may still have taken effect, and is called again.
 */
export interface OpenJournal {
  /**
   * How long a process owns the keys it has claimed after its last call of `claim` or `record`, in
   * milliseconds, measured by the store's own clock. `Infinity` if the store is locked for one
   * process.
   */
  readonly leaseMs: number;
  /**
   * Returns `false` if this process may have lost the lock of the store. `claim` and `record` then
   * read the lock again.
   * @default the store has no lock
   */
  readonly isHeld?: () => boolean;
  /**
   * Claims the keys that are free: unknown, released, claimed by the same owner, or in a state that
   * `again` lists. A `failed` key is free only if its owner is gone. All other keys are handled as
   * by `collect`. Starts or renews the owner's lease. If the lease has ended, nothing changes.
   * @returns an entry for each key, or `undefined` if the owner's lease has ended
   */
  claim(owner: string, keys: readonly JournalKey[], again: readonly AgainState[]): Promise<JournalEntry[] | undefined>;
  /**
   * Reads the entries of keys. If the lease of a key's owner has ended, a `submitted` or `settled`
   * key is taken over by the calling owner, and a `claimed` key becomes `uncertain`.
   * @returns an entry for each known key
   */
  collect(owner: string, keys: readonly string[]): Promise<JournalEntry[]>;
  /**
   * Records changes, at most one per key, as `applied` specifies. Renews the owner's lease unless
   * the lease has ended. The changes are recorded in either case, and are durable when the promise
   * resolves.
   * @param ends `true` if the owner's lease should end now
   * @returns `false` if the owner's lease has ended
   */
  record(owner: string, changes: readonly JournalChange[], ends?: boolean): Promise<boolean>;
  /** Reads the entries that have one of these jobs. */
  withJobs(jobIds: readonly string[]): Promise<JournalEntry[]>;
  /** Reads the entries that are `submitted` or `settled`. */
  underWay(): Promise<JournalEntry[]>;
  /** Reads the stored outcome of a key's job, as JSON. */
  result(key: string): Promise<string | undefined>;
  /** Releases the store. */
  close(): Promise<void>;
}

/**
 * The state of a key.
 *
 * - `claimed`: the owner is about to submit a job, or has just submitted it.
 * - `uncertain`: a job may or may not have been submitted. By default, the key is never submitted
 *   again.
 * - `released`: it is certain that no job was submitted.
 * - `submitted`: a job with the id `jobId` was submitted.
 * - `settled`: that job has ended.
 * - `delivered`: the loop has processed the output.
 * - `failed`: the loop has processed the error of a job that failed. By default, the key is never
 *   submitted again.
 * - `expired`: RunPod no longer has the result. By default, the key is never submitted again.
 */
export type JournalState =
  | "claimed"
  | "uncertain"
  | "released"
  | "submitted"
  | "settled"
  | "delivered"
  | "failed"
  | "expired";

/** All states, for checks. */
export const JOURNAL_STATES: readonly JournalState[] = [
  "claimed",
  "uncertain",
  "released",
  "submitted",
  "settled",
  "delivered",
  "failed",
  "expired",
];

/** The states in which a key is submitted again only if the caller asks for it. */
export type AgainState = "uncertain" | "expired" | "failed";

/** The recorded facts about a key. */
export interface JournalEntry extends JournalKey {
  /** Its state. */
  readonly state: JournalState;
  /** The process that last changed the key, or that is waiting for its job. */
  readonly owner: string;
  /** The id of the job. Set in `submitted` and all later states. */
  readonly jobId?: string | undefined;
  /** When the job was submitted, in milliseconds since the Unix epoch. */
  readonly submittedAt?: number | undefined;
  /** Why the key is uncertain, if the process that submitted it has recorded that. */
  readonly reason?: string | undefined;
  /** `true` if the job's outcome is stored. */
  readonly isStored?: boolean | undefined;
}

/** A change to a key. */
export interface JournalChange {
  /** The key of an input. */
  readonly key: string;
  /** The process that claimed the key, or that is waiting for its job. */
  readonly owner: string;
  /** The new state. */
  readonly state: Exclude<JournalState, "claimed">;
  /** The id of the job. Not set for `released` and `uncertain`. */
  readonly jobId?: string | undefined;
  /** When the job was submitted, in milliseconds since the Unix epoch. */
  readonly submittedAt?: number | undefined;
  /** Why the key is uncertain. */
  readonly reason?: string | undefined;
  /** The job's outcome as JSON, if it should be stored: `{ status, output, error }`. */
  readonly result?: string | undefined;
}

/** How far a job has come. */
const PROGRESS: Partial<Record<JournalState, number>> = { submitted: 1, settled: 2, delivered: 3, failed: 3 };

/**
 * Returns the entry after a change. Returns the same object if the change has no effect.
 *
 * - `released` and `uncertain` have an effect only if the key has no job and the change comes from
 *   its owner.
 * - If a key has no job id, the job id of the change is always recorded. A job id without a time
 *   was given by `recordJobs`, and another one replaces it until its job has ended.
 * - The state of a job only moves forward. A change about another job has no effect.
 */
export function applied(entry: JournalEntry, change: JournalChange): JournalEntry {
  const { state, owner, jobId, submittedAt, reason } = change;
  const hasNoJob = entry.jobId === undefined;
  if (state === "released" || state === "uncertain") {
    const from: readonly JournalState[] = state === "released" ? ["claimed", "uncertain"] : ["claimed"];
    return hasNoJob && from.includes(entry.state) && entry.owner === owner ? { ...entry, state, reason } : entry;
  }
  if (state === "expired") {
    return entry.jobId === jobId && ["submitted", "settled"].includes(entry.state) ? { ...entry, state } : entry;
  }
  const isStored = entry.isStored || change.result !== undefined || undefined;
  const replaces = state === "submitted" && entry.state === "submitted" && entry.submittedAt === undefined;
  if (hasNoJob || (replaces && entry.jobId !== jobId))
    return { key: entry.key, hash: entry.hash, state, owner, jobId, submittedAt, isStored };
  const goesOn = (PROGRESS[state] ?? 0) > (PROGRESS[entry.state] ?? Number.POSITIVE_INFINITY);
  return entry.jobId === jobId && goesOn ? { ...entry, state, owner, isStored } : entry;
}

/**
 * Returns `true` if an owner may claim the key.
 * @param isGone whether another owner has ended
 */
export function isFree(
  entry: JournalEntry | undefined,
  owner: string,
  again: readonly AgainState[],
  isGone: (other: string) => boolean,
): boolean {
  if (!entry || entry.state === "released") return true;
  if (entry.state === "claimed") return entry.owner === owner;
  // Otherwise, processes that share the batch would each run a failing input again.
  if (entry.state === "failed" && (entry.owner === owner || !isGone(entry.owner))) return false;
  return again.some((state) => state === entry.state);
}

/**
 * Returns the entry after another owner has taken over the key, because the entry's owner is gone.
 */
export function takenOver(entry: JournalEntry, owner: string): JournalEntry {
  if (entry.state === "claimed") return { ...entry, state: "uncertain" };
  return entry.state === "submitted" || entry.state === "settled" ? { ...entry, owner } : entry;
}
