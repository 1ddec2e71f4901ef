import { instantOf } from "../../sdk/endpoints/instant";
import { ConfigurationError } from "../../sdk/errors/errors";
import { deploymentBegan } from "./connection";

/** The environment variable that sets the instant for which schedules are evaluated. */
export const INSTANT_VARIABLE = "SERVERLESS_GPU_NOW";

/**
 * Returns the instant for which this run evaluates schedules, in milliseconds since the Unix epoch:
 * the pinned one, or the beginning of the run, so that all endpoints of a run agree.
 * @throws ConfigurationError if the pinned instant is not valid
 */
export function runInstant(): number {
  return pinnedInstant() ?? deploymentBegan();
}

/** @throws ConfigurationError if the pinned instant is not valid */
export function pinnedInstant(): number | undefined {
  const text = process.env[INSTANT_VARIABLE];
  if (text === undefined || text === "") return undefined;
  const instant = text.includes("T") ? instantOf(text) : Number.NaN;
  if (Number.isNaN(instant)) {
    const shown = JSON.stringify(text.slice(0, 40));
    throw new ConfigurationError(
      `${INSTANT_VARIABLE} must be a time with Z or an offset, such as 2026-11-30T09:00+01:00; it is ${shown}`,
    );
  }
  return instant;
}
