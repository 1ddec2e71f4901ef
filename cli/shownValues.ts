/** Formats a duration: `850 ms`, `12.3 s`, `4.1 min`, `2.5 h`. */
export function shownTime(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${shownNumber(seconds)} s`;
  if (seconds < 7200) return `${shownNumber(seconds / 60)} min`;
  return seconds < 172_800 ? `${shownNumber(seconds / 3600)} h` : `${shownNumber(seconds / 86_400)} d`;
}

/** Formats a number with three significant digits, or all digits before the decimal point. */
export function shownNumber(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: Number.isInteger(value) ? 0 : digits });
}

/** Formats US dollars with two decimals: `$12.30`. */
export const shownMoney = (dollars: number) =>
  `$${dollars.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
