import type { Attempt } from "../transport/call";

/** Describes which lines of a worker's log to read. */
export interface LogQuestion {
  readonly endpointId: string;
  readonly workerId: string;
  /** @default both */
  readonly source?: "container" | "system" | undefined;
  /** The number of earlier lines to read. */
  readonly tail?: number | undefined;
  /** If set, only lines after this time are read (RFC 3339). */
  readonly since?: string | undefined;
  /** The id of the last event that was read. The service continues with the next event. */
  readonly lastEventId?: string | undefined;
}

/** Opens a worker's log, which is a stream of server-sent events. */
export type OpenLog = (
  operation: string,
  question: LogQuestion,
  attempt: Attempt,
) => Promise<AsyncIterable<Uint8Array>>;
