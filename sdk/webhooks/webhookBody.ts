import { systemClock } from "../contract/clock";
import { createIdScanner } from "../jobs/idScanner";

/** A delivery holds the job's input (20 MB at most) and its output. None of it is kept but the id. */
const MAX_BODY_BYTES = 64_000_000;

/** Time for a whole delivery to come, in milliseconds. */
const MAX_BODY_MS = 30_000;

/** What a delivery says: a job's id, or the status with which to refuse it. */
export type ReadBody =
  | { readonly jobId: string; readonly status?: undefined }
  | { readonly jobId?: undefined; readonly status: number };

/** Reads a delivery, whatever its size, in the memory of one chunk. */
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
    // To its end also when the id was found: not every sender reads a response before.
    for (;;) {
      // No race with one promise for all chunks: that would keep them all.
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
