import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { playedReport } from "../../../cli/forecast/forecast";
import { readLoad } from "../../../cli/forecast/load/readLoad";
import type { Summary } from "../../../cli/forecast/report/summary";
import { openRecording } from "../../../sdk/recording/recording";

jest.setTimeout(240_000);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "calibration-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Records an hour with a job each minute, and plays it with one warm worker. */
async function calibrated(workers: number, prices?: Readonly<Record<string, number>>, gpuIds = "AMPERE_24") {
  const recording = openRecording(folder, "metrics", { measured: [], notMeasured: {} });
  const start = Date.UTC(2026, 10, 23, 10);
  const time = (minute: number) => new Date(start + minute * 60_000).toISOString();
  for (let minute = 0; minute < 60; minute++) {
    const counts = { arrivals: 1, completed: 1, queued: 0, workers: { running: 0, idle: workers, initializing: 0 } };
    const part = { id: "e", name: "e", from: time(minute), to: time(minute + 1), ...counts };
    recording.append(
      { kind: "interval", by: "metrics", at: time(minute + 1), endpoints: [part], ...(prices && { prices }) },
      start + minute * 60_000,
    );
  }
  recording.close();
  const settings = {
    ...({ scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 1, workersMax: 1, idleTimeout: 10 } as const),
    gpuIds,
    gpuCount: 1,
    instanceIds: "",
    flashBoot: false,
  };
  const read = readLoad(folder, { fromS: 5, toS: 5 });
  try {
    const flags = { seeds: 2, requireCalibration: true };
    return await playedReport(flags, read, [{ title: "Before", settings }]);
  } finally {
    read.close();
  }
}

test("a recording that the model reproduces counts as calibrated, and the error is printed beside each figure", async () => {
  const { calibration, exceeded } = await calibrated(1);
  expect(calibration.verdict).toBe("calibrated");
  expect(calibration.rows.map(({ name }) => name)).toEqual(["finished", "queueDepth", "workerSeconds"]);
  for (const { error } of calibration.rows) expect(Math.abs(error)).toBeLessThan(0.1);
  expect(exceeded).toEqual([]);
});

test("a recording with three times the modeled workers does not count as calibrated, and fails if calibration is required", async () => {
  const { calibration, exceeded } = await calibrated(3);
  expect(calibration.verdict).toBe("not calibrated");
  expect(calibration.rows.find(({ name }) => name === "workerSeconds")?.error).toBeCloseTo(-2 / 3, 1);
  expect(exceeded).toEqual([expect.stringContaining("Not calibrated: the largest error is")]);
});

test("a forecast of a recording uses the prices that the exporter read from the catalog", async () => {
  const { assumptions, results } = await calibrated(1, { ADA_32_PRO: 1.58 }, "ADA_32_PRO");
  const texts = assumptions.map(({ text }) => text);
  expect(texts).toContain("a worker costs $0.000438888888889 a second: ADA_32_PRO in the recording of 2026-11-23");
  const { cost, workerSeconds } = results[0]?.summary as Summary;
  expect((cost.middle / workerSeconds.middle) * 3600).toBeCloseTo(1.58, 1);
});
