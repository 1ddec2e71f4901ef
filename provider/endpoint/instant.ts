import { ConfigurationError } from "../../sdk/errors/errors";
import { isLoopbackUrl } from "../connection/account";
import { currentPlace, deploymentBegan } from "../connection/connection";

/** The environment variable that sets the instant for which schedules are evaluated. */
export const INSTANT_VARIABLE = "SERVERLESS_GPU_NOW";

/** ISO 8601. A time has an offset, because a local time would depend on the machine. */
const FORMAT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** How far a pinned instant may be from the clock in a run that changes endpoints. */
const MOST_OFF_MS = 3_600_000;

/**
 * Returns the instant for which this run evaluates schedules, in milliseconds since the Unix epoch:
 * the pinned one, or the beginning of the run, so that all endpoints of a run agree.
 * @throws ConfigurationError if the pinned instant is not valid
 */
export function runInstant(): number {
  return pinnedInstant() ?? deploymentBegan();
}

/**
 * Returns a date in UTC, or a time with `Z` or an offset, in milliseconds since the Unix epoch.
 * `NaN` for any other text, and for a day such as February 30, which `Date.parse` accepts.
 */
export function timeOf(text: string): number {
  const [, day = ""] = FORMAT.exec(text) ?? [];
  const midnight = Date.parse(day);
  const isDay = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  return isDay ? Date.parse(text) : Number.NaN;
}

function pinnedInstant(): number | undefined {
  const text = process.env[INSTANT_VARIABLE];
  if (text === undefined || text === "") return undefined;
  const instant = text.includes("T") ? timeOf(text) : Number.NaN;
  if (Number.isNaN(instant)) {
    const shown = JSON.stringify(text.slice(0, 40));
    throw new ConfigurationError(
      `${INSTANT_VARIABLE} must be a time with Z or an offset, such as 2026-11-30T09:00+01:00; it is ${shown}`,
    );
  }
  return instant;
}

/**
 * Refuses to change endpoints in a run for another time, whose worker counts are those of that
 * time, unless the service is on this machine.
 * @throws ConfigurationError before any request
 */
export function refuseOtherTime(): void {
  const [pinned, begun] = [pinnedInstant(), deploymentBegan()];
  if (pinned === undefined || Math.abs(pinned - begun) <= MOST_OFF_MS) return;
  if (isLoopbackUrl(currentPlace()?.account.service ?? "")) return;
  throw new ConfigurationError(
    `${INSTANT_VARIABLE} is ${new Date(pinned).toISOString()}, more than an hour from the beginning of this run (${new Date(begun).toISOString()}), so nothing was ` +
      "changed. Another time is for previews and for the emulator only: remove the variable and run pulumi up again",
  );
}
