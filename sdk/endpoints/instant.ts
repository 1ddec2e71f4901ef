/** ISO 8601 with an offset if it has a time, because a local time would depend on the machine. */
const FORMAT = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Returns the instant of a date (at midnight in UTC) or of a time with `Z` or an offset, in
 * milliseconds since the Unix epoch. Returns `NaN` for any other text, and for a day such as
 * February 30, which `Date.parse` accepts.
 */
export function instantOf(text: string): number {
  const [, day = ""] = FORMAT.exec(text) ?? [];
  const midnight = Date.parse(day);
  const isDay = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  return isDay ? Date.parse(text) : Number.NaN;
}
