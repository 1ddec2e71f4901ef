import { shownCounts, shownMoney, shownNumber, shownTime } from "../../shownValues";
import type { Table } from "../../tables";
import type { Settings } from "../settings/endpoints";
import type { Report } from "./report";
import { type Range, rangeOf, type Summary } from "./summary";

/** Returns when the load begins, or nothing if that does not matter. */
export function beginningText({ dated }: Report): string {
  if (!dated) return "";
  const { real, timeZone } = dated;
  const day = { weekday: "short", year: "numeric", month: "short", day: "numeric" } as const;
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone } as const;
  return `, from ${new Intl.DateTimeFormat("en-GB", { ...day, ...time }).format(real)} (${timeZone}) on`;
}

const DAY_S = 86_400;

/** Returns a warning if the load is shorter than the time in which the schedule repeats itself. */
export function cycleWarning(spanS: number, { schedule }: Settings): string[] {
  const isDaily = schedule?.rules.every(({ cron }) => cron.endsWith(" * * *")) ?? true;
  if (!schedule || spanS > (isDaily ? 0.9 : 6.9) * DAY_S) return [];
  return [
    `The load is shorter than ${isDaily ? "a day" : "a week"}. The cost of a month assumes that the load repeats, so it does not ` +
      "count each rule for the right share of the month. Give a longer load, or say with --for how much time it represents.",
  ];
}

const shown = ({ low, high }: Range, format: (value: number) => string = shownNumber) =>
  low === high ? format(low) : `${format(low)} … ${format(high)}`;

/** Returns the table of the rules of a result; none without a schedule. */
export function ruleTable({ title, summary: { rules } }: Report["results"][number]): Table[] {
  if (rules.length === 0) return [];
  const rows = rules.map(({ rule, jobs, p95S, waiting, waitingAtFirst }) => [
    `${rule.cron}: ${shownCounts(rule)}`,
    shown(jobs),
    shown(p95S, shownTime),
    shown(waiting),
    shown(waitingAtFirst),
  ]);
  const header = ["rule", "jobs", "p95 delay", "wait for a cold start", "in the first 10 min"];
  return [{ title: `${title}: jobs that arrive while each rule holds`, header, rows }];
}

/** Describes what the schedule changes. */
export function scheduleText(summary: Summary, without: Summary): string {
  const saved = rangeOf(summary.byRun.map(({ monthly }, run) => (without.byRun[run]?.monthly ?? 0) - monthly));
  const [low, high] = [saved.low, saved.high].map((value) => shownMoney(Math.abs(value)));
  const money =
    saved.low >= 0
      ? `saves ${low} to ${high}`
      : saved.high <= 0
        ? `costs ${high} to ${low} more`
        : `costs up to ${low} more or ${high} less`;
  const p95 = ({ delayS }: Summary) => shownTime(delayS.p95?.middle ?? 0);
  const late = summary.rules.flatMap(({ rule, waitingAtFirst }) =>
    waitingAtFirst.high > 0 ? [`${shown(waitingAtFirst)} after "${rule.cron}"`] : [],
  );
  const { workersMin, workersMax } = without.settings;
  return (
    `Instead of workers ${workersMin} to ${workersMax} all the time, the schedule ${money} a month; p95 delay from ${p95(without)} to ` +
    `${p95(summary)} (middle of the runs); jobs that wait for a cold start in the first 10 minutes: ${late.join(", ") || "none"}.\n`
  );
}
