import type { ScheduleRule } from "../sdk/endpoints/schedule";

/** Formats a duration: `850 ms`, `12.3 s`, `4.1 min`, `2.5 h`. */
export function shownTime(seconds: number): string {
  return seconds === 0 ? "0 s" : timesUpTo(seconds)(seconds);
}

/** Returns a function that formats durations up to the longest one, all in its unit. */
export function timesUpTo(longest: number): (seconds: number) => string {
  if (longest < 1) return (seconds) => `${Math.round(seconds * 1000)} ms`;
  const [unit, name] =
    longest < 120 ? [1, "s"] : longest < 7200 ? [60, "min"] : longest < 172_800 ? [3600, "h"] : [86_400, "d"];
  return (seconds) => `${shownNumber(seconds / unit)} ${name}`;
}

/** Formats a number with three significant digits, or all digits before the decimal point. */
export function shownNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: Number.isInteger(value) ? 0 : digits });
}

/** Formats the worker counts of a rule: `workersMin 2, workersMax 8`. */
export function shownCounts(rule: ScheduleRule): string {
  const counts = (["workersMin", "workersMax"] as const).filter((name) => rule[name] !== undefined);
  return counts.map((name) => `${name} ${rule[name]}`).join(", ");
}

/** Formats US dollars with two decimals: `$12.30`. */
export const shownMoney = (dollars: number) =>
  `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

/** Returns a word as a POSIX shell reads it, in quotes if it needs them. */
export const shellWord = (word: string) => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
