import { workerProblems } from "../../sdk/endpoints/input";
import { firings, type RuleInForce, ruleAt, type Schedule, timesOf } from "../../sdk/endpoints/schedule";
import type { InputProblem } from "../../sdk/errors/errors";
import { nearestWord } from "../../sdk/errors/nearestWord";
import { noSuchProperty } from "../../sdk/records/input";
import { CONFIG_NAMESPACE } from "../connection/config";
import { runInstant } from "../connection/runInstant";
import { secretFields } from "../engine/forEngine";
import { log } from "../engine/log";
import { containsUnknown, isObject, type Properties, pick, UNKNOWN } from "../engine/properties";

/*
 * A schedule decides the worker counts of an endpoint. `check` adds the counts that hold at the
 * run's instant, so everything else knows only those counts. The schedule stays in the inputs in a
 * complete form, in which each rule sets every count that any rule of the schedule sets.
 */

const COUNTS = ["workersMin", "workersMax"] as const;
const MOST_RULES = 100;

/**
 * The most times in a year. Checking that many takes a second, and checks run one after the other.
 */
const MOST_TIMES = 10_000;
const YEAR_MS = 366 * 86_400_000;

/** Returns `true` if the schedule decides a field, so that the program need not set it. */
export function isScheduled(field: string, { schedule }: Properties): boolean {
  if (schedule === UNKNOWN) return COUNTS.some((count) => count === field);
  return countsIn(schedule).some((count) => count === field);
}

function countsIn(schedule: unknown): (typeof COUNTS)[number][] {
  const rules = rulesIn(schedule);
  return COUNTS.filter((count) => rules.some((rule) => isSet(rule[count])));
}

function rulesIn(schedule: unknown): Properties[] {
  return isObject(schedule) && Array.isArray(schedule.rules) ? schedule.rules.filter(isObject) : [];
}

const isSet = (value: unknown) => value !== undefined && value !== null;

/**
 * Returns the inputs with the schedule in complete form, and with the worker counts that hold at
 * the run's instant. An invalid schedule is left as it is: `scheduleProblems` describes it.
 */
export function withScheduledWorkers(inputs: Properties): Properties {
  if (containsUnknown(inputs.schedule)) {
    const open = COUNTS.filter((count) => isScheduled(count, inputs)).map((count) => [count, UNKNOWN]);
    return { ...inputs, ...Object.fromEntries(open) };
  }
  if (!isObject(inputs.schedule) || problemsOf(inputs).length > 0) return inputs;
  const schedule = completed(inputs);
  const { rule } = ruleAt(schedule, runInstant());
  return { ...inputs, schedule, ...pick({ ...rule }, (name) => name !== "cron") };
}

/** Adds to each rule the endpoint's own value of a count that it leaves out. */
function completed({ schedule, ...own }: Properties): Schedule {
  const counts = countsIn(schedule);
  const rules = rulesIn(schedule).map(({ cron, ...rule }) => ({
    cron,
    ...Object.fromEntries(counts.map((count) => [count, rule[count] ?? own[count]])),
  }));
  return { timeZone: (schedule as Schedule).timeZone, rules } as unknown as Schedule;
}

/** Returns the problems of the schedule, alone and together with the endpoint's own counts. */
export function scheduleProblems(fields: Properties, isNew: boolean): InputProblem[] {
  const { schedule } = fields;
  if (!isObject(schedule)) return [];
  const secret = secretFields(fields).filter((name) => /^(schedule|workersMin|workersMax)\b/.test(name));
  if (secret.length > 0) return [{ property: "schedule", message: SECRET }];
  if (containsUnknown(schedule)) return [];
  const problems = problemsOf(fields);
  if (problems.length > 0) return problems;
  const own = pick(fields, (name) => COUNTS.some((count) => count === name));
  return completed(fields).rules.flatMap(({ cron, ...counts }, index) => {
    const [problem] = workerProblems({ ...own, ...counts }, isNew);
    return problem
      ? [{ property: `schedule.rules[${index}] ("${cron}")`, message: `workersMin ${problem.message}` }]
      : [];
  });
}

const SECRET =
  "cannot be combined with secret values: the worker counts that a schedule decides are shown in previews and kept in " +
  "state. Make schedule, workersMin and workersMax plain values";

function problemsOf({ schedule, ...own }: Properties): InputProblem[] {
  if (!isObject(schedule)) return [];
  const shape = shapeProblems(schedule);
  return shape.length > 0 ? shape : [...timeProblems(schedule as unknown as Schedule), ...missingCounts(schedule, own)];
}

function shapeProblems({ timeZone, rules, ...others }: Properties): InputProblem[] {
  const problems = Object.keys(others).map((name) => ({
    property: `schedule.${name}`,
    message: noSuchProperty(name, ["timeZone", "rules"]),
  }));
  if (typeof timeZone !== "string") problems.push({ property: "schedule.timeZone", message: A_ZONE });
  const count = Array.isArray(rules) ? rules.length : 0;
  if (count > 0 && count <= MOST_RULES) return [...problems, ...(rules as unknown[]).flatMap(ruleProblems)];
  const message = `must be a list of 1 to ${MOST_RULES} rules${count > 0 ? `; it has ${count}` : ""}`;
  return [...problems, { property: "schedule.rules", message }];
}

const A_ZONE = "must be an IANA time zone, such as Europe/Berlin";
const A_CRON = "must be five cron fields (minute, hour, day of the month, month, day of the week), such as 0 8 * * 1-5";

/** Croner also reads dates, nicknames such as `@daily`, and signs that other crons do not know. */
const A_FIELD = /^(\d|[*,/-]|[a-z]{3})+$/i;

function ruleProblems(rule: unknown, index: number): InputProblem[] {
  const place = `schedule.rules[${index}]`;
  const needed = "must be an object with cron, and with workersMin, workersMax or both";
  if (!isObject(rule)) return [{ property: place, message: needed }];
  const unknown = Object.keys(rule).filter((name) => !["cron", ...COUNTS].includes(name));
  const wrong = COUNTS.filter((count) => isSet(rule[count]) && !isCount(rule[count]));
  return [
    ...unknown.map((name) => ({ property: `${place}.${name}`, message: noSuchProperty(name, ["cron", ...COUNTS]) })),
    ...(typeof rule.cron === "string" ? [] : [{ property: `${place}.cron`, message: A_CRON }]),
    ...wrong.map((count) => ({ property: `${place}.${count}`, message: "must be a whole number, 0 or more" })),
    ...(COUNTS.some((count) => isSet(rule[count])) ? [] : [{ property: place, message: needed }]),
  ];
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

/** The problems with each set of times. Many endpoints share a set, so each is checked once. */
const checked = new Map<string, InputProblem[]>();

function timeProblems(schedule: Schedule): InputProblem[] {
  const { timeZone, rules } = schedule;
  const key = JSON.stringify([timeZone, rules.map(({ cron }) => cron)]);
  const known = checked.get(key);
  if (known) return known;
  const problems = zoneProblems(timeZone);
  if (problems.length === 0) problems.push(...rules.flatMap(({ cron }, index) => cronProblems(schedule, cron, index)));
  if (problems.length === 0) problems.push(...calendarProblems(schedule));
  checked.set(key, problems);
  return problems;
}

function zoneProblems(timeZone: string): InputProblem[] {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return [];
  } catch {
    const near = nearestWord(timeZone, Intl.supportedValuesOf("timeZone"));
    const hint = near === undefined ? "" : `. Did you mean ${near}?`;
    return [{ property: "schedule.timeZone", message: `${A_ZONE}; it is ${shown(timeZone)}${hint}` }];
  }
}

function cronProblems(schedule: Schedule, cron: string, index: number): InputProblem[] {
  const property = `schedule.rules[${index}].cron`;
  const now = new Date(runInstant());
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5 || !fields.every((field) => A_FIELD.test(field)))
    return [{ property, message: `${A_CRON}; it is ${shown(cron)}` }];
  try {
    if (timesOf(schedule, { cron }).nextRun(now)) return [];
    return [{ property, message: `never fires: no date matches ${shown(cron)}` }];
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^[A-Za-z]+: /, "") : String(error);
    return [{ property, message: `${A_CRON}; it is ${shown(cron)} (${reason})` }];
  }
}

const shown = (text: string) => JSON.stringify(text.slice(0, 80));

function missingCounts(schedule: unknown, own: Properties): InputProblem[] {
  return countsIn(schedule).flatMap((count) => {
    const index = rulesIn(schedule).findIndex((rule) => !isSet(rule[count]));
    if (index === -1 || isSet(own[count])) return [];
    const message = `is required, because schedule.rules[${index}] leaves it out and another rule sets it`;
    return [{ property: count, message }];
  });
}

/**
 * Returns a problem if two rules fire in one minute of a year, because they would contradict each
 * other.
 */
function calendarProblems(schedule: Schedule): InputProblem[] {
  const from = runInstant();
  const times = firings(schedule, from, from + YEAR_MS, MOST_TIMES + 1);
  if (times.length > MOST_TIMES) {
    const message = `fire more than ${MOST_TIMES.toLocaleString("en")} times a year: use hours instead of minutes`;
    return [{ property: "schedule.rules", message }];
  }
  const second = times.find(({ at }, index) => at === times[index - 1]?.at);
  if (!second) return [];
  const both = times.filter(({ at }) => at === second.at).map(({ rule }) => `"${rule.cron}"`);
  const when = localTime(second.at, schedule.timeZone, { year: "numeric", month: "short", day: "numeric" });
  const message = `contradict each other: ${both.join(" and ")} both fire at ${when} (${schedule.timeZone}). Change the time of one`;
  return [{ property: "schedule.rules", message }];
}

const said = new Set<string>();

/** Logs the rule that holds, once per run and schedule. */
export function sayRule({ schedule }: Properties): void {
  if (!isObject(schedule) || containsUnknown(schedule)) return;
  const key = JSON.stringify(schedule);
  if (said.has(key)) return;
  said.add(key);
  const { rule } = holding(schedule);
  const counts = COUNTS.filter((count) => rule[count] !== undefined).map((count) => `${count} ${rule[count]}`);
  log(CONFIG_NAMESPACE, `the schedule sets ${counts.join(" and ")} (${describe(schedule)})`);
}

/** Logs the worker counts that the schedule changes. */
export function sayScheduledChanges(name: string, outputs: Properties, inputs: Properties): void {
  const { schedule } = inputs;
  if (!isObject(schedule) || containsUnknown(schedule)) return;
  const changed = countsIn(schedule).filter((count) => inputs[count] !== outputs[count]);
  if (changed.length === 0) return;
  const changes = changed.map((count) => `${count} ${outputs[count]} → ${inputs[count]}`);
  log(name, `${changes.join(", ")} (schedule: ${describe(schedule)})`);
}

/** Returns `true` if the program's worker counts differ from those in state. */
export function changesCounts(outputs: Properties, inputs: Properties): boolean {
  return COUNTS.some((count) => inputs[count] !== undefined && inputs[count] !== outputs[count]);
}

function holding(schedule: Properties): RuleInForce {
  return ruleAt(schedule as unknown as Schedule, runInstant());
}

/** Returns the rule that holds and its end, as in `0 8 * * 1-5, until 20:00`. */
function describe(schedule: Properties): string {
  const { rule, until } = holding(schedule);
  if (until === Number.POSITIVE_INFINITY) return rule.cron;
  const zone = String(schedule.timeZone);
  const day = { year: "numeric", month: "short", day: "numeric" } as const;
  const isToday = localTime(until, zone, day, false) === localTime(runInstant(), zone, day, false);
  const isSoon = until - runInstant() < 6 * 86_400_000;
  return `${rule.cron}, until ${localTime(until, zone, isToday ? {} : isSoon ? { weekday: "short" } : day)}`;
}

function localTime(at: number, timeZone: string, day: Intl.DateTimeFormatOptions, withTime = true): string {
  const time = withTime ? ({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const) : {};
  return new Intl.DateTimeFormat("en-GB", { ...day, ...time, timeZone }).format(at);
}
