import { ConfigurationError } from "../../sdk/errors/errors";
import { isLoopbackUrl } from "../connection/account";
import { currentPlace, deploymentBegan } from "../connection/connection";
import { INSTANT_VARIABLE, pinnedInstant } from "../connection/runInstant";

/** How far a pinned instant may be from the clock in a run that changes endpoints. */
const MOST_OFF_MS = 3_600_000;

/**
 * Refuses to change endpoints in a run for another time, because it would apply that time's worker
 * counts, unless the service is on this machine.
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
