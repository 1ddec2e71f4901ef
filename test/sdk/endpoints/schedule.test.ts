import { firings, ruleAt, type Schedule } from "../../../sdk/endpoints/schedule";
import { cronOf, firingMinutes, minutesOf, type Pattern } from "./calendar";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Zones whose clocks change by an hour or half an hour, at 2, at 3 or at midnight. */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Pacific/Chatham",
  "Africa/Cairo",
];

/** Instants per zone. The campaign takes 10,000. */
const INSTANTS = Number(process.env.SCHEDULE_INSTANTS ?? 600);
const RULE_SETS = 20;

const SPAN = { from: Date.UTC(2026, 6, 1), to: Date.UTC(2027, 11, 1) };

/** A generator of pseudorandom whole numbers, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Returns a pattern, often with times that clock changes skip or repeat. */
function randomPattern(random: (below: number) => number): Pattern {
  const some = (least: number, count: number) => {
    const values = Array.from({ length: 1 + random(3) }, () => least + random(count));
    return [...new Set(values)].sort((one, other) => one - other);
  };
  const night = () => [...new Set(Array.from({ length: 1 + random(2) }, () => random(4)))].sort();
  return {
    minute: random(12) === 0 ? undefined : some(0, 60),
    hour: random(6) === 0 ? undefined : random(2) === 0 ? night() : some(0, 24),
    day: random(5) === 0 ? some(1, 31) : undefined,
    month: random(6) === 0 ? some(1, 12) : undefined,
    weekday: random(2) === 0 ? some(0, 7) : undefined,
  };
}

function last(minutes: readonly number[], at: number): number {
  let [low, high] = [0, minutes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((minutes[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

describe.each(ZONES)("in %s,", (timeZone) => {
  const minutes = minutesOf(timeZone, SPAN.from, SPAN.to);

  test("its clocks go forward and back in the tested span", () => {
    expect(minutes.filter(({ skipped }) => skipped > 0).length).toBeGreaterThan(0);
    expect(minutes.filter(({ isRepeated }) => isRepeated).length).toBeGreaterThan(0);
  });

  test("the rule that holds, its beginning and its end are those of a calendar that walks through every minute", () => {
    const random = randomFrom(ZONES.indexOf(timeZone) + 1);
    const changes = minutes.filter(({ skipped, isRepeated }) => skipped > 0 || isRepeated).map(({ utc }) => utc);
    for (let set = 0; set < RULE_SETS; set += 1) {
      const patterns = Array.from({ length: 1 + random(4) }, () => randomPattern(random));
      const calendar = patterns.map((pattern) => firingMinutes(minutes, pattern));
      const schedule: Schedule = {
        timeZone,
        rules: patterns.map((pattern, index) => ({ cron: cronOf(pattern), workersMin: index })),
      };
      for (let count = 0; count < INSTANTS / RULE_SETS; count += 1) {
        const near = changes[random(changes.length)] as number;
        const at =
          random(2) === 0
            ? near * MINUTE_MS + random(2 * DAY_MS) - DAY_MS
            : SPAN.from + 120 * DAY_MS + random((SPAN.to - SPAN.from - 240 * DAY_MS) / 1000) * 1000;
        const instant = random(3) === 0 ? Math.floor(at / MINUTE_MS) * MINUTE_MS : at;
        expectRuleAt(schedule, calendar, instant);
      }
    }
  });
});

/** Compares with the calendar, unless its span is too short to tell. */
function expectRuleAt(schedule: Schedule, calendar: readonly number[][], instant: number): void {
  const minute = Math.floor(instant / MINUTE_MS);
  const before = calendar.map((each) => each[last(each, minute)] ?? -1);
  const after = calendar.map((each) => each[last(each, minute) + 1] ?? Number.POSITIVE_INFINITY);
  const since = Math.max(...before);
  const until = Math.min(...after);
  if (since === -1 || until === Number.POSITIVE_INFINITY) return;
  const found = ruleAt(schedule, instant);
  const described = { at: new Date(instant).toISOString(), schedule };
  expect({ ...described, since: found.since, until: found.until }).toEqual({
    ...described,
    since: since * MINUTE_MS,
    until: until * MINUTE_MS,
  });
  expect(before[schedule.rules.indexOf(found.rule)]).toBe(since);
}

test("a day of firings is in order, includes its beginning and excludes its end", () => {
  const [day, night] = [
    { cron: "0 8 * * 1-5", workersMin: 2 },
    { cron: "0 20 * * 1-5", workersMin: 0 },
  ];
  const schedule = { timeZone: "Europe/Berlin", rules: [night, day] };
  const at = (time: string) => Date.parse(time);
  expect(firings(schedule, at("2026-11-27T07:00:00Z"), at("2026-11-30T07:00:00Z"))).toEqual([
    { at: at("2026-11-27T07:00:00Z"), rule: day },
    { at: at("2026-11-27T19:00:00Z"), rule: night },
  ]);
  expect(firings(schedule, at("2026-11-27T07:00:00.001Z"), at("2026-11-30T07:00:00.001Z"))).toHaveLength(2);
});

test("a rule holds from the millisecond at which it fires until the millisecond before the next one fires", () => {
  const schedule = { timeZone: "UTC", rules: [{ cron: "0 8 * * *" }, { cron: "0 20 * * *" }] };
  const cronAt = (time: string) => ruleAt(schedule, Date.parse(time)).rule.cron;
  expect(cronAt("2026-11-27T07:59:59.999Z")).toBe("0 20 * * *");
  expect(cronAt("2026-11-27T08:00:00.000Z")).toBe("0 8 * * *");
  expect(cronAt("2026-11-27T19:59:59.999Z")).toBe("0 8 * * *");
});

test("a rule that fires only in leap years holds for years", () => {
  const schedule = { timeZone: "UTC", rules: [{ cron: "0 0 29 2 *" }] };
  expect(ruleAt(schedule, Date.UTC(2026, 0))).toMatchObject({
    since: Date.UTC(2024, 1, 29),
    until: Date.UTC(2028, 1, 29),
  });
});
