import type { Attempt } from "../transport/call";

/** What a log is read from. */
export interface LogQuestion {
  readonly endpointId: string;
  readonly workerId: string;
  /** @default both */
  readonly source?: "container" | "system" | undefined;
  /** The number of earlier lines. */
  readonly tail?: number | undefined;
  /** Only lines after this time (RFC 3339). */
  readonly since?: string | undefined;
  /** The id of the last event that was read: the service goes on after it. */
  readonly lastEventId?: string | undefined;
}

/** Opens the log of a worker: its bytes, as server-sent events. */
export type OpenLog = (
  operation: string,
  question: LogQuestion,
  attempt: Attempt,
) => Promise<AsyncIterable<Uint8Array>>;
