import { ConfigurationError } from "../../sdk/errors/errors";
import { isLoopbackUrl } from "../connection/account";
import { currentPlace } from "../connection/connection";
import type { Properties } from "../engine/properties";
import { BEGUN, INSTANT_VARIABLE, pinnedInstant } from "../engine/runInstant";

/** How far a pinned instant may be from the clock in a run that changes endpoints. */
const MOST_OFF_MS = 3_600_000;

/**
 * Refuses inputs whose worker counts are those of another time, unless the service is on this
 * machine.
 * @throws ConfigurationError before any request
 */
export function refuseOtherTime({ schedule }: Properties): void {
  const pinned = schedule === undefined ? undefined : pinnedInstant();
  if (pinned === undefined || Math.abs(pinned - BEGUN) <= MOST_OFF_MS) return;
  if (isLoopbackUrl(currentPlace()?.account.service ?? "")) return;
  throw new ConfigurationError(
    `${INSTANT_VARIABLE} is ${new Date(pinned).toISOString()}, more than an hour from the beginning of this run (${new Date(BEGUN).toISOString()}), so nothing was ` +
      "changed. Another time is for previews and for the emulator only: remove the variable and run pulumi up again",
  );
}
