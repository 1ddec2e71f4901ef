import { shownNumber, shownTime } from "../../shownValues";
import type { Table } from "../../tables";
import type { Measured } from "../load/measured";
import type { Range, Summary } from "./summary";

/** A measured figure, and its forecast for the same load with the same settings. */
export interface CalibrationRow {
  readonly name: "finished" | "queueDepth" | "workerSeconds" | "delayP50" | "delayP95";
  readonly measured: number;
  readonly forecast: Range;
  /** The deviation of the runs' middle value from the measurement. 0.2 means 20 % above it. */
  readonly error: number;
}

/** How well the model reproduces a recorded load. */
export interface Calibration {
  readonly verdict: "calibrated" | "not calibrated" | "uncalibrated";
  /** Empty if nothing was measured. */
  readonly rows: readonly CalibrationRow[];
}

/** An error above this share makes the verdict "not calibrated". */
export const LARGEST_ERROR = 0.3;

/**
 * The smallest value by which a difference is divided, because ratios of small values mean little:
 * a difference of half a second must not count as an error of 100 %.
 */
export const LEAST: Readonly<Record<CalibrationRow["name"], number>> = {
  finished: 1,
  queueDepth: 0.1,
  workerSeconds: 60,
  delayP50: 1,
  delayP95: 1,
};

const NAMES: Readonly<Record<CalibrationRow["name"], readonly [string, (value: number) => string]>> = {
  finished: ["jobs finished", shownNumber],
  queueDepth: ["jobs in the queue, mean", shownNumber],
  workerSeconds: ["worker time", shownTime],
  delayP50: ["delay p50", shownTime],
  delayP95: ["delay p95", shownTime],
};

/** Compares the forecast for the settings that a load was recorded with to the measurements. */
export function calibrationOf(summary: Summary | undefined, measured: Measured | undefined): Calibration {
  if (!summary || !measured) return { verdict: "uncalibrated", rows: [] };
  const { finished, queueDepth, workerSeconds, delayS } = measured;
  const zero = { low: 0, middle: 0, high: 0 };
  const pairs: [CalibrationRow["name"], number, Range][] = [
    ["finished", finished, summary.finished],
    ["queueDepth", queueDepth, summary.queueDepth],
    ["workerSeconds", workerSeconds, summary.workerSeconds],
    ...(delayS
      ? ([
          ["delayP50", delayS.p50, summary.delayS.p50 ?? zero],
          ["delayP95", delayS.p95, summary.delayS.p95 ?? zero],
        ] as [CalibrationRow["name"], number, Range][])
      : []),
  ];
  const rows = pairs.map(([name, value, forecast]) => ({
    name,
    measured: value,
    forecast,
    error: (forecast.middle - value) / Math.max(value, LEAST[name]),
  }));
  const isFar = rows.some(({ error }) => Math.abs(error) > LARGEST_ERROR);
  return { verdict: isFar ? "not calibrated" : "calibrated", rows };
}

/** Returns `true` if delays were measured, so that the verdict is about them, too. */
export function hasDelays({ rows }: Calibration): boolean {
  return rows.some(({ name }) => name === "delayP95");
}

/** Returns the largest error; `undefined` without a measurement. */
export function largestError({ rows }: Calibration): number | undefined {
  return rows.length === 0 ? undefined : Math.max(...rows.map(({ error }) => Math.abs(error)));
}

/** Returns the comparison as a table. */
export function calibrationTable({ rows }: Calibration): Table {
  return {
    title: "Calibration: the settings before, on the same load",
    header: ["", "measured", "forecast", "error"],
    rows: rows.map(({ name, measured, forecast: { low, high }, error }) => {
      const [title, shown] = NAMES[name];
      const range = low === high ? shown(low) : `${shown(low)} … ${shown(high)}`;
      return [title, shown(measured), range, `${error > 0 ? "+" : ""}${Math.round(error * 100)} %`];
    }),
  };
}

/** Returns the verdict in a sentence. */
export function calibrationSentence(calibration: Calibration): string {
  const worst = largestError(calibration);
  if (worst === undefined)
    return "Uncalibrated: the load has no measurements that the forecast could be compared with.";
  const error = `the largest error is ${Math.round(worst * 100)} %`;
  const delays = hasDelays(calibration) ? "" : "delays, ";
  const others = `${delays}cost, cold starts and lost jobs`;
  return calibration.verdict === "calibrated"
    ? `Calibrated with the settings before: ${error}. ${others[0]?.toUpperCase()}${others.slice(1)} were not measured.`
    : `Not calibrated: ${error}, more than ${LARGEST_ERROR * 100} %. Do not rely on these figures.`;
}
