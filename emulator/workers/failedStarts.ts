import type { PoolState } from "./poolState";
import { show } from "./poolState";
import type { Worker } from "./worker";
import type { FailedStart } from "./workerFaults";

/** The pause between attempts of a failing start, in milliseconds (assumed). */
const AGAIN_MS = 10_000;
/** A worker that has not started after this time counts as unhealthy, in milliseconds. */
const UNHEALTHY_MS = 7 * 60_000;

/**
 * Starts a worker that never accepts a job and retries again and again. Its log shows the reason.
 * Sets the worker's timer, so that ending the worker stops the attempts.
 */
export function failToStart(pool: PoolState, worker: Worker, failure: FailedStart): void {
  const { context } = pool;
  const { clock, logs } = context;
  const startedAt = clock.now();
  const say = (line: string) => logs?.add(worker.pod.id, "system", line);

  function attempt(): void {
    if (!pool.workers.has(worker)) return;
    const { imageName } = worker.pod.container;
    if (failure === "image") {
      say(`error pulling image: Error response from daemon: manifest for ${imageName} not found: manifest unknown`);
    } else {
      say(`start container for ${imageName}: begin`);
      say(`remove container`);
    }
    if (worker.state !== "unhealthy" && clock.now() - startedAt >= UNHEALTHY_MS) {
      worker.state = "unhealthy";
      show(pool, worker);
    }
    // Run in the background, because the attempts go on for days.
    worker.cancelTimer = clock.schedule(AGAIN_MS, attempt, true);
  }

  attempt();
}
