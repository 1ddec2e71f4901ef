import type { EndpointSettings } from "./record";

// The provider loads this file when it starts, so it imports no library.

/** An endpoint's worker counts. */
export type WorkerLimits = Pick<EndpointSettings, "workersMin" | "workersMax">;

/** The counts of an endpoint that is switched off. */
export const AT_ZERO: WorkerLimits = { workersMin: 0, workersMax: 0 };

/** Returns `true` for an endpoint that is switched off. */
export function isAtZero({ workersMin, workersMax }: WorkerLimits): boolean {
  return workersMin === 0 && workersMax === 0;
}

/** Returns the counts alone. */
export function countsOf({ workersMin, workersMax }: WorkerLimits): WorkerLimits {
  return { workersMin, workersMax };
}

/** Returns `true` if both have the same worker counts. */
export function hasSameLimits(one: WorkerLimits, other: WorkerLimits): boolean {
  return one.workersMin === other.workersMin && one.workersMax === other.workersMax;
}
