import { nameErrors } from "../errorNames";
import { type ErrorDetails, ServerlessGpuError } from "../errors";

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

/**
 * Thrown when a journal cannot be reached or written. Without the journal, no more jobs are
 * submitted. `cause` contains the reason.
 */
export class JournalUnavailableError extends ServerlessGpuError {
  readonly code = "JOURNAL_UNAVAILABLE";
  override readonly disposition: "wait" | "stop" = "wait";
  /**
   * The jobs whose ids could not be recorded. A later run reports their keys as uncertain. The
   * property is not enumerable.
   */
  declare readonly unrecorded: readonly UnrecordedJob[];

  /** @internal */
  constructor(message: string, details?: ErrorDetails, unrecorded: JournalUnavailableError["unrecorded"] = []) {
    super(message, details);
    Object.defineProperty(this, "unrecorded", { value: unrecorded });
  }

  /**
   * Marks the error as one that another attempt would not fix.
   * @internal
   */
  stopping(): this {
    return Object.assign(this, { disposition: "stop" });
  }
}

/** Returns the error for a file that cannot be opened. */
export function cannotOpen(file: string, cause: unknown): JournalUnavailableError {
  const { message = String(cause), code } = cause as NodeJS.ErrnoException;
  const next =
    code === "ENOSPC" ? ". Free space on its disk, and run the batch again: it continues where it stopped" : "";
  return new JournalUnavailableError(`the journal ${file} cannot be opened: ${message}${next}`, { cause });
}

nameErrors({ JournalDamagedError, JournalRefusedError, JournalUnavailableError });
