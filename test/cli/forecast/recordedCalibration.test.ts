import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { playedReport } from "../../../cli/forecast/forecast";
import type { ForecastFlags } from "../../../cli/forecast/forecastFlags";
import { readLoad } from "../../../cli/forecast/load/readLoad";
import { type CalibrationRow, LARGEST_ERROR, LEAST } from "../../../cli/forecast/report/calibration";
import { openRecorder } from "../../../cli/metrics/recorder";
import { seededRandom } from "../../../emulator/model/random";
import type { Job } from "../../../sdk/jobs/jobRecord";
import { createJobRecorder } from "../../../sdk/recording/jobRecorder";
import { IS_EVERYWHERE } from "../../support/everywhere";
import { startPlay } from "../../support/play";

jest.setTimeout(900_000);

const HOUR_MS = 3_600_000;
const HOURS = 6;
/** The most jobs an hour. Their times are random. */
const MOST_AN_HOUR = 200;
/** How often the true workers are counted. */
const STEP_MS = 15_000;

const ENDPOINT = {
  ...({ scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 0, workersMax: 6, idleTimeout: 10 } as const),
  gpuIds: "ADA_24",
  gpuCount: 1,
};
const SETTINGS = { ...ENDPOINT, instanceIds: "", flashBoot: false };

/** What the forecast does not know of the service. */
interface Hidden {
  readonly coldStartS: number;
  /** Returns how long a job runs, in seconds. */
  readonly runS: (random: () => number) => number;
  readonly throttled?: { readonly share: number; readonly seconds: number };
  /** The share of jobs that fail. */
  readonly failing?: number;
  /** The hours in which the exporter does not run. */
  readonly gap?: readonly [fromH: number, toH: number];
  /** `false` if no client records its jobs, so that delays are not measured. */
  readonly hasClients?: boolean;
}

type Figures = Readonly<Record<CalibrationRow["name"], number>>;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "recorded-calibration-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface JobEvent {
  readonly id: string;
  readonly input: unknown;
}

/** Records some hours of an emulator in virtual time. Returns what really happened. */
async function record(hidden: Hidden): Promise<Figures> {
  const { coldStartS, runS, throttled, failing = 0, gap = [HOURS, HOURS], hasClients = true } = hidden;
  const { next } = seededRandom(11);
  const [startedAt, delaysS] = [new Map<number, number>(), [] as number[]];
  const ended: { readonly id: string; readonly number: number }[] = [];
  await using play = await startPlay({
    api: "v2",
    healthEveryMs: 30_000,
    emulator: {
      seed: { endpoints: [{ ...ENDPOINT, id: "e1", name: "llama", templateId: "t" }] },
      coldStartMs: coldStartS * 1000,
      randomSeed: 5,
      drainMs: 0,
      handlers: {
        default: async (
          { id, input }: JobEvent,
          { now, sleep, random }: { now(): number; sleep(ms: number): Promise<void>; random(): number },
        ) => {
          const { number } = input as { number: number };
          startedAt.set(number, now());
          await sleep(runS(random) * 1000);
          ended.push({ id, number });
          if (random() < failing) throw new Error("out of memory");
        },
      },
    },
  });
  const { emulator } = play;
  if (throttled) {
    const { share, seconds } = throttled;
    emulator.faults.add({
      match: { endpointId: "e1", probability: share },
      effect: { throttleWorkerMs: seconds * 1000 },
    });
  }
  const ask = async (words: string) => {
    const headers = { authorization: `Bearer ${emulator.apiKey}` };
    return (await (await fetch(`${emulator.url}/v2/e1/${words}`, { headers })).json()) as Record<string, never>;
  };
  const open = () => openRecorder(folder, play.readings, "", () => {});
  let recorder: ReturnType<typeof open> | undefined = open();
  play.readings.onRound(() => recorder?.look());
  const see = createJobRecorder(
    folder,
    "client",
    () => emulator.clock.now(),
    () => {},
  );
  await play.advance(60_000);
  const submittedAt: number[] = [];
  const endMs = play.elapsedS() * 1000 + HOURS * HOUR_MS;
  const startS = play.elapsedS();
  const isInGap = (elapsedS = play.elapsedS()) =>
    elapsedS >= startS + gap[0] * 3600 && elapsedS < startS + gap[1] * 3600;
  const seen = new Set<number>();
  let workerSeconds = 0;
  while (play.elapsedS() * 1000 < endMs) {
    let gapMs = (-Math.log(1 - next()) * HOUR_MS) / MOST_AN_HOUR;
    while (gapMs > 0) {
      const stepMs = Math.min(gapMs, STEP_MS);
      await play.advance(stepMs);
      gapMs -= stepMs;
      const { running = 0, idle = 0, initializing = 0 } = (await ask("health")).workers ?? ({} as never);
      if (!isInGap()) workerSeconds += ((running + idle + initializing) * stepMs) / 1000;
      if (isInGap() && recorder) {
        recorder.close();
        recorder = undefined;
      } else if (!isInGap()) recorder ??= open();
    }
    const share = 0.6 + 0.4 * Math.sin((2 * Math.PI * play.elapsedS() * 1000) / (HOURS * HOUR_MS));
    if (next() < share) {
      if (!isInGap()) seen.add(submittedAt.length);
      submittedAt.push(emulator.clock.now());
      await play.submit("e1", { number: submittedAt.length - 1 });
    }
    for (const { id, number } of ended.splice(0)) {
      delaysS[number] = ((startedAt.get(number) ?? 0) - (submittedAt[number] ?? 0)) / 1000;
      const job = (await ask(`status/${id}`)) as unknown as Job;
      if (hasClients) see({ endpointId: "e1", job, submittedAt: submittedAt[number] });
    }
  }
  await play.advance(60_000);
  recorder?.close();
  const arrivals = emulator.journal.requests({ operation: "run" } as never);
  expect(arrivals.map(({ at }) => at)).toEqual(submittedAt);
  const sorted = delaysS.filter((delay, at) => delay !== undefined && seen.has(at)).sort((one, other) => one - other);
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return {
    finished: sorted.length,
    workerSeconds,
    delayP50: percentile(0.5),
    delayP95: percentile(0.95),
    // Little's law: each second of waiting is one of a job in the queue.
    queueDepth: sorted.reduce((sum, delay) => sum + delay, 0) / ((HOURS - (gap[1] - gap[0])) * 3600),
  };
}

/** Forecasts the recorded hours. Prints and returns each figure's error beside the true one. */
async function compared(truth: Figures, flags: ForecastFlags) {
  const read = readLoad(folder, flags.duration, undefined, "llama");
  try {
    const { calibration, exceeded } = await playedReport({ seeds: 6, ...flags }, read, [
      { title: "Before", settings: SETTINGS },
    ]);
    const rows = calibration.rows.map(({ name, measured, forecast, error }) => {
      const trueError = (forecast.middle - truth[name]) / Math.max(truth[name], LEAST[name]);
      return { name, measured, true: truth[name], forecast: forecast.middle, error, trueError };
    });
    const shown = rows.map(
      ({ name, error, trueError, ...figures }) =>
        `${name}: forecast ${figures.forecast.toFixed(1)}, measured ${figures.measured.toFixed(1)}, true ` +
        `${figures.true.toFixed(1)}; printed error ${(error * 100).toFixed(1)} %, true error ${(trueError * 100).toFixed(1)} %`,
    );
    process.stdout.write(`${JSON.stringify(flags)}: ${calibration.verdict}\n  ${shown.join("\n  ")}\n`);
    return { verdict: calibration.verdict, rows, exceeded, description: read.description };
  } finally {
    read.close();
  }
}

const exponential = (mean: number) => (random: () => number) => Math.min(300, 1 - mean * Math.log(1 - random()));
const uniform = (from: number, to: number) => (random: () => number) => from + random() * (to - from);

const ROWS: readonly (readonly [string, Hidden])[] = [
  ["a cold start of 90 s and uniform run times", { coldStartS: 90, runS: uniform(5, 15) }],
  ["two hours without a recorder", { coldStartS: 60, runS: uniform(10, 20), gap: [2, 4] }],
  ["jobs that fail", { coldStartS: 60, runS: uniform(5, 15), failing: 0.3 }],
  ["a cold start of 20 s and exponential run times", { coldStartS: 20, runS: exponential(25) }],
  [
    "a cold start of 60 s and throttled workers",
    { coldStartS: 60, runS: uniform(10, 30), throttled: { share: 0.3, seconds: 120 } },
  ],
];

// Without `npm run test:everywhere`, the tests below record a gap and a cold start of 90 s.
test.each(
  ROWS.slice(IS_EVERYWHERE ? 0 : 2),
)("with %s, the printed error is close to the true error, and a forecast with the right assumptions is calibrated", async (_, hidden) => {
  const truth = await record(hidden);
  const known = { coldStart: [{ seconds: hidden.coldStartS, weight: 1 }], throttled: hidden.throttled };
  const [informed, uninformed] = [await compared(truth, known), await compared(truth, {})];
  for (const { error, trueError } of informed.rows) expect(Math.abs(error - trueError)).toBeLessThan(0.1);
  expect(informed.verdict).toBe("calibrated");
  for (const { verdict, rows } of [informed, uninformed]) {
    expect(rows.map(({ name }) => name)).toEqual(["finished", "queueDepth", "workerSeconds", "delayP50", "delayP95"]);
    const largest = Math.max(...rows.map(({ trueError }) => Math.abs(trueError)));
    // Near the border, the sampled figures may be on the other side of it.
    if (Math.abs(largest - LARGEST_ERROR) > 0.1)
      expect(verdict).toBe(largest > LARGEST_ERROR ? "not calibrated" : "calibrated");
  }
});

test("without measured delays, the verdict is not about them, and a limit of them is not met", async () => {
  const hidden = { coldStartS: 90, runS: uniform(5, 15), hasClients: false };
  const truth = await record(hidden);
  const flags = { duration: { fromS: 5, toS: 15 }, coldStart: [{ seconds: 90, weight: 1 }], requireCalibration: true };
  const [cost, delay] = [await compared(truth, flags), await compared(truth, { ...flags, maxP95: 3600 })];
  expect(cost.rows.map(({ name }) => name)).toEqual(["finished", "queueDepth", "workerSeconds"]);
  expect([cost.verdict, cost.exceeded]).toEqual(["calibrated", []]);
  expect(delay.exceeded).toEqual([expect.stringContaining("demands measured delays")]);
});

test("a gap is left out of both sides, and the description says how long it is", async () => {
  const truth = await record({ coldStartS: 30, runS: uniform(10, 20), gap: [1, 5] });
  const { rows, description } = await compared(truth, { coldStart: [{ seconds: 30, weight: 1 }] });
  expect(description).toMatch(/, (3\.9\d?|4|4\.0\d) h without measurements left out/);
  const { measured = 0, true: real = 1 } = rows.find(({ name }) => name === "workerSeconds") ?? {};
  expect(Math.abs(measured / real - 1)).toBeLessThan(0.1);
});
