import { randomUUID } from "node:crypto";
import type { Journal, JournalBatch } from "./journal";

/**
 * Records the job of a key whose submit got no response. The batch then uses the job's result
 * instead of reporting the key as uncertain. Call this function in a webhook receiver, with the key
 * from the webhook's URL. It has no effect if the key is unknown or already has a job.
 * @param journal the batch's journal, which must allow several processes
 * @throws JournalRefusedError if the journal belongs to another batch
 * @throws JournalUnavailableError
 */
export async function recordJob(journal: Journal, batch: JournalBatch, key: string, jobId: string): Promise<void> {
  const open = await journal.open(batch);
  try {
    const owner = `webhook ${randomUUID()}`;
    // End the lease right away, so that any process of the batch can take over the job.
    await open.record(owner, [{ key, owner, state: "submitted", jobId }], true);
  } finally {
    await open.close();
  }
}
