import { sleep } from "../contract/clock";
import { ServerlessGpuError, UnexpectedResponseError } from "../errors/errors";
import type { RequestOptions } from "../transport/requestOptions";
import { mayHaveHadEffect } from "../transport/retryPolicy";
import { StreamGapError } from "./jobErrors";
import { isTerminal, type Job, type JobStatus, type StreamChunk, type StreamItem } from "./jobRecord";
import { readStream } from "./operations";
import type { QueueTransport } from "./queueTransport";

/**
 * The pauses between reads of a stream, in milliseconds. A pause gets longer while no pieces
 * arrive.
 */
const SHORTEST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/** The dependencies of a stream. */
interface JobStreamContext {
  readonly queue: QueueTransport;
  readonly jobId: string;
  /** The options of each read. */
  readonly options: RequestOptions;
  readonly readStatus: () => Promise<Job>;
  /** Called for each gap. Without this callback, a gap ends the stream. */
  readonly onGap: ((gap: StreamGapError) => unknown) | undefined;
}

/**
 * Yields the pieces of a job's output until the job has ended and all pieces were read. Returns the
 * job's final status.
 */
export async function* streamItems(context: JobStreamContext): AsyncGenerator<StreamItem, JobStatus> {
  const { queue, options } = context;
  const read = chunkReader(context);
  let status: JobStatus = "IN_QUEUE";
  let pauseMs = SHORTEST_PAUSE_MS;
  for (;;) {
    const hadEnded = isTerminal(status);
    const chunk = await read();
    const items = chunk?.items ?? [];
    yield* items;
    if (chunk?.gap) throw chunk.gap;
    if (chunk?.status !== undefined) status = chunk.status;
    if (chunk && items.length === 0) {
      if (isTerminal(status)) return status;
      if (chunk.status === undefined) status = (await context.readStatus()).status;
    }
    // If the job has just ended, read the remaining pieces without a pause.
    if (!hadEnded && isTerminal(status)) continue;
    pauseMs = items.length > 0 ? SHORTEST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
    await sleep(queue.context.clock, pauseMs, options.signal);
  }
}

/** The response to one read. If it contains a gap that ends the stream, `gap` is set. */
interface ReadChunk extends StreamChunk {
  readonly gap?: StreamGapError;
}

/**
 * Returns a function that reads the stream once. The function returns `undefined` if the read
 * failed in a way that does not end the stream.
 */
function chunkReader(context: JobStreamContext): () => Promise<ReadChunk | undefined> {
  const { queue, jobId, options, onGap } = context;
  let piecesRead = 0;
  let brokenInARow = 0;
  let isGapKnown = false;
  return async () => {
    let chunk: StreamChunk;
    try {
      chunk = await readStream(queue, jobId, options);
    } catch (error) {
      if (!(error instanceof ServerlessGpuError) || error.disposition === "stop" || !mayHaveHadEffect(error))
        throw error;
      if (++brokenInARow >= queue.context.retry.maxAttempts) throw error;
      if (isGapKnown || !mayHavePieces(await context.readStatus())) return undefined;
      const gap = streamGap(context, piecesRead, error);
      if (!onGap) throw gap;
      isGapKnown = true;
      await onGap(gap);
      return undefined;
    }
    const gap = chunk.oddAfter === undefined ? undefined : oddGap(context, piecesRead + chunk.oddAfter);
    piecesRead += chunk.items.length;
    brokenInARow = 0;
    isGapKnown = false;
    if (!gap) return chunk;
    if (!onGap) return { ...chunk, gap };
    await onGap(gap);
    return chunk;
  };
}

/**
 * Returns `false` for a job that is still waiting for its first worker. If a response is lost, it
 * then contained no pieces.
 */
function mayHavePieces({ status, retries }: Job): boolean {
  return status !== "IN_QUEUE" || (retries ?? 0) > 0;
}

/** Returns the gap for a read that contained an item that is not a piece. */
function oddGap(context: JobStreamContext, piecesRead: number): StreamGapError {
  const { queue, jobId } = context;
  const problem = "the service's response contains an item without an output, which was left out";
  const cause = new UnexpectedResponseError(`stream of job ${jobId} at endpoint ${queue.endpointId}: ${problem}`);
  return streamGap(context, piecesRead, cause);
}

function streamGap({ queue, jobId }: JobStreamContext, piecesRead: number, cause: ServerlessGpuError): StreamGapError {
  const message =
    `${cause.message}. Output of job ${jobId} at endpoint ${queue.endpointId} may be missing after the first ${piecesRead} ` +
    "pieces, because the service returns each piece only once. The job continues. wait() returns the whole output if the " +
    "worker returns it at the end. stream() yields the later pieces. Set onGap to continue after a gap";
  return new StreamGapError(message, { jobId, piecesRead }, { cause });
}
