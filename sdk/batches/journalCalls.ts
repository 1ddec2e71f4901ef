import { type Clock, onAbort, timeLimit } from "../contract/clock";
import { ServerlessGpuError } from "../errors/errors";
import { JOURNAL_STATES, type JournalEntry } from "../journal/journal";
import { JournalDamagedError, JournalUnavailableError } from "../journal/journalErrors";

/** How long a call may take, in milliseconds. A stalled connection or disk reports no error. */
const LONGEST_CALL_MS = 20_000;

/** Rejects if a call of the journal takes too long. The call may still take effect. */
export async function inTime<T>(clock: Clock, call: Promise<T>): Promise<T> {
  const limit = timeLimit(
    clock,
    LONGEST_CALL_MS,
    () => new JournalUnavailableError(`the journal did not respond within ${LONGEST_CALL_MS / 1_000} seconds`),
  );
  const late = new Promise<never>((_, reject) => onAbort(limit.signal, () => reject(limit.signal.reason)));
  try {
    return await Promise.race([call, late]);
  } finally {
    limit.release();
  }
}

export function isLasting(error: unknown): boolean {
  return error instanceof ServerlessGpuError && (error.disposition === "stop" || error.code === "JOURNAL_LOCKED");
}

/** Refuses states of another version, because this version cannot process them. */
export function known(entry: JournalEntry): JournalEntry {
  if (JOURNAL_STATES.includes(entry.state)) return entry;
  throw new JournalDamagedError(
    `input ${JSON.stringify(entry.key)} has the unknown state ${JSON.stringify(entry.state)} in the journal. Run the batch with ` +
      "the version of the package that wrote it",
  );
}
