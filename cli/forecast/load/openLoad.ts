import type { ForecastFlags } from "../forecastFlags";
import { type ReadLoad, readLoad } from "./readLoad";

const HOUR_S = 3600;

/** Opens the load that the options describe. The command line has checked them. */
export function openLoad({ load, generate, duration, bursts, for: forS, endpoint }: ForecastFlags): ReadLoad {
  if (load !== undefined) return readLoad(load, duration, forS, endpoint);
  if (!generate || !duration) throw new Error("no load is given");
  const spanS = Math.max(1, forS ?? (generate.kind === "sine" ? 24 : 1) * HOUR_S);
  const pattern = { ...generate, burstJobs: bursts?.jobs ?? 0, burstEveryS: bursts?.everyS ?? 1, duration };
  return { load: { spanS, pattern }, description: `generated (${generate.kind})`, firstS: 0, close() {} };
}
