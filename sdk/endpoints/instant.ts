/** ISO 8601 with an offset if it has a time, because a local time would depend on the machine. */
const FORMAT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Returns the instant of a date, which begins at midnight in UTC, or of a time with `Z` or an
 * offset. In milliseconds since the Unix epoch; `NaN` for any other text.
 */
export function instantOf(text: string): number {
  return FORMAT.test(text) ? Date.parse(text) : Number.NaN;
}
