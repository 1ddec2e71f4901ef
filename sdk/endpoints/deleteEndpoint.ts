import { type Clock, sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { BusinessRuleError, DeleteTimeoutError, NotFoundError } from "../errors";
import type { CallOptions } from "../transport/retryingCall";
import type { Endpoint } from "./record";

/** What a deletion is doing. */
export interface DeleteProgress {
  /** The step that it is at. */
  readonly phase: "scaling to zero" | "draining" | "deleting" | "proving gone";
  /** Pods that are still running. */
  readonly activePods: number;
  /** Since the deletion began, in milliseconds. */
  readonly elapsedMs: number;
  /** Why the service refused the last attempt to delete it, in its own words. The deletion is tried again. */
  readonly refusal?: string;
}

/** How an endpoint is deleted. */
export interface DeleteOptions extends CallOptions {
  /** Time for the pods to leave and the service to agree, in milliseconds. Default 600,000 (10 minutes). */
  readonly drainTimeoutMs?: number;
  /** Called at each step. */
  readonly onProgress?: (progress: DeleteProgress) => void;
  /**
   * Called before anything is sent if the list does not hold the endpoint. What it throws ends the deletion. Default: an
   * endpoint that is absent counts as deleted.
   */
  readonly onAbsent?: () => void;
}

/** The single steps that a deletion is made of. */
export interface DeleteSteps {
  readonly clock: Clock;
  /** The endpoint as a deletion begins with it, in a list that others may share. */
  look(signal?: AbortSignal): Promise<Endpoint | undefined>;
  /** The endpoint in a new list. */
  find(signal?: AbortSignal): Promise<Endpoint | undefined>;
  scaleToZero(endpoint: Endpoint, signal?: AbortSignal): Promise<unknown>;
  /** @throws NotFoundError when there is no such endpoint. */
  deleteNow(signal?: AbortSignal): Promise<void>;
}

const DEFAULT_DRAIN_TIMEOUT_MS = 600_000;
const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 10_000;

/**
 * Observe, then do what is missing, until the endpoint is proven gone. Every step may be repeated, so a deletion that
 * was interrupted anywhere is finished by another one.
 */
export async function deleteEndpoint(id: string, options: DeleteOptions, steps: DeleteSteps): Promise<void> {
  const { signal, drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS } = options;
  const startedAt = steps.clock.monotonic();
  let pollMs = FIRST_POLL_MS;
  let scaledAt = Number.NEGATIVE_INFINITY;
  let obstacle = "";
  let wasSeen = false;

  const report = (phase: DeleteProgress["phase"], activePods = 0, refusal?: string) => {
    const elapsedMs = Math.round(steps.clock.monotonic() - startedAt);
    options.onProgress?.({ phase, activePods, elapsedMs, ...(refusal === undefined ? {} : { refusal }) });
  };

  async function pause() {
    const timeLeftMs = drainTimeoutMs - (steps.clock.monotonic() - startedAt);
    if (timeLeftMs <= 0) throw deleteTimeout(id, drainTimeoutMs, obstacle);
    await sleep(steps.clock, Math.min(pollMs, timeLeftMs), signal);
    pollMs = Math.min(LONGEST_POLL_MS, pollMs * 1.5);
  }

  for (let endpoint = await steps.look(signal); ; endpoint = await steps.find(signal)) {
    // Where it does not belong, not even a deletion may be sent: a service may take any unknown id for deleted.
    if (!endpoint && !wasSeen) options.onAbsent?.();
    wasSeen ||= endpoint !== undefined;
    if (endpoint && (endpoint.workersMin > 0 || endpoint.workersMax > 0)) {
      // A list that was changed a moment ago may still show what was before.
      if (steps.clock.monotonic() - scaledAt < LIST_LAG_MS) {
        await pause();
        continue;
      }
      obstacle = "its workersMin and workersMax do not stay at zero";
      report("scaling to zero", countActivePods(endpoint));
      await scaleToZero(endpoint, steps, signal);
      scaledAt = steps.clock.monotonic();
      continue;
    }
    const activePods = endpoint ? countActivePods(endpoint) : 0;
    if (activePods > 0) {
      obstacle = `${activePods} of its pods still run`;
      report("draining", activePods);
      await pause();
      continue;
    }
    report("deleting");
    try {
      await steps.deleteNow(signal);
      obstacle = "the service accepted its deletion, yet still lists it";
    } catch (error) {
      if (error instanceof NotFoundError && !endpoint) {
        return;
      }
      if (!(error instanceof NotFoundError) && !(error instanceof BusinessRuleError)) throw error;
      obstacle = error.message;
      // The service may take a while to notice that the workers are gone.
      if (error instanceof BusinessRuleError) {
        report("deleting", 0, error.message);
        await pause();
        continue;
      }
    }
    report("proving gone");
    if (await isGone(steps, signal)) return;
    await pause();
  }
}

/** Scales to zero. Not finding the endpoint is as good, once the list agrees. */
async function scaleToZero(endpoint: Endpoint, steps: DeleteSteps, signal?: AbortSignal): Promise<void> {
  try {
    await steps.scaleToZero(endpoint, signal);
  } catch (error) {
    if (!(error instanceof NotFoundError) || !(await isGone(steps, signal))) throw error;
  }
}

/** Absent from a list now, or once the list's lag has passed. */
async function isGone(steps: DeleteSteps, signal?: AbortSignal): Promise<boolean> {
  if (!(await steps.find(signal))) return true;
  await sleep(steps.clock, LIST_LAG_MS, signal);
  return !(await steps.find(signal));
}

/** Pods that have not left: any whose status is neither EXITED nor TERMINATED. */
function countActivePods({ pods }: Endpoint): number {
  return pods.filter(({ desiredStatus }) => desiredStatus !== "EXITED" && desiredStatus !== "TERMINATED").length;
}

function deleteTimeout(id: string, drainTimeoutMs: number, obstacle: string): DeleteTimeoutError {
  return new DeleteTimeoutError(
    `endpoint ${id} was not deleted within ${Math.round(drainTimeoutMs / 1000)} s: ${obstacle}. ` +
      "It still exists, scaled to zero. Remove what holds it (its running jobs, say) or wait, then delete it again, with " +
      "more time if needed",
  );
}
