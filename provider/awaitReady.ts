import type { Client } from "../sdk/client";
import { sleep, systemClock } from "../sdk/clock";
import type { Endpoint } from "../sdk/endpointRecord";
import { ReadyTimeoutError } from "../sdk/errors";
import { initFailure } from "./boundary";
import type { Properties } from "./inputs";
import { waitLogger } from "./progress";

const DEFAULT_TIMEOUT_SECONDS = 600;
const POLL_MS = 2_000;

/**
 * Waits, where the program wants it, until `/health` shows `workersMin` workers idle or running. When the time is over
 * it fails in the way that keeps the endpoint in state: the next `up` waits again.
 */
export async function awaitReady(client: Client, endpoint: Endpoint, inputs: Properties, outputs: Properties) {
  if (inputs.awaitReady !== true) return;
  const seconds = typeof inputs.awaitReadyTimeout === "number" ? inputs.awaitReadyTimeout : DEFAULT_TIMEOUT_SECONDS;
  try {
    await waitForWorkers(client, endpoint, seconds * 1000);
  } catch (error) {
    throw initFailure(error, endpoint.id, { ...outputs, __provider: inputs.__provider });
  }
}

async function waitForWorkers(client: Client, { id, name, workersMin }: Endpoint, timeoutMs: number): Promise<void> {
  const startedAt = systemClock.monotonic();
  const logWait = waitLogger(name);
  while (workersMin > 0) {
    const { workers } = await client.endpoint(id).health();
    const ready = workers.idle + workers.running;
    if (ready >= workersMin) return;
    const elapsedMs = systemClock.monotonic() - startedAt;
    if (elapsedMs >= timeoutMs) {
      throw new ReadyTimeoutError(
        `endpoint ${id} ("${name}") has ${ready} of ${workersMin} workers ready after ${Math.round(timeoutMs / 1000)} s. ` +
          "It exists and stays in state. Look whether its GPU tiers are available and its template starts; then run " +
          "pulumi up again, with a longer awaitReadyTimeout if need be",
      );
    }
    logWait(`${ready} of ${workersMin} workers are ready, waiting for the others`, elapsedMs);
    await sleep(systemClock, Math.min(POLL_MS, timeoutMs - elapsedMs));
  }
}
