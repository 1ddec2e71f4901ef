import type { EndpointSettings } from "./record";

// The provider loads this file on startup, so it must not import any libraries.

/** An endpoint's worker counts. */
export type WorkerLimits = Pick<EndpointSettings, "workersMin" | "workersMax">;

/** The worker counts of an endpoint that is switched off. */
export const AT_ZERO: WorkerLimits = { workersMin: 0, workersMax: 0 };

/** Returns `true` if the endpoint is switched off. */
export function isAtZero({ workersMin, workersMax }: { readonly [Name in keyof WorkerLimits]?: unknown }): boolean {
  return workersMin === 0 && workersMax === 0;
}

/** Returns only the worker counts. */
export function countsOf({ workersMin, workersMax }: WorkerLimits): WorkerLimits {
  return { workersMin, workersMax };
}

/** Returns `true` if the worker counts are the same. */
export function hasSameLimits(one: WorkerLimits, other: WorkerLimits): boolean {
  return one.workersMin === other.workersMin && one.workersMax === other.workersMax;
}
