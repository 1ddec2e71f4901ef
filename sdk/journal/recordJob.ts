import { randomUUID } from "node:crypto";
import type { Journal, JournalBatch } from "./journal";

/**
 * Records the job of a key whose submit had no answer, so that the batch takes its result instead
 * of calling it uncertain: in a webhook receiver, with the key from the webhook's URL. Has no
 * effect if the key is unknown or has a job.
 * @param journal the batch's journal, which several processes can use
 * @throws JournalRefusedError if the journal is of another batch
 * @throws JournalUnavailableError
 */
export async function recordJob(journal: Journal, batch: JournalBatch, key: string, jobId: string): Promise<void> {
  const open = await journal.open(batch);
  try {
    const owner = `webhook ${randomUUID()}`;
    // The lease ends at once, so that any process of the batch takes the job over.
    await open.record(owner, [{ key, owner, state: "submitted", jobId }], true);
  } finally {
    await open.close();
  }
}
