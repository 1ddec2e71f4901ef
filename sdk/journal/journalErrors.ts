import { nameErrors } from "../errorNames";
import { type ErrorDetails, ServerlessGpuError } from "../errors";

/** Thrown when a journal is of another endpoint, batch or key version. Nothing was changed. */
export class JournalRefusedError extends ServerlessGpuError {
  readonly code = "JOURNAL_REFUSED";
}

/** Thrown when a journal has a line that nobody wrote like this. Nothing was changed. */
export class JournalDamagedError extends ServerlessGpuError {
  readonly code = "JOURNAL_DAMAGED";
}

/** A job whose id could not be recorded. */
export interface UnrecordedJob {
  /** The key of its input. */
  readonly key: string;
  /** The id of the job. */
  readonly jobId: string;
}

/**
 * Thrown when a journal cannot be reached or written. Nothing more is submitted without it. `cause`
 * says why.
 */
export class JournalUnavailableError extends ServerlessGpuError {
  readonly code = "JOURNAL_UNAVAILABLE";
  override readonly disposition: "wait" | "stop" = "wait";
  /**
   * The jobs whose ids could not be recorded. A later run reports their keys as uncertain. Not
   * enumerable.
   */
  declare readonly unrecorded: readonly UnrecordedJob[];

  /** @internal */
  constructor(message: string, details?: ErrorDetails, unrecorded: JournalUnavailableError["unrecorded"] = []) {
    super(message, details);
    Object.defineProperty(this, "unrecorded", { value: unrecorded });
  }

  /**
   * Says that a repetition does not help.
   * @internal
   */
  stopping(): this {
    return Object.assign(this, { disposition: "stop" });
  }
}

/** Returns the error for a file that cannot be opened. */
export function cannotOpen(file: string, cause: unknown): JournalUnavailableError {
  const { message = String(cause), code } = cause as NodeJS.ErrnoException;
  const next = code === "ENOSPC" ? ". Free space on its disk, and run the batch again: it goes on where it was" : "";
  return new JournalUnavailableError(`the journal ${file} cannot be opened: ${message}${next}`, { cause });
}

nameErrors({ JournalDamagedError, JournalRefusedError, JournalUnavailableError });
