/**
 * Returns a duration such as `340 ms`, `3.2 s`, `4 min 5 s` or `2 h 5 min`.
 * @param {number} ms
 */
export function duration(ms) {
  const shown = Math.max(0, ms);
  if (shown < 1000) return `${Math.round(shown)} ms`;
  if (shown < 60_000) return `${(shown / 1000).toFixed(1)} s`;
  const seconds = Math.floor(shown / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/**
 * Returns the time of day, in the time zone of the browser.
 * @param {number} at
 */
export function timeOfDay(at) {
  const date = new Date(at);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0"));
  return `${parts.join(":")}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** @param {number} at */
export function dateAndTime(at) {
  return `${new Date(at).toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" })} ${timeOfDay(at)}`;
}

/** @param {string} id */
export function shortId(id) {
  return id.length > 12 ? `${id.slice(0, 8)}…${id.slice(-3)}` : id;
}
