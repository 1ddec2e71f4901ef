import { systemClock } from "../contract/clock";
import { createIdScanner } from "../jobs/idScanner";

/**
 * The largest delivery, in bytes: it contains the job's input (at most 20 MB) and output. Only the
 * id is kept.
 */
const MAX_BODY_BYTES = 64_000_000;

/** The time for a whole delivery to arrive, in milliseconds. */
const MAX_BODY_MS = 30_000;

/** The content of a delivery: a job's id, or the status to reject it with. */
export type ReadBody =
  | { readonly jobId: string; readonly status?: undefined }
  | { readonly jobId?: undefined; readonly status: number };

/** Reads a delivery in the memory of one chunk. */
export async function readJobId(chunks: AsyncIterator<Uint8Array>): Promise<ReadBody> {
  const scanner = createIdScanner();
  let bytes = 0;
  let isLate = false;
  let giveUp = () => {};
  const cancelTimer = systemClock.schedule(MAX_BODY_MS, () => {
    isLate = true;
    giveUp();
  });
  try {
    // Read to the end, even after the id: some senders read no response before they have sent
    // everything.
    for (;;) {
      // A `Promise.race` with one promise for all chunks would keep them all.
      const next = await new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
        giveUp = () => resolve(undefined);
        chunks.next().then(resolve, reject);
      });
      if (isLate || !next) return { status: 408 };
      if (next.done) break;
      bytes += next.value.length;
      if (bytes > MAX_BODY_BYTES) return { status: 413 };
      scanner.push(next.value);
    }
  } catch {
    return { status: 400 };
  } finally {
    cancelTimer();
  }
  return scanner.id === undefined ? { status: 400 } : { jobId: scanner.id };
}
