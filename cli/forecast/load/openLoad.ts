import type { ForecastFlags } from "../forecastFlags";
import { type ReadLoad, readLoad } from "./readLoad";

const HOUR_S = 3600;

/** Returns an error message if the options don't describe a load and a limit of it. */
export function loadProblem(flags: ForecastFlags): string | undefined {
  const { load, generate, duration, maxDuring, stack, program } = flags;
  if ((load === undefined) === (generate === undefined)) return "give one load: --load or --generate";
  if (maxDuring && !(stack !== undefined && program))
    return "--max-during needs --stack and --program: it limits the change from one to the other";
  return generate && !duration ? "--generate needs --duration, such as 8s or 2s..10s" : undefined;
}

/** Opens the load that the options describe. `loadProblem` must have found no problem. */
export function openLoad({ load, generate, duration, bursts, for: forS, endpoint }: ForecastFlags): ReadLoad {
  if (load !== undefined) return readLoad(load, duration, forS, endpoint);
  if (!generate || !duration) throw new Error("no load is given");
  const spanS = Math.max(1, forS ?? (generate.kind === "sine" ? 24 : 1) * HOUR_S);
  const pattern = { ...generate, burstJobs: bursts?.jobs ?? 0, burstEveryS: bursts?.everyS ?? 1, duration };
  return { load: { spanS, pattern }, description: `generated (${generate.kind})`, close() {} };
}
