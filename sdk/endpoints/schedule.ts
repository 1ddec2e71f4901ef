import { Cron } from "croner";

/** A rule of a schedule. It holds from each time that `cron` matches until another rule fires. */
export interface ScheduleRule {
  /** Five cron fields: minute, hour, day of the month, month, day of the week. */
  readonly cron: string;
  readonly workersMin?: number;
  readonly workersMax?: number;
}

/** Worker counts that depend on the time of day. */
export interface Schedule {
  /** An IANA time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** One rule or more, of which no two fire in the same minute. */
  readonly rules: readonly ScheduleRule[];
}

/** A time at which a rule begins to hold, in milliseconds since the Unix epoch. */
export interface Firing {
  readonly at: number;
  readonly rule: ScheduleRule;
}

/** The rule that holds at an instant. All times are in milliseconds since the Unix epoch. */
export interface RuleInForce {
  readonly rule: ScheduleRule;
  /** When the rule fired last, at or before the instant. */
  readonly since: number;
  /** When a rule (possibly the same one) fires next. `Infinity` if no rule ever fires again. */
  readonly until: number;
}

const SECOND_MS = 1000;

/**
 * Returns the rule that holds at an instant.
 * @param instant in milliseconds since the Unix epoch
 * @throws Error if the schedule is not valid
 */
export function ruleAt(schedule: Schedule, instant: number): RuleInForce {
  // Croner counts whole seconds, and leaves out the second that it starts from.
  const second = Math.floor(instant / SECOND_MS) * SECOND_MS;
  const last = schedule.rules.flatMap((rule) => {
    const [previous] = timesOf(schedule, rule).previousRuns(1, new Date(second + SECOND_MS));
    return previous ? [{ at: previous.getTime(), rule }] : [];
  });
  const [holding] = inOrder(last).reverse();
  if (!holding) throw new Error("no rule of the schedule has ever fired");
  const next = schedule.rules.map((rule) => timesOf(schedule, rule).nextRun(new Date(second))?.getTime() ?? Infinity);
  return { rule: holding.rule, since: holding.at, until: Math.min(...next) };
}

/**
 * Returns the times at which rules fire, in order, from `from` until before `to`, both in
 * milliseconds since the Unix epoch.
 * @param most the number of times after which to stop. @default all
 */
export function firings(schedule: Schedule, from: number, to: number, most = Infinity): Firing[] {
  const found: Firing[] = [];
  for (const rule of schedule.rules) {
    const times = timesOf(schedule, rule);
    // Croner leaves out the second that it starts from.
    let at = times.nextRun(new Date(Math.ceil(from / SECOND_MS) * SECOND_MS - SECOND_MS));
    for (; at && at.getTime() < to && found.length < most; at = times.nextRun(at))
      found.push({ at: at.getTime(), rule });
  }
  return inOrder(found);
}

/**
 * Returns the rule that holds at `from`, with the time at which it fired, and the ones that fire
 * later and before `to`. All times are in milliseconds since the Unix epoch.
 */
export function rulesDuring(schedule: Schedule, from: number, to: number): Firing[] {
  const { rule, since } = ruleAt(schedule, from);
  return [{ at: since, rule }, ...firings(schedule, from + 1, to)];
}

/**
 * Returns the times at which a rule fires. If a clock change skips a fixed time, the rule fires at
 * the end of the gap. If a fixed time occurs twice, the rule fires the first time.
 * @throws Error if the rule's `cron` is not valid
 */
export function timesOf({ timeZone }: Pick<Schedule, "timeZone">, { cron }: ScheduleRule): Cron {
  return new Cron(cron, { timezone: timeZone, mode: "5-part", fixedTimeRule: "no-wildcard", paused: true });
}

function inOrder(found: readonly Firing[]): Firing[] {
  return [...found].sort((one, other) => one.at - other.at);
}
