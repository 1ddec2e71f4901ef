import type { Properties } from "../properties";

/**
 * Removes the worker counts if `workersMax` is 0. An interrupted deletion may have set them, and a
 * refresh may have stored them in state, but a restore must never scale an endpoint to zero.
 */
export function withoutZero(settings: Properties): Properties {
  if (settings.workersMax !== 0) return settings;
  const { workersMin, workersMax, ...others } = settings;
  return others;
}
