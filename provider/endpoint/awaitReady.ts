import type { Client } from "../../sdk/client";
import { sleep, systemClock } from "../../sdk/contract/clock";
import type { Endpoint } from "../../sdk/endpoints/record";
import { NotFoundError, ReadyTimeoutError } from "../../sdk/errors";
import { initFailure } from "../engineErrors";
import { waitLogger } from "../log";
import type { Properties } from "../properties";
import { endpointGone } from "./updateEndpoint";

const DEFAULT_TIMEOUT_SECONDS = 600;
const POLL_MS = 2_000;
/** How long the queue may not know the endpoint before it is looked for in the list. */
const LOOK_AGAIN_MS = 5_000;

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
    throw initFailure(error, endpoint.id, { ...outputs, __readyPending: true, __provider: inputs.__provider });
  }
}

/** Whether a wait has failed and none has succeeded since. A refresh forgets the failure, so outputs record it. */
export function isReadyPending({ __readyPending }: Properties): boolean {
  return __readyPending === true;
}

/** That record, for outputs that are made anew from the service. */
export function readyPending(outputs: Properties): Properties {
  return isReadyPending(outputs) ? { __readyPending: true } : {};
}

async function waitForWorkers(client: Client, { id, name, workersMin }: Endpoint, timeoutMs: number): Promise<void> {
  const startedAt = systemClock.monotonic();
  const logWait = waitLogger(name);
  const count = workerCounter(client, id);
  while (workersMin > 0) {
    const ready = await count();
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

/**
 * Counts the workers that are ready. The queue may not know an endpoint that was made a moment ago: that counts as none,
 * unless the endpoint has really gone.
 */
function workerCounter(client: Client, id: string): () => Promise<number> {
  let existedAt = systemClock.monotonic();
  return async () => {
    try {
      const { workers } = await client.endpoint(id).health();
      return workers.idle + workers.running;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      if (systemClock.monotonic() - existedAt < LOOK_AGAIN_MS) return 0;
      if (!(await client.endpoints.find(id))) throw endpointGone(id);
      existedAt = systemClock.monotonic();
      return 0;
    }
  };
}
