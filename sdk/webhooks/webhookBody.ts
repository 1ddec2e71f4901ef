import { systemClock } from "../contract/clock";
import { IdScanner } from "../jobs/idScanner";

/**
 * The maximum size of a delivery, in bytes. A delivery contains the job's input (at most 20 MB) and
 * output, but only the id is kept.
 */
const MAX_BODY_BYTES = 64_000_000;

/** The maximum time for a whole delivery to arrive, in milliseconds. */
const MAX_BODY_MS = 30_000;

/**
 * The content of a delivery, which is a job's id, or the status with which the delivery is
 * rejected.
 */
type ReadBody =
  | { readonly jobId: string; readonly status?: undefined }
  | { readonly jobId?: undefined; readonly status: number };

/**
 * How long a sender may take before it counts as slow, in milliseconds. A slow sender can be ended
 * to make room for others.
 */
const SLOW_MS = 1_000;

/** The senders whose deliveries are being read. */
interface Senders {
  /** Reads a delivery, keeping only one chunk in memory at a time. */
  read(chunks: AsyncIterator<Uint8Array>): Promise<ReadBody>;
  /** Ends the slowest sender, with the status 408. Returns `false` if no sender is slow. */
  endSlowest(): boolean;
}

interface Sender {
  /** When the delivery began, in milliseconds of the monotonic clock. */
  readonly since: number;
  readonly end: () => void;
}

export function createSenders(): Senders {
  /** The senders, in the order in which their deliveries began. */
  const sending = new Set<Sender>();
  return {
    read: (chunks) => readJobId(chunks, sending),
    endSlowest() {
      const [oldest] = sending;
      if (!oldest || systemClock.monotonic() - oldest.since < SLOW_MS) return false;
      sending.delete(oldest);
      oldest.end();
      return true;
    },
  };
}

async function readJobId(chunks: AsyncIterator<Uint8Array>, sending: Set<Sender>): Promise<ReadBody> {
  const scanner = new IdScanner();
  let bytes = 0;
  let isLate = false;
  let giveUp = () => {};
  const end = () => {
    isLate = true;
    giveUp();
  };
  const cancelTimer = systemClock.schedule(MAX_BODY_MS, end);
  const sender = { since: systemClock.monotonic(), end };
  sending.add(sender);
  try {
    // Read the delivery to its end, even after the id was found, because some senders do not read a
    // response before they have sent everything.
    for (;;) {
      // A `Promise.race` with one promise for all chunks would keep all chunks in memory.
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
    sending.delete(sender);
  }
  return scanner.id === undefined ? { status: 400 } : { jobId: scanner.id };
}
