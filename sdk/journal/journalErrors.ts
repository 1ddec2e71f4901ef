import { nameErrors } from "../errors/errorNames";
import { type ErrorDetails, ServerlessGpuError } from "../errors/errors";

/** Thrown when a journal belongs to another endpoint, batch or key version. Nothing was changed. */
export class JournalRefusedError extends ServerlessGpuError {
  readonly code = "JOURNAL_REFUSED";
}

/**
 * Thrown when a journal contains a line that this package cannot have written. Nothing was changed.
 */
export class JournalDamagedError extends ServerlessGpuError {
  readonly code = "JOURNAL_DAMAGED";
}

/** A job whose id could not be recorded. */
export interface UnrecordedJob {
  /** The key of the job's input. */
  readonly key: string;
  /** The id of the job. */
  readonly jobId: string;
}

/** Thrown when a journal cannot be used, which ends the batch. `cause` contains the reason. */
abstract class JournalEndError extends ServerlessGpuError {
  /**
   * The jobs whose ids could not be recorded. A later run reports their keys as uncertain, unless
   * you pass the ids to `recordJobs` first. The property is not enumerable.
   */
  declare readonly unrecorded: readonly UnrecordedJob[];

  /** @internal */
  constructor(message: string, details?: ErrorDetails, unrecorded: readonly UnrecordedJob[] = []) {
    super(message, details);
    Object.defineProperty(this, "unrecorded", { value: unrecorded });
  }
}

/**
 * Thrown when a journal cannot be reached or written. Without the journal, no more jobs are
 * submitted.
 */
export class JournalUnavailableError extends JournalEndError {
  readonly code = "JOURNAL_UNAVAILABLE";
  override readonly disposition: "wait" | "stop" = "wait";

  /**
   * Marks the error as one that another attempt would not fix.
   * @internal
   */
  stopping(): this {
    return Object.assign(this, { disposition: "stop" });
  }
}

/**
 * Thrown when another process is using the journal's store, which can be used by only one process
 * at a time. A process that was paused for more than 15 seconds may lose the store to another one,
 * and then submits nothing more.
 */
export class JournalLockedError extends JournalEndError {
  readonly code = "JOURNAL_LOCKED";
  override readonly disposition = "wait";
}

/** Returns the error that ends a batch whose journal cannot be used. */
export function journalFailed(cause: unknown, unrecorded: readonly UnrecordedJob[]): ServerlessGpuError {
  if (cause instanceof JournalDamagedError || cause instanceof JournalRefusedError) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  const ids =
    unrecorded.length === 0 ? "" : `. The ids of ${unrecorded.length} jobs could not be recorded: see error.unrecorded`;
  if (cause instanceof JournalLockedError) return new JournalLockedError(`${why}${ids}`, { cause }, unrecorded);
  return new JournalUnavailableError(
    `the journal cannot be used, and nothing more was submitted: ${why}${ids}. Make it available again (free space on its disk, ` +
      "or start its database), and run the batch again: it continues where it stopped",
    { cause },
    unrecorded,
  );
}

/** Returns the error for a file that cannot be opened. */
export function cannotOpen(file: string, cause: unknown): JournalUnavailableError {
  const { message = String(cause), code } = cause as NodeJS.ErrnoException;
  const next =
    code === "ENOSPC" ? ". Free space on its disk, and run the batch again: it continues where it stopped" : "";
  return new JournalUnavailableError(`the journal ${file} cannot be opened: ${message}${next}`, { cause });
}

nameErrors({ JournalDamagedError, JournalLockedError, JournalRefusedError, JournalUnavailableError });
