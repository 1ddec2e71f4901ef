import { randomUUID } from "node:crypto";
import type { Journal, OpenJournal } from "../../sdk/journal/journal";
import type { OutputFile } from "./outputFile";

/** The maximum number of changes per request to the journal. */
const MOST_CHANGES = 1_000;

/**
 * Returns the same journal. When it is opened, it learns which results the output contains, because
 * a process may have been killed after it wrote a result and before it recorded that.
 */
export function caughtUp(journal: Journal, file: OutputFile): Journal {
  return {
    async open(batch) {
      const open = await journal.open(batch);
      try {
        await recordWritten(open, file);
        return open;
      } catch (error) {
        await open.close();
        throw error;
      }
    },
  };
}

async function recordWritten(open: OpenJournal, file: OutputFile): Promise<void> {
  const behind = (await open.underWay()).map(({ key }) => key).filter((key) => file.has(key));
  if (behind.length === 0) return;
  const owner = `output ${randomUUID()}`;
  // A result of an earlier job of the key changes nothing.
  const changes = (await file.resultsOf(new Set(behind))).map(({ key, jobId, isFailed }) => {
    return { key, jobId, owner, state: isFailed ? ("failed" as const) : ("delivered" as const) };
  });
  for (let at = 0; at < changes.length; at += MOST_CHANGES) {
    await open.record(owner, changes.slice(at, at + MOST_CHANGES), true);
  }
}
