import { sleep } from "../contract/clock";
import { ServerlessGpuError } from "../errors";
import { mayHaveHadEffect } from "../transport/retry";
import { StreamGapError } from "./jobErrors";
import { isTerminal, type Job, type JobStatus, type StreamChunk, type StreamItem } from "./jobRecord";
import { readStream } from "./operations";
import type { QueueTransport } from "./queueTransport";

/** Pauses between reads of a stream: the longer nothing comes, the longer. */
const SHORTEST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/** What reading a stream is made of. */
export interface JobStreamContext {
  readonly queue: QueueTransport;
  readonly jobId: string;
  readonly signal: AbortSignal | undefined;
  readonly readStatus: () => Promise<Job>;
  /** Told of each gap; the stream then goes on. Otherwise a gap ends it. */
  readonly onGap: ((gap: StreamGapError) => unknown) | undefined;
}

/** Yields the pieces of a job's output until it has ended and all were read. Returns the state in which it ended. */
export async function* streamItems(context: JobStreamContext): AsyncGenerator<StreamItem, JobStatus> {
  const { queue, signal } = context;
  const read = chunkReader(context);
  let state: JobStatus = "IN_QUEUE";
  let pauseMs = SHORTEST_PAUSE_MS;
  for (;;) {
    const hadEnded = isTerminal(state);
    const chunk = await read();
    const items = chunk?.items ?? [];
    yield* items;
    if (chunk?.status !== undefined) state = chunk.status;
    if (chunk && items.length === 0) {
      if (isTerminal(state)) return state;
      if (chunk.status === undefined) state = (await context.readStatus()).status;
    }
    // What is left of a job that has just ended can be read at once.
    if (!hadEnded && isTerminal(state)) continue;
    pauseMs = items.length > 0 ? SHORTEST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5);
    await sleep(queue.context.clock, pauseMs, signal);
  }
}

/** Returns a function that reads once: the chunk, or `undefined` after a read that broke and yet does not end the stream. */
function chunkReader(context: JobStreamContext): () => Promise<StreamChunk | undefined> {
  const { queue, jobId, signal, onGap } = context;
  let piecesRead = 0;
  let brokenInARow = 0;
  let isGapKnown = false;
  return async () => {
    try {
      const chunk = await readStream(queue, jobId, signal);
      piecesRead += chunk.items.length;
      brokenInARow = 0;
      isGapKnown = false;
      return chunk;
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
  };
}

/** A job that waits for its first worker has made no pieces, so that a lost response held none. */
function mayHavePieces({ status, retries }: Job): boolean {
  return status !== "IN_QUEUE" || (retries ?? 0) > 0;
}

function streamGap({ queue, jobId }: JobStreamContext, piecesRead: number, cause: ServerlessGpuError): StreamGapError {
  const message =
    `${cause.message}. Pieces of the output of job ${jobId} at endpoint ${queue.endpointId} may be missing after the ` +
    `first ${piecesRead}: the service hands each out once. The job goes on. Where its worker returns the whole output, ` +
    "wait() gives it; stream() again yields the pieces that come from now on, and the option onGap lets a stream go on";
  return new StreamGapError(message, { jobId, piecesRead }, { cause });
}
