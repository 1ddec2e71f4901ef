import type { Duration, Pattern } from "../../../emulator/forecast/load";
import type { ForecastFlags } from "../forecastFlags";
import { type ReadLoad, readLoad } from "./readLoad";

const LOADS = ["load", "poisson", "constant", "sine", "step"] as const;
const HOUR_S = 3600;

/** Returns the reason why the options name no load, if so. */
export function loadProblem(flags: ForecastFlags): string | undefined {
  const given = LOADS.filter((name) => flags[name] !== undefined);
  if (given.length !== 1) return `give one load: ${LOADS.map((name) => `--${name}`).join(", ")}`;
  if (flags.load === undefined && !flags.duration) return `--${given[0]} needs --duration, such as 8s or 2s..10s`;
  return undefined;
}

/** Returns the load of the options, in which `loadProblem` finds no problem. */
export function openLoad(flags: ForecastFlags): ReadLoad {
  const given = LOADS.filter((name) => flags[name] !== undefined);
  const { duration, prefill, decode } = flags;
  if (flags.load !== undefined) return readLoad(flags.load, { duration, prefill, decode }, flags.for);
  const [kind] = given as [Pattern["kind"]];
  const spanS = Math.max(1, flags.for ?? (kind === "sine" ? 24 : 1) * HOUR_S);
  const rates = flags[kind];
  const [rate, secondRate] = typeof rates === "number" ? [rates, 0] : (rates as readonly [number, number]);
  const { jobs: burstJobs = 0, everyS: burstEveryS = 1 } = flags.bursts ?? {};
  const pattern = { kind, rate, secondRate, burstJobs, burstEveryS, duration: duration as Duration };
  return { load: { spanS, pattern }, description: `generated (${kind})`, close() {} };
}
