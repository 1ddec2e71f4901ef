import { randomUUID } from "node:crypto";
import type { Journal, JournalBatch } from "./journal";
import type { UnrecordedJob } from "./journalErrors";

/** The maximum number of jobs per request to the journal. */
const MOST_JOBS = 1_000;

/**
 * Records the jobs of keys whose submit got no response, so that the batch uses their results
 * instead of reporting the keys as uncertain. Call it in a webhook receiver with the key from the
 * webhook's URL, or with job ids from RunPod's console.
 * @returns the jobs that could not be recorded, because their key is unknown or has another job
 * @throws JournalRefusedError if the journal belongs to another batch
 * @throws JournalLockedError if the journal is a file that another process uses
 * @throws JournalUnavailableError
 */
export async function recordJobs(
  journal: Journal,
  batch: JournalBatch,
  jobs: readonly UnrecordedJob[],
): Promise<UnrecordedJob[]> {
  const open = await journal.open(batch);
  try {
    const known = new Map<string, string | undefined>();
    for (let at = 0; at < jobs.length; at += MOST_JOBS) {
      const owner = `jobs ${randomUUID()}`;
      const group = jobs.slice(at, at + MOST_JOBS);
      // End the lease right away, so that any process of the batch can take over the jobs.
      await open.record(
        owner,
        group.map(({ key, jobId }) => ({ key, owner, state: "submitted", jobId })),
        true,
      );
      const keys = group.map(({ key }) => key);
      for (const { key, jobId } of await open.collect(owner, keys)) known.set(key, jobId);
    }
    return jobs.filter(({ key, jobId }) => known.get(key) !== jobId);
  } finally {
    await open.close();
  }
}
