import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { playedReport, textOf } from "../../../cli/forecast/forecast";
import type { ForecastFlags } from "../../../cli/forecast/forecastFlags";
import { withoutGaps } from "../../../cli/forecast/load/measured";
import { readLoad } from "../../../cli/forecast/load/readLoad";
import type { Report } from "../../../cli/forecast/report/report";
import { namedSettings } from "../../../cli/forecast/settings/named";
import { countsOf, datedFrom, withSchedule } from "../../../cli/forecast/settings/schedule";
import { parseAxis, parseSetting } from "../../../cli/forecast/settings/sweep";
import { withScheduledWorkers } from "../../../provider/endpoint/schedule";

jest.setTimeout(120_000);

const HOUR_S = 3600;
const unix = (time: string) => Date.parse(time) / 1000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "schedule-test-"));
  // Each start takes exactly 20 s.
  writeFileSync(path.join(folder, "starts.txt"), "20\n");
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  delete process.env.SERVERLESS_GPU_NOW;
});

const inBerlin = (...rules: readonly object[]) => ({ timeZone: "Europe/Berlin", rules });
const DAY = inBerlin({ cron: "0 8 * * *", workersMin: 1 }, { cron: "0 20 * * *", workersMin: 0 });

/** Plays jobs that run for 10 s each. A worker costs $1 a second. */
async function forecastOf(arrivals: readonly number[], flags: ForecastFlags): Promise<Report> {
  const file = path.join(folder, "jobs.csv");
  writeFileSync(file, ["arrival_s,duration_s", ...arrivals.map((arrival) => `${arrival},10`)].join("\n"));
  const read = readLoad(file, undefined, flags.for);
  try {
    const given = { seeds: 6, prices: 1, coldStart: path.join(folder, "starts.txt"), ...flags };
    return await playedReport(given, read, await namedSettings(given));
  } finally {
    read.close();
  }
}

/** Returns the cost of the load, which must be equal in all runs, and the first settings' rules. */
function exact(report: Report) {
  const { cost, rules } = (report.results[0] as Report["results"][number]).summary;
  const equal = ({ low, high }: { low: number; high: number } = { low: 0, high: 0 }) =>
    Math.abs(high - low) < 1e-6 ? Math.round(low * 1e6) / 1e6 : Number.NaN;
  return {
    cost: equal(cost),
    without: equal(report.without?.cost),
    rules: rules.map(({ jobs, waiting, waitingAtFirst }) => [jobs, waiting, waitingAtFirst].map(equal)),
  };
}

describe("the cost with and without a schedule is that of a calculation by hand", () => {
  test("for a recorded load of two days, whose jobs contain their real times", async () => {
    const wednesday = unix("2026-12-02T00:00+01:00");
    const arrivals = [0, 8, 12, 20 + 5 / HOUR_S, 23, 32, 36].map((hours) => wednesday + hours * HOUR_S);
    const report = await forecastOf(arrivals, { set: { schedule: DAY, workersMax: 1 }, for: 48 * HOUR_S });
    expect(exact(report)).toEqual({
      // At 0:00 and at 23:00, a worker starts, runs the job, and waits 10 s for another.
      // From 8:00 to 20:00, a worker is kept, which stops 10 s after its last job or the change.
      // The worker of the first day takes the job of 20:00:05.
      cost: 2 * (20 + 10 + 10) + (12 * HOUR_S + 5 + 10 + 10) + (12 * HOUR_S + 10),
      without: 48 * HOUR_S,
      rules: [
        [4, 2, 2],
        // The job at 0:00 arrives four hours after its rule has fired.
        [3, 2, 0],
      ],
    });
    expect(textOf(report)).toContain(
      "jobs.csv (arrivals and durations), from Wed, 2 Dec 2026, 00:00 (Europe/Berlin) on. A",
    );
    const month = 2_629_800 / (48 * HOUR_S);
    const saved = (48 * HOUR_S - (24 * HOUR_S + 115)) * month;
    expect(textOf(report)).toContain(
      `\nInstead of workers 1 to 1 all the time, the schedule saves $${saved.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ` +
        `to $${saved.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })} a month; p95 delay from 0 s to 20`,
    );
    expect(textOf(report)).toContain('jobs that wait for a cold start in the first 10 minutes: 2 after "0 8 * * *".\n');
  });

  test.each([
    ["a normal night", "2026-11-21T18:00+01:00", 8],
    ["the night that lacks an hour", "2027-03-27T18:00+01:00", 7],
    ["the night with an hour twice", "2026-10-24T18:00+02:00", 9],
  ])("for a rule across midnight, in %s", async (_, from, hours) => {
    const night = inBerlin({ cron: "0 22 * * *", workersMin: 1 }, { cron: "0 6 * * *", workersMin: 0 });
    const flags = { set: { schedule: night, workersMax: 1 }, from: Date.parse(from), for: 24 * HOUR_S };
    expect(exact(await forecastOf([0], flags))).toEqual({
      cost: 20 + 10 + 10 + hours * HOUR_S + 10,
      without: 24 * HOUR_S,
      rules: [
        [0, 0, 0],
        [1, 1, 0],
      ],
    });
  });

  test("for a load without real times, which begins on Monday at midnight, counted from its own 0", async () => {
    const flags = { set: { schedule: DAY, workersMax: 1 }, for: 2 * HOUR_S };
    // The load begins at 7:00, so the worker is kept for the second hour, and not after the load.
    const report = await forecastOf([7 * HOUR_S], flags);
    expect(exact(report).cost).toBe(20 + 10 + 10 + HOUR_S);
    expect(textOf(report)).toMatch(/, from Mon, \d+ \w+ \d+, 07:00 \(Europe\/Berlin\) on\. A/);
    expect(report.warnings).toContainEqual(
      expect.stringMatching(/^The load is shorter than a day\. The cost of a month assumes/),
    );
  });
});

test("the counts at each moment are those that the provider sets then, also after gaps of a recording", () => {
  const count = fc.integer({ min: 0, max: 3 });
  const rule = fc.record({
    minute: fc.constantFrom("0", "30", "15,45"),
    hour: fc.constantFrom("0", "2", "3", "8-10", "23"),
    day: fc.constantFrom("*", "1-5", "0,6"),
    workersMin: count,
    more: count,
  });
  const zone = fc.constantFrom("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC");
  const start = fc.constantFrom("2026-10-24", "2026-10-31", "2026-12-05", "2027-03-13", "2027-03-27", "2027-04-03");
  const parts = fc.array(
    fc.record({ lengthS: fc.integer({ min: 60, max: 40_000 }), gapS: fc.integer({ min: 60, max: 90_000 }) }),
    { minLength: 1, maxLength: 4 },
  );
  const moments = fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 5, maxLength: 5 });
  let compared = 0;
  const property = fc.property(
    fc.array(rule, { minLength: 1, maxLength: 3 }),
    zone,
    start,
    parts,
    moments,
    (rules, timeZone, day, recorded, at) => {
      const shown = rules.map(({ minute, hour, day: days, workersMin, more }) => ({
        cron: `${minute} ${hour} * * ${days}`,
        workersMin,
        workersMax: workersMin + more,
      }));
      const inputs = { workersMin: 0, workersMax: 6, schedule: { timeZone, rules: shown } };
      const settings = { ...inputs, ...SERVICE };
      // The provider refuses rules that fire at once.
      fc.pre(isAccepted(settings));
      let end = Date.parse(`${day}T00:00Z`);
      const intervals = recorded.map(({ lengthS, gapS }) => {
        const from = end + gapS * 1000;
        end = from + lengthS * 1000;
        return { from, to: end, arrivals: 1, finished: 1, queued: 0, workers: 1 };
      });
      const { seams, moved, intervals: kept } = withoutGaps(intervals);
      const first = kept[0]?.from ?? 0;
      const dated = datedFrom({ ...LOAD, seams, firstS: first / 1000 }, undefined, timeZone);
      const endMs = (kept.at(-1)?.to ?? 0) - first;
      const counts = countsOf(withSchedule(settings), dated, endMs);
      for (const { from, to } of intervals)
        for (const share of at) {
          const real = from + Math.floor(share * (to - from));
          const playedMs = (moved(real) ?? Number.NaN) - first;
          // An interval that is far longer than the others is left out.
          if (Number.isNaN(playedMs)) continue;
          process.env.SERVERLESS_GPU_NOW = new Date(real).toISOString();
          const { workersMin, workersMax } = withScheduledWorkers(inputs);
          expect(counts.findLast(({ fromS }) => fromS * 1000 <= playedMs)).toMatchObject({ workersMin, workersMax });
          compared += 1;
        }
    },
  );
  fc.assert(property, { numRuns: 30 });
  expect(compared).toBeGreaterThan(200);
});

const SERVICE = {
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  idleTimeout: 10,
  gpuIds: "AMPERE_24",
  gpuCount: 1,
  instanceIds: "",
  flashBoot: false,
} as const;
const LOAD = { load: { spanS: 1, file: "", jobs: 1 }, description: "", close() {} };

function isAccepted(settings: Parameters<typeof withSchedule>[0]): boolean {
  try {
    return withSchedule(settings) !== undefined;
  } catch {
    return false;
  }
}

describe("a sweep", () => {
  const WEEK = inBerlin(
    { cron: "0 8 * * 1-5", workersMin: 2, workersMax: 8 },
    { cron: "30 20 * * 1-5", workersMin: 0, workersMax: 3 },
  );
  const sweep = ["hour1=7..8,9:15", "hour2=18,20", "workersMin1=1,2"].reduce<ReturnType<typeof parseAxis>>(
    (before, text) => parseAxis(text, before),
    [],
  );
  const flags: ForecastFlags = {
    seeds: 1,
    set: { schedule: WEEK },
    from: Date.parse("2026-11-30T00:00+01:00"),
    for: 86_400,
  };

  test("varies the hours and the counts of rules, and says what to write", async () => {
    const report = await forecastOf([0], { ...flags, sweep });
    const rules = report.sweep?.all.map(({ settings }) => settings.schedule?.rules ?? []) ?? [];
    expect(rules.map(([day, night]) => `${day?.cron}, ${day?.workersMin}; ${night?.cron}`)).toEqual(
      ["0 7", "0 8", "15 9"].flatMap((day) =>
        ["30 18", "30 20"].flatMap((night) => [1, 2].map((min) => `${day} * * 1-5, ${min}; ${night} * * 1-5`)),
      ),
    );
    expect(textOf(report)).toContain(
      '  schedule.rules[0].cron: "15 9 * * 1-5", schedule.rules[0].workersMin: 1, schedule.rules[1].cron: "30 18 * * 1-5"\n',
    );
    expect(report.warnings).toContainEqual(expect.stringMatching(/^The load is shorter than a week/));
  });

  test.each<[Partial<ForecastFlags>, RegExp]>([
    [{ sweep: parseAxis("workersMin=0..2") }, /^--sweep workersMin: the schedule sets this/],
    [{ sweep: parseAxis("hour3=1,2") }, /^hour3: the schedule has 2 rules$/],
    [{ sweep: parseAxis("workersMin1=9") }, /^--sweep has no setting that the service accepts$/],
    [
      { set: { schedule: inBerlin({ cron: "0 8 * * 8", workersMin: 1 }) } },
      /^schedule\.rules\[0\]\.cron must be five cron fields/,
    ],
    [{ set: { schedule: { ...WEEK, timeZone: "Berlin" } } }, /^schedule\.timeZone must be an IANA time zone/],
    [{ set: { ...flags.set, hour2: "8:00" } }, /^schedule\.rules contradict each other/],
    [{ set: { hour1: "8" } }, /^hour1: the schedule has 0 rules$/],
  ])("refuses %j", async (given, reason) => {
    await expect(forecastOf([0], { ...flags, ...given })).rejects.toThrow(reason);
  });

  test.each([
    ["hour1=24", /^"24" is not a time of day\. Give an hour, such as 7, or 7:30\.$/],
    ["hour=7", /^Give a setting and its value, such as workersMin=1/],
    ["workersMin1=x", /is not a whole number/],
    ["schedule={", /^Give the schedule as JSON/],
  ])("and an option refuses %s", (text, reason) => {
    expect(() => parseSetting(text)).toThrow(reason);
  });
});

test("--from is refused for a load that contains its real times", async () => {
  const flags = { set: { schedule: DAY, workersMax: 1 }, from: 0 };
  await expect(forecastOf([unix("2026-12-02")], flags)).rejects.toThrow(/^--from does not apply/);
});
