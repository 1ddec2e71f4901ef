import { pollUntil, systemClock } from "../../sdk/contract/clock";
import { explainWait } from "../../sdk/diagnosis/waits";
import { CodedError, NotFoundError } from "../../sdk/errors/errors";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { initFailure } from "../engine/errors";
import { logChange, waitLogger } from "../engine/log";
import type { Properties } from "../engine/properties";
import { deletedElsewhere } from "../records/absent";
import { withEvidence } from "../smokeTest/evidence";

const DEFAULT_TIMEOUT_SECONDS = 600;
const POLL_MS = 2_000;
/** How long the queue may not know the endpoint before the list is checked, in milliseconds. */
const LOOK_AGAIN_MS = 5_000;

/**
 * Waits until `/health` shows `workersMin` idle or running workers, if the program sets
 * `awaitReady`. On a timeout, it throws an error that keeps the endpoint in state. The outputs then
 * lack the mark of a passed release, so the next `up` waits again.
 */
export async function awaitReady(
  client: ProviderClient,
  id: string,
  inputs: Properties,
  outputs: Properties,
): Promise<void> {
  if (inputs.awaitReady !== true) return;
  const seconds = typeof inputs.awaitReadyTimeout === "number" ? inputs.awaitReadyTimeout : DEFAULT_TIMEOUT_SECONDS;
  try {
    await waitForWorkers(client, id, outputs, seconds * 1000);
  } catch (failure) {
    const error = await withEvidence(failure, client, id);
    throw initFailure(error, id, { ...outputs, __provider: inputs.__provider });
  }
}

async function waitForWorkers(
  client: ProviderClient,
  id: string,
  outputs: Properties,
  timeoutMs: number,
): Promise<void> {
  const name = String(outputs.name);
  const workersMin = Number(outputs.workersMin);
  if (workersMin === 0) return;
  const logWait = waitLogger(name);
  const count = workerCounter(client, id);
  const why = explainWait(client.endpoints, systemClock, id, "workers", cancelled);
  let ready = 0;
  await pollUntil({
    clock: systemClock,
    signal: cancelled,
    firstPauseMs: POLL_MS,
    timeoutMs,
    async step() {
      ready = await count();
      return ready >= workersMin ? true : undefined;
    },
    onPause(elapsedMs) {
      logWait(`${ready} of ${workersMin} workers are ready, waiting for the others`, elapsedMs);
      logChange(name, why.look(elapsedMs));
    },
    onTimeout: () =>
      new CodedError(
        "READY_TIMEOUT",
        `endpoint ${id} ("${name}") has ${ready} of ${workersMin} workers ready after ${Math.round(timeoutMs / 1000)} s. ` +
          "It exists and stays in state. Check that its GPU pools are available and that its template starts. Then run " +
          `pulumi up again, if necessary with a longer awaitReadyTimeout${why.lastWords()}`,
      ),
  }).finally(why.end);
}

/**
 * Returns a function that counts the ready workers. A new endpoint that the queue does not know yet
 * counts as having none, unless the endpoint is gone.
 */
function workerCounter(client: ProviderClient, id: string): () => Promise<number> {
  let existedAt = systemClock.monotonic();
  return async () => {
    try {
      const { workers } = await client.endpoint(id).health({ signal: cancelled });
      return workers.idle + workers.running;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      if (systemClock.monotonic() - existedAt < LOOK_AGAIN_MS) return 0;
      if (!(await client.endpoints.find(id, { signal: cancelled }))) throw deletedElsewhere("endpoint", id);
      existedAt = systemClock.monotonic();
      return 0;
    }
  };
}
