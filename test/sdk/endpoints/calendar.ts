/*
 * A calendar for tests that shares no code with the package: it knows a time zone only by Intl, and
 * walks through every minute.
 */

/** A cron expression as sets of values. `undefined` is `*`. */
export interface Pattern {
  readonly minute: readonly number[] | undefined;
  readonly hour: readonly number[] | undefined;
  readonly day: readonly number[] | undefined;
  readonly month: readonly number[] | undefined;
  readonly weekday: readonly number[] | undefined;
}

/** Returns the cron expression of a pattern. */
export function cronOf({ minute, hour, day, month, weekday }: Pattern): string {
  return [minute, hour, day, month, weekday].map((values) => values?.join() ?? "*").join(" ");
}

/** A minute of a time zone: the minute in UTC, and the local one, both counted since 1970. */
interface LocalMinute {
  readonly utc: number;
  readonly local: number;
  /** The local minutes that a clock change has skipped right before this one. */
  readonly skipped: number;
  /** `true` if a clock has shown this local minute before. */
  readonly isRepeated: boolean;
}

const MINUTE_MS = 60_000;

/** Returns every minute of a time zone between two instants, in milliseconds. */
export function minutesOf(timeZone: string, from: number, to: number): LocalMinute[] {
  const offsetAt = offsetsOf(timeZone);
  const found: LocalMinute[] = [];
  let latest = from / MINUTE_MS + offsetAt(from / MINUTE_MS) - 1;
  for (let utc = from / MINUTE_MS; utc < to / MINUTE_MS; utc += 1) {
    const local = utc + offsetAt(utc);
    found.push({ utc, local, skipped: Math.max(local - latest - 1, 0), isRepeated: local <= latest });
    latest = Math.max(latest, local);
  }
  return found;
}

/** Clocks change at full quarters of an hour only. */
function offsetsOf(timeZone: string): (utc: number) => number {
  const format = new Intl.DateTimeFormat("en-US-u-hc-h23", {
    timeZone,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const known = new Map<number, number>();
  return (utc) => {
    const quarter = Math.floor(utc / 15);
    const before = known.get(quarter);
    if (before !== undefined) return before;
    const parts = format.formatToParts(quarter * 15 * MINUTE_MS);
    const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
    const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute")) / MINUTE_MS;
    known.set(quarter, local - quarter * 15);
    return local - quarter * 15;
  };
}

/** Returns the minutes, in UTC since 1970, at which a pattern fires. */
export function firingMinutes(minutes: readonly LocalMinute[], pattern: Pattern): number[] {
  const isFixed = pattern.minute !== undefined && pattern.hour !== undefined;
  const fires = ({ local, skipped, isRepeated }: LocalMinute) => {
    if (!isFixed) return matches(pattern, local);
    if (isRepeated || skipped === 0) return !isRepeated && matches(pattern, local);
    return Array.from({ length: skipped + 1 }, (_, back) => local - back).some((each) => matches(pattern, each));
  };
  return minutes.filter(fires).map(({ utc }) => utc);
}

function matches({ minute, hour, day, month, weekday }: Pattern, local: number): boolean {
  const isIn = (values: readonly number[] | undefined, value: number) => values === undefined || values.includes(value);
  if (!isIn(minute, local % 60) || !isIn(hour, Math.floor(local / 60) % 24)) return false;
  const date = new Date(local * MINUTE_MS);
  if (!isIn(month, date.getUTCMonth() + 1)) return false;
  const [onDay, onWeekday] = [isIn(day, date.getUTCDate()), isIn(weekday, date.getUTCDay())];
  // Cron takes either of the two if both are given.
  return day !== undefined && weekday !== undefined ? onDay || onWeekday : onDay && onWeekday;
}
