import type { Properties } from "../properties";

/**
 * Removes the worker counts if `workersMax` is 0. An interrupted deletion may have set them, and a
 * refresh may have stored them in state, but a restore must never scale an endpoint to zero.
 * @param now the settings of the endpoint, for counts that are not to be restored
 */
export function withoutZero(settings: Properties, now: Properties = {}): Properties {
  if ((settings.workersMax ?? now.workersMax) !== 0) return settings;
  const { workersMin, workersMax, ...others } = settings;
  return others;
}
