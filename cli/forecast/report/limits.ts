import { shownMoney, shownNumber, shownTime } from "../../shownValues";
import type { ForecastFlags, LostLimit } from "../forecastFlags";
import { type Calibration, calibrationSentence, hasDelays } from "./calibration";
import { keepsJobs } from "./choose";
import type { During } from "./during";
import type { Summary } from "./summary";

/** The results that the limits apply to. */
interface Limited {
  readonly maxLost: LostLimit | undefined;
  /** The last setting's. */
  readonly summary: Summary;
  /** The change; `undefined` if none is simulated. */
  readonly during: During | undefined;
  readonly calibration: Calibration;
}

/** Returns a sentence about each limit of the options that may be exceeded. */
export function exceededLimits(flags: ForecastFlags, { maxLost, summary, during, calibration }: Limited): string[] {
  return [
    ...limitsExceeded(flags, maxLost, summary),
    ...(during ? duringLimitsExceeded(flags, maxLost, during) : []),
    ...(flags.requireCalibration ? notCalibrated(flags, calibration) : []),
  ];
}

/** Returns the limit for jobs without a result. Setting a limit for delay or cost implies one. */
export function lostLimitOf({ maxLost, maxP95, maxCost }: ForecastFlags): LostLimit | undefined {
  return maxLost ?? (maxP95 === undefined && maxCost === undefined ? undefined : { jobs: 0 });
}

/** A forecast is a range, so a limit holds only if the upper end of the range stays below it. */
function limitsExceeded(
  { maxP95, maxCost }: ForecastFlags,
  maxLost: LostLimit | undefined,
  summary: Summary,
): string[] {
  const { delayS, monthly, failed, failedShare } = summary;
  const p95 = delayS.p95?.high ?? 0;
  return [
    ...(maxP95 !== undefined && p95 > maxP95
      ? [`the p95 delay can be ${shownTime(p95)}, more than ${shownTime(maxP95)}`]
      : []),
    ...(maxCost !== undefined && monthly.high > maxCost
      ? [`it can cost ${shownMoney(monthly.high)} a month, more than ${shownMoney(maxCost)}`]
      : []),
    ...(maxLost !== undefined && !keepsJobs(summary, maxLost)
      ? [
          `${shownNumber(failed.high)} jobs (${shownNumber(failedShare.high * 100)} %) can be lost or time out, more than ` +
            `${"jobs" in maxLost ? shownNumber(maxLost.jobs) : `${shownNumber(maxLost.share * 100)} %`} (--max-lost)`,
        ]
      : []),
  ];
}

/**
 * Returns the limits of the time after the change that can be exceeded. A limit for the delay
 * implies one for jobs without a result, because delays are only known of jobs that started.
 */
function duringLimitsExceeded(
  { maxDuring }: ForecastFlags,
  maxLost: LostLimit | undefined,
  { during }: During,
): string[] {
  if (!maxDuring) return [];
  const lost = maxLost && "share" in maxLost ? maxLost.share * during.jobs.high : (maxLost?.jobs ?? 0);
  const most = {
    p50: during.delayS.p50?.high ?? 0,
    p95: during.delayS.p95?.high ?? 0,
    p99: during.delayS.p99?.high ?? 0,
    lost: during.lost.high + during.timedOut.high,
  };
  return Object.entries({ lost, ...maxDuring }).flatMap(([name, limit]) => {
    const value = most[name as keyof typeof most];
    if (value <= limit) return [];
    if (name === "lost")
      return [
        `${shownNumber(value)} jobs can be lost or time out during the change, more than ${shownNumber(limit)} (--max-during)`,
      ];
    return [
      `the ${name} delay during the change can be ${shownTime(value)}, more than ${shownTime(limit)} (--max-during)`,
    ];
  });
}

/** Returns why the limits are not those of a calibrated forecast. */
function notCalibrated({ maxP95, maxDuring = {} }: ForecastFlags, calibration: Calibration): string[] {
  const demand = "--require-calibration demands";
  if (calibration.verdict !== "calibrated")
    return [`${demand} a calibrated forecast, so no limit counts. ${calibrationSentence(calibration)}`];
  const { lost: _, ...delays } = maxDuring;
  if (hasDelays(calibration) || (maxP95 === undefined && Object.keys(delays).length === 0)) return [];
  return [
    `${demand} measured delays, because a limit is about delays. Only clients and webhook receivers measure them: let one of them record, too`,
  ];
}
