import { writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { noPrometheus, promtoolFindings } from "../../support/prometheus";
import { firingIn, withRules } from "./firing";

const describeWith = noPrometheus ? describe.skip : describe;
const MINUTES = 60;

type Value = number | undefined | ((minute: number) => number | undefined);

/** What an exporter shows of an endpoint. What is left out is as for an endpoint without jobs. */
interface Shown {
  readonly jobs?: Readonly<Record<string, Value>>;
  readonly workers?: Readonly<Record<string, Value>>;
  readonly settings?: Readonly<Record<string, Value>>;
  readonly completed?: Value;
  readonly failed?: Value;
  /** Further series, by name and labels. */
  readonly more?: Readonly<Record<string, Value>>;
}

const SETTINGS = { workers_min: 0, workers_max: 3, scaler_value: 4, idle_timeout_seconds: 5, idle_seconds: 0 };

/** Returns the alerts that fire, with the first and the last minute. */
function alertsOf({ jobs, workers, settings, completed = 0, failed = 0, more }: Shown): Record<string, number[]> {
  const own = 'endpoint_id="e1",instance="i",job="gpu"';
  const named = (name: string, label: string, values: object) =>
    Object.entries(values).map(([key, value]) => [`endpoint_${name}{${own},${label}="${key}"}`, value]);
  const all: Readonly<Record<string, Value>> = {
    'exporter_info{instance="i",job="gpu"}': 1,
    'read_age_seconds{instance="i",job="gpu",read="endpoints"}': 30,
    ...Object.fromEntries(named("jobs", "state", { queued: 0, in_progress: 0, ...jobs })),
    ...Object.fromEntries(
      named("workers", "state", { running: 0, idle: 0, initializing: 0, unhealthy: 0, ...workers }),
    ),
    ...Object.fromEntries(named("read_age_seconds", "read", { queue: 15, settings: 30 })),
    ...Object.fromEntries(
      Object.entries({ ...SETTINGS, ...settings }).map(([name, value]) => [`endpoint_${name}{${own}}`, value]),
    ),
    [`endpoint_jobs_completed_total{${own}}`]: completed,
    [`endpoint_jobs_failed_total{${own}}`]: failed,
    ...more,
  };
  const at = (value: Value, minute: number) => (typeof value === "function" ? value(minute) : value);
  const series = new Map(
    Object.entries(all).map(([name, value]) => [
      `serverless_gpu_${name}`,
      Array.from({ length: MINUTES }, (_, minute) => at(value, minute)),
    ]),
  );
  const minutes: Record<string, number[]> = {};
  for (const { alert, minute } of firingIn({ series, scrapes: MINUTES })) {
    const [first = minute] = minutes[alert] ?? [];
    minutes[alert] = [first, minute];
  }
  return minutes;
}

/** Returns what promtool prints about alerts after ten minutes of constant values. */
function textOf(alertnames: readonly string[], series: Readonly<Record<string, number>>): string {
  const test = {
    interval: "1m",
    input_series: Object.entries(series).map(([name, value]) => ({
      series: `serverless_gpu_${name}`,
      values: `${value}x10`,
    })),
    alert_rule_test: alertnames.map((alertname) => ({ alertname, eval_time: "10m", exp_alerts: [] })),
  };
  return withRules((folder) => {
    const file = path.join(folder, "test.yml");
    writeFileSync(file, stringify({ rule_files: ["rules.yml"], evaluation_interval: "1m", tests: [test] }));
    return promtoolFindings(["test", "rules", file]);
  });
}

const LAST = MINUTES - 1;
const busy = { jobs: { queued: 20, in_progress: 3 }, workers: { running: 3 } };

describeWith(`states that the emulator does not play${noPrometheus ? ` (${noPrometheus})` : ""}`, () => {
  test("one worker takes all jobs while others are idle", () => {
    const shown = { jobs: { queued: 40, in_progress: 1 }, workers: { running: 1, idle: 2 } };
    const halved = (minute: number) => Math.floor(minute / 2);
    expect(alertsOf({ ...shown, completed: halved })).toEqual({ WorkersTakeNoJobs: [6, LAST] });
    // At this pace, nobody waits long.
    expect(alertsOf({ ...shown, completed: (minute) => 10 * minute })).toEqual({});
  });

  test("containers that start again and again look like running workers, but have no jobs", () => {
    expect(alertsOf({ jobs: { queued: 20 }, workers: { running: 3 } })).toEqual({ NoJobEnds: [30, LAST] });
  });

  test.each([
    ["unhealthy", "initializing"],
    ["running", "initializing"],
    ["initializing", "throttled"],
  ])("workers that start again and again are %s and %s in turn", (one, other) => {
    const workers = { [one]: (minute: number) => minute % 2, [other]: (minute: number) => 1 - (minute % 2) };
    const alerts = alertsOf({ jobs: { queued: 20 }, workers });
    expect(alerts).toEqual(other === "throttled" ? { Throttled: [6, LAST] } : { NoJobEnds: [30, LAST] });
  });

  test("the first jobs of a new endpoint take 25 minutes: nobody says that none ended for 30", () => {
    const isThere = (minute: number) => (minute < 10 ? undefined : 0);
    const ends = (minute: number) => (minute < 10 ? undefined : 3 * Math.floor((minute - 10) / 25));
    expect(Object.keys(alertsOf({ ...busy, completed: ends, failed: isThere }))).not.toContain("NoJobEnds");
  });

  test("an exporter that starts again shows a counter that is lower by one: no job has failed", () => {
    const lower = (minute: number) => (minute < 40 ? 100 : 99);
    expect(alertsOf({ completed: 5000, failed: lower })).toEqual({});
  });

  test("a schedule lowers workersMin of an endpoint that had no jobs for hours", () => {
    const settings = { workers_min: (minute: number) => (minute < 30 ? 3 : 0), idle_seconds: 7200 };
    const stopsAfter = (minutes: number) => ({ idle: (minute: number) => (minute < 30 + minutes ? 3 : 0) });
    expect(alertsOf({ settings, workers: stopsAfter(12) })).toEqual({});
    expect(alertsOf({ settings, workers: stopsAfter(25) })).toEqual({ NotScaledDown: [45, 54] });
  });

  test("settings differ from a state that can no longer be read", () => {
    const target = 'instance="i",job="gpu"';
    const more = (ageS: Value) => ({
      [`endpoint_wanted_workers_max{endpoint_id="e1",${target}}`]: 3,
      [`read_age_seconds{${target},read="state"}`]: ageS,
    });
    const settings = { workers_max: (minute: number) => (minute < 21 ? 3 : 5) };
    // The state was last read in minute 20, right before a run changed both.
    const unread = alertsOf({ settings, more: more((minute) => (minute < 20 ? 30 : 60 * (minute - 20))) });
    expect(Object.keys(unread)).toEqual(["NoAccountRead"]);
    expect(alertsOf({ settings, more: more(30) })).toEqual({ Drift: [31, LAST] });
  });

  test("an alert names only the endpoints that it is about", () => {
    const read = 'endpoint_read_age_seconds{read="queue",job="gpu",instance="a",endpoint_id=';
    const text = textOf(["ServerlessGpuSpend", "ServerlessGpuNoRead"], {
      'account_dollars_per_hour{job="gpu",instance="a"}': 9,
      'account_limit_dollars_per_hour{job="gpu",instance="a"}': 10,
      'endpoint_dollars_per_hour{endpoint_id="own",price="catalog",job="gpu",instance="a"}': 8,
      'endpoint_dollars_per_hour{endpoint_id="free",price="catalog",job="gpu",instance="a"}': 0,
      'endpoint_dollars_per_hour{endpoint_id="of another account",price="catalog",job="gpu",instance="b"}': 9,
      [`${read}"unread"}`]: 900,
      [`${read}"deleted"}`]: 900,
      'endpoint_gone{job="gpu",instance="a",endpoint_id="deleted"}': 1,
    });
    expect(text).toContain("own costs about 8.00 dollars an hour.");
    expect(text).not.toMatch(/free costs|of another account/);
    expect(text).toContain('The oldest: unread"');
    expect(text).toContain('for 10 minutes: 1"');
  });

  test("something runs although the account's spend limit is 0: the limit does not apply", () => {
    const limited = (limit: number) => ({
      'account_dollars_per_hour{instance="i",job="gpu"}': 1,
      'account_limit_dollars_per_hour{instance="i",job="gpu"}': limit,
    });
    expect(alertsOf({ more: limited(0) })).toEqual({});
    expect(Object.keys(alertsOf({ more: limited(1) }))).toEqual(["Spend"]);
  });

  test("the account is not read any more, so that nobody would see a low balance", () => {
    const read = '{instance="i",job="gpu",read="account"}';
    const age = { [`read_age_seconds${read}`]: (minute: number) => 60 * minute };
    expect(alertsOf({ more: age })).toEqual({});
    const isRead = { ...age, [`read_timestamp_seconds${read}`]: 1 };
    expect(alertsOf({ more: isRead })).toEqual({ NoAccountRead: [18, LAST] });
  });
});
