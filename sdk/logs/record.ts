/** A line of a worker's log. */
export interface LogLine {
  /** The id of the worker. */
  readonly workerId: string;
  /** `container` for the program's own output, `system` for the service's; others are possible. */
  readonly source: string;
  /** The line, redacted. */
  readonly line: string;
  /** The time that the service gives the line (RFC 3339). */
  readonly ts: string;
}
