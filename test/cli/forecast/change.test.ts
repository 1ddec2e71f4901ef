import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { playedReport } from "../../../cli/forecast/forecast";
import type { ForecastFlags } from "../../../cli/forecast/forecastFlags";
import { readLoad } from "../../../cli/forecast/load/readLoad";
import type { Settings } from "../../../cli/forecast/settings/endpoints";
import { bursts } from "../../support/bursts";

jest.setTimeout(240_000);

const BEFORE: Settings = {
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 1,
  workersMax: 10,
  idleTimeout: 60,
  gpuIds: "AMPERE_24",
  gpuCount: 1,
  instanceIds: "",
  flashBoot: false,
  executionTimeoutMs: 600_000,
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "change-test-"));
  writeFileSync(path.join(folder, "jobs.csv"), bursts());
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Change {
  readonly settings?: Partial<Settings>;
  readonly isReleased?: boolean;
  readonly failsToStart?: boolean;
}

async function played({ settings = {}, isReleased = false, ...rest }: Change, flags: ForecastFlags) {
  const read = readLoad(path.join(folder, "jobs.csv"), undefined);
  try {
    const after = { title: "After", settings: { ...BEFORE, ...settings }, ...rest };
    const given = { seeds: 3, coldStart: [{ seconds: 30, weight: 1 }], ttl: 3600, ...flags };
    return await playedReport(given, read, [{ title: "Before", settings: BEFORE }, after], { isReleased });
  } finally {
    read.close();
  }
}

/** Limits that the settings before the change keep. */
const LIMITS: ForecastFlags = {
  maxP95: 39,
  maxCost: 4500,
  maxLost: { jobs: 0 },
  maxDuring: { p50: 30, p95: 60, lost: 0 },
};

test("an empty change exceeds no limit, and the figures before, during and after it are equal", async () => {
  const { exceeded, results, during, calibration } = await played({}, LIMITS);
  expect(exceeded).toEqual([]);
  const [before, after] = results;
  expect(after?.summary).toEqual(before?.summary);
  expect(during?.during).toEqual(during?.before);
  expect(during).toMatchObject({ fromS: expect.any(Number), isReleased: false });
  // The third hour has twice as many jobs.
  expect(Math.abs((during?.fromS ?? 0) - 7200)).toBeLessThanOrEqual(600);
  expect(calibration).toEqual({ verdict: "uncalibrated", rows: [] });
});

test.each<[string, Change, readonly RegExp[]]>([
  ["workersMax from 10 to 2", { settings: { workersMax: 2 } }, [/the p95 delay can be/, /p95 delay during the change/]],
  ["workersMin from 1 to 0", { settings: { workersMin: 0 } }, [/the p95 delay can be/]],
  ["idleTimeout from 60 to 1", { settings: { idleTimeout: 1 } }, [/the p50 delay during the change/]],
  [
    "executionTimeoutMs below the longest jobs",
    { settings: { executionTimeoutMs: 12_000 } },
    [/can be lost or time out/],
  ],
  [
    "an image that crashes",
    { isReleased: true, failsToStart: true },
    [/can be lost or time out, more than 0 \(--max-lost\)/, /during the change/],
  ],
  ["gpuCount from 1 to 2", { settings: { gpuCount: 2 }, isReleased: true }, [/it can cost \$[\d,.]+ a month/]],
  [
    "the scaler from QUEUE_DELAY 4 to REQUEST_COUNT 50",
    { settings: { scalerType: "REQUEST_COUNT", scalerValue: 50 } },
    [/the p95 delay can be/],
  ],
])("the limits detect %s and report why", async (_, change, reasons) => {
  const { exceeded } = await played(change, LIMITS);
  for (const reason of reasons) expect(exceeded).toContainEqual(expect.stringMatching(reason));
});

test("limits fail without a measurement if calibration is required", async () => {
  const { exceeded } = await played({}, { ...LIMITS, requireCalibration: true });
  expect(exceeded).toEqual([
    expect.stringMatching(/^--require-calibration demands a calibrated forecast, .* Uncalibrated/),
  ]);
});

test("a delay limit during the change is exceeded if no job starts, because no delay is known then", async () => {
  const flags = { seeds: 1, ttl: 600, maxDuring: { p95: 60 } };
  const { exceeded, during } = await played({ isReleased: true, failsToStart: true }, flags);
  expect(during?.during.delayS.p95?.low).toBe(0);
  expect(exceeded).toEqual([expect.stringMatching(/jobs can be lost or time out during the change, more than 0/)]);
  const allowed = await played({ isReleased: true, failsToStart: true }, { ...flags, maxLost: { share: 1 } });
  expect(allowed.exceeded).toEqual([]);
});
