/** A line of a worker's log. */
export interface LogLine {
  /** The id of the worker. */
  readonly workerId: string;
  /**
   * `container` for the program's own output, `system` for RunPod's lines. Other values are
   * possible.
   */
  readonly source: string;
  /** The line, redacted. */
  readonly line: string;
  /** The time that RunPod assigned to the line (RFC 3339). */
  readonly ts: string;
}
