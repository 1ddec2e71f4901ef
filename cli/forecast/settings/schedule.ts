import type { PlayedCounts } from "../../../emulator/forecast/assumptions";
import { scheduleProblems, withScheduledWorkers } from "../../../provider/endpoint/schedule";
import { rulesDuring, type Schedule, timesOf } from "../../../sdk/endpoints/schedule";
import type { Seam } from "../load/measured";
import type { ReadLoad } from "../load/readLoad";
import type { Settings } from "./endpoints";

/** Values of settings by name. `hour1` and `workersMin1` are those of the first rule. */
export type Values = Readonly<Record<string, unknown>>;

/** The name of a setting of a rule, and the rule's number. */
export const RULE_SETTING = /^(hour|workersMin|workersMax)([1-9]\d?)$/;

/** Returns the settings with another value of one of them. */
export function withSetting(settings: Settings, [field, value]: readonly [string, unknown]): Settings {
  const [, part, number] = RULE_SETTING.exec(field) ?? [];
  if (part === undefined) return { ...settings, [field]: value };
  const { rules = [], timeZone = "" } = settings.schedule ?? {};
  const at = Number(number) - 1;
  const rule = rules[at];
  if (!rule) throw new Error(`${field}: the schedule has ${rules.length} ${rules.length === 1 ? "rule" : "rules"}`);
  const changed = part === "hour" ? { cron: cronAt(rule.cron, String(value)) } : { [part]: value };
  return { ...settings, schedule: { timeZone, rules: rules.with(at, { ...rule, ...changed }) } };
}

/** Returns the times with another hour (`7`), or with another hour and minute (`7:30`). */
function cronAt(cron: string, time: string): string {
  const [ownMinute, , ...days] = cron.trim().split(/\s+/);
  const [hour, minute = ownMinute] = time.split(":").map(Number);
  return [minute, hour, ...days].join(" ");
}

/**
 * Returns the settings with the schedule as the provider completes it. The counts of the endpoint
 * become those that it would need without the schedule: the given ones, or the highest of the
 * rules.
 * @throws Error if the provider would refuse the schedule
 */
export function withSchedule(settings: Settings, given: Values = {}): Settings {
  if (!settings.schedule) return settings;
  const [problem] = scheduleProblems({ ...settings }, false);
  if (problem) throw new Error(`${problem.property} ${problem.message}`);
  const { rules } = withScheduledWorkers({ ...settings }).schedule as Schedule;
  const own = (count: "workersMin" | "workersMax") =>
    Number(given[count] ?? Math.max(...rules.map((rule) => rule[count] ?? settings[count])));
  const schedule = { timeZone: settings.schedule.timeZone, rules };
  return { ...settings, schedule, workersMin: own("workersMin"), workersMax: own("workersMax") };
}

/**
 * Returns the real times of a load, counted from its first job.
 * @param from when the load begins, since the Unix epoch in milliseconds. @default next Monday
 */
export function datedFrom({ seams, firstS }: ReadLoad, from: number | undefined, timeZone: string): Seam[] {
  const firstMs = firstS * 1000;
  if (!seams) {
    const monday = timesOf({ timeZone }, { cron: "0 0 * * 1" }).nextRun()?.getTime() ?? 0;
    return [{ at: 0, real: (from ?? monday) + firstMs }];
  }
  if (from !== undefined)
    throw new Error("--from does not apply, because the load contains the real times of its jobs");
  const counted = seams.map(({ at, real }) => ({ at: at - firstMs, real }));
  const begun = counted.findLast(({ at }) => at <= 0) ?? (counted[0] as Seam);
  return [{ at: 0, real: begun.real - begun.at }, ...counted.filter(({ at }) => at > 0)];
}

/** Returns the worker counts that the schedule sets up to a time after the first job. */
export function countsOf({ schedule, ...own }: Settings, dated: readonly Seam[], endMs: number): PlayedCounts[] {
  if (!schedule) return [];
  const all = dated.flatMap(({ at, real }, index) =>
    rulesDuring(schedule, real, real + (dated[index + 1]?.at ?? endMs) - at).map((firing) => ({
      fromS: Math.max(at, at + firing.at - real) / 1000,
      firedS: (at + firing.at - real) / 1000,
      workersMin: firing.rule.workersMin ?? own.workersMin,
      workersMax: firing.rule.workersMax ?? own.workersMax,
      rule: schedule.rules.indexOf(firing.rule),
    })),
  );
  return all.filter(({ rule }, at) => rule !== all[at - 1]?.rule);
}
