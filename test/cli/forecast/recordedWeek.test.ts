import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openRecorder } from "../../../cli/metrics/recorder";
import { type Emulator, type EmulatorOptions, manualClock, startEmulator } from "../../../emulator";
import { createClient } from "../../../sdk";
import { startPlay } from "../../support/play";
import { run } from "../command";

/*
 * A week that metrics records, and a forecast of it with a schedule, as docs/how-to/schedules.md
 * describes. Figures are compared with a calculation by hand, and with the bill of the same week in
 * which the schedule is applied.
 */

jest.setTimeout(900_000);

const [QUARTER_S, HOUR_S, DAY_S] = [900, 3600, 86_400];
const MONDAY = Date.UTC(2026, 0, 5);
/** In January, Berlin is an hour ahead of UTC. */
const AHEAD_S = HOUR_S;
const PRICE = 0.001;
const WEEKS_A_MONTH = 2_629_800 / (7 * DAY_S);
const [COLD_START_S, RUN_S, IDLE_S] = [20, 10, 10];
/** What a job costs whose worker starts for it alone. */
const ALONE_S = COLD_START_S + RUN_S + IDLE_S;

interface Sleeper {
  sleep(ms: number): Promise<void>;
}

/** A job in the middle of each hour from 8 to 20 on working days, and one at 23:30 every day. */
const ARRIVALS_S = Array.from({ length: 7 }, (_, day) => {
  const hours = [...(day < 5 ? Array.from({ length: 12 }, (_, at) => 8 + at) : []), 23];
  return hours.map((hour) => day * DAY_S + (hour + 0.5) * HOUR_S - AHEAD_S);
}).flat();

const WORKERS = { scalerType: "QUEUE_DELAY", scalerValue: 4, idleTimeout: IDLE_S, workersMax: 1 } as const;
const schedule = (from: string, until: string) => ({
  timeZone: "Europe/Berlin",
  rules: [
    { cron: `${from} * * 1-5`, workersMin: 1 },
    { cron: `${until} * * 1-5`, workersMin: 0 },
  ],
});

/** Returns `true` if a time of the week is between two hours of a working day. */
function isOpen(atS: number, from: number, until: number): boolean {
  const local = atS + AHEAD_S;
  const hour = (local % DAY_S) / HOUR_S;
  return local < 5 * DAY_S && hour >= from && hour < until;
}

/** The worker seconds of a week: the hours of the schedule, and the jobs outside of them. */
function byHand(from: number, until: number): number {
  const outside = ARRIVALS_S.filter((at) => !isOpen(at, from, until));
  // A worker stops some time after the last hour.
  return 5 * ((until - from) * HOUR_S + IDLE_S) + outside.length * ALONE_S;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "recorded-week-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const EMULATOR: EmulatorOptions = {
  seed: { endpoints: [{ ...WORKERS, id: "e1", name: "llama", templateId: "t", gpuIds: "ADA_24", workersMin: 0 }] },
  coldStartMs: COLD_START_S * 1000,
  drainMs: 0,
  rateLimits: { management: "off", graphql: "off" },
  handlers: { default: (async (_: unknown, { sleep }: Sleeper) => sleep(RUN_S * 1000)) as never },
};

/** Submits the jobs of a week, and sets workersMin. `advance` lets time pass. */
async function playJobs(
  emulator: Emulator,
  advance: (ms: number) => Promise<void>,
  workersMinAt: (atS: number) => number,
): Promise<void> {
  const { url, apiKey, endpoints } = emulator;
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const arrivals = new Set(ARRIVALS_S);
  let before = 0;
  for (let atS = 0; atS < 7 * DAY_S; atS += QUARTER_S) {
    const workersMin = workersMinAt(atS);
    if (workersMin !== before) endpoints.change("e1", { workersMin });
    before = workersMin;
    if (arrivals.has(atS)) await fetch(`${url}/v2/e1/run`, { method: "POST", headers, body: '{"input":{}}' });
    await advance(QUARTER_S * 1000);
  }
  endpoints.change("e1", { workersMin: 0 });
}

/** Records a week with a worker all the time. */
async function recordWeek(): Promise<void> {
  await using play = await startPlay({ api: "graphql", healthEveryMs: 300_000, emulator: EMULATOR });
  const recorder = openRecorder(path.join(folder, "recording"), play.readings, "", () => {});
  play.readings.onRound(() => recorder.look());
  await playJobs(play.emulator, play.advance, () => 1);
  recorder.close();
}

/** Returns the worker seconds that a week with the schedule is billed. */
async function billedWeek(): Promise<number | undefined> {
  const clock = manualClock(MONDAY);
  await using emulator = await startEmulator({ profile: "observed", ...EMULATOR, clock });
  await playJobs(emulator, clock.advance, (atS) => (isOpen(atS, 8, 20) ? 1 : 0));
  await clock.advance(2 * HOUR_S * 1000);
  const { url, apiKey } = emulator;
  await using client = createClient({ apiKey, graphqlUrl: url, restUrl: url, queueUrl: url, api: "graphql", clock });
  const week = { from: new Date(MONDAY), to: new Date(MONDAY + 8 * DAY_S * 1000) };
  return (await client.account.spend(week)).seconds;
}

interface Summary {
  readonly settings: { readonly schedule: ReturnType<typeof schedule> };
  readonly monthly: { readonly low: number; readonly high: number };
}

test("a forecast of a recorded week with a schedule, and a sweep over its hours, are those of a calculation by hand and of the bill", async () => {
  await recordWeek();
  expect(await billedWeek()).toBe(byHand(8, 20));
  const starts = path.join(folder, "starts.txt");
  writeFileSync(starts, `${COLD_START_S}\n`);
  const { code, stdout, stderr } = await run(
    ...["forecast", "--load", path.join(folder, "recording"), "--endpoint", "llama", "--duration", `${RUN_S}s`],
    ...["--cold-start", starts, "--prices", `${PRICE}`, "--seeds", "6", "--json"],
    ...["--set", "gpuIds=ADA_24", "workersMax=1", `schedule=${JSON.stringify(schedule("0 8", "0 20"))}`],
    ...["--sweep", "hour1=7..9", "hour2=19,20"],
  );
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  const report = JSON.parse(stdout) as {
    results: [Summary];
    withoutSchedule: Summary;
    sweep: Summary[];
    warnings: string[];
  };
  expect(report.warnings).toEqual([]);
  const seconds = ({ monthly }: Summary) => [monthly.low, monthly.high].map((each) => each / PRICE / WEEKS_A_MONTH);
  // The first interval begins some minutes after the week, and the jobs are somewhere in theirs.
  const isClose = (each: Summary, hand: number) => seconds(each).every((value) => Math.abs(value / hand - 1) < 0.005);
  const [own] = report.results;
  expect([seconds(own), isClose(own, byHand(8, 20))]).toEqual([seconds(own), true]);
  expect([seconds(report.withoutSchedule), isClose(report.withoutSchedule, 7 * DAY_S)]).toEqual([
    expect.anything(),
    true,
  ]);
  const swept = report.sweep.map((each) => {
    const [from = 0, until = 0] = each.settings.schedule.rules.map(({ cron }) => Number(cron.split(" ")[1]));
    return [from, until, byHand(from, until), seconds(each), isClose(each, byHand(from, until))];
  });
  expect(swept.map(([from, until]) => `${from} to ${until}`).sort()).toEqual(
    [7, 8, 9].flatMap((from) => [19, 20].map((until) => `${from} to ${until}`)),
  );
  expect(swept.filter((each) => each.at(-1) !== true)).toEqual([]);
});
