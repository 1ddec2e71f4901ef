import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { BusinessRuleError, DeleteTimeoutError, InvalidInputError, NotFoundError } from "../errors";
import { lookFor } from "../records/absence";
import { readSharedWith } from "../records/collection";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { type Account, activeAmong, changeEndpoint, countActivePods, sendDelete } from "./calls";
import { drainProblems } from "./interfaceLimits";
import { changedNothing, countsOf, isAtZero, putBack, type ScaleDownOptions, type WorkerLimits } from "./putBack";
import type { Endpoint } from "./record";

/** The progress of a deletion. */
export interface DeleteProgress {
  /** The current step. */
  readonly phase: "scaling to zero" | "draining" | "deleting" | "proving gone";
  /** Number of pods that are still running. */
  readonly activePods: number;
  /** Time since the deletion began, in milliseconds. */
  readonly elapsedMs: number;
  /** The reason in the service's own words, if it refused the last attempt. The deletion is retried. */
  readonly refusal?: string;
}

/** Options of `delete`. */
export interface DeleteOptions extends RequestOptions, ScaleDownOptions {
  /**
   * `false` deletes the endpoint at once, with its workers and jobs: jobs that run are lost. Only REST v2 can do that.
   * @default true: its workers complete their jobs before
   */
  readonly drain?: boolean;
  /**
   * Time for the pods to shut down and for the service to accept the deletion, in milliseconds: > 0.
   * @default 600_000
   */
  readonly drainTimeoutMs?: number;
  /** Called at each step. */
  readonly onProgress?: (progress: DeleteProgress) => void;
  /**
   * Called before anything is sent if the list does not hold the endpoint. An error that it throws ends the deletion.
   * Without it, an absent endpoint counts as deleted.
   */
  readonly onAbsent?: () => void;
  /**
   * The numbers of workers to put back if the deletion fails and the endpoint was at zero before it, because an earlier
   * deletion was killed.
   * @default none: an endpoint that was at zero stays at zero
   */
  readonly workers?: WorkerLimits | undefined;
}

const DEFAULT_DRAIN_TIMEOUT_MS = 600_000;
const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 10_000;

const NOT_AT_ZERO = "its workersMin and workersMax do not stay at zero";
const STILL_LISTED = "the service accepted its deletion, but still lists it";
const UNKNOWN_YET_LISTED = "the service reports that it does not exist, but still lists it";

/** The obstacles with which the endpoint may be gone. */
const MAYBE_GONE: readonly string[] = [STILL_LISTED, UNKNOWN_YET_LISTED];

/** A deletion that is running. */
interface Deletion {
  readonly account: Account;
  readonly id: string;
  readonly options: DeleteOptions & ObservedOptions;
  /** In milliseconds of the monotonic clock, as the other times. */
  readonly startedAt: number;
  /** The time from which `drainTimeoutMs` counts: a rate limit may hold the request that scales to zero for minutes. */
  drainsFrom: number | undefined;
  scaledAt: number;
  /** The numbers of workers before the first save that scaled to zero. */
  counts: WorkerLimits | undefined;
  pollMs: number;
  /** The reason why the endpoint still exists, for the error when time is up. */
  obstacle: string;
}

/**
 * Observes, then does the next step, until the endpoint is proven gone. Every step can be repeated, so another deletion
 * finishes one that was interrupted anywhere.
 */
export async function deleteEndpoint(
  account: Account,
  id: string,
  options: DeleteOptions & ObservedOptions,
): Promise<void> {
  const problems = drainProblems(account.capabilities, options.drain);
  if (problems.length > 0) throw new InvalidInputError(`the deletion of endpoint ${id}`, problems);
  const deletion: Deletion = {
    ...{ account, id, options, startedAt: account.clock.monotonic(), scaledAt: Number.NEGATIVE_INFINITY },
    ...{ drainsFrom: undefined, counts: undefined, pollMs: FIRST_POLL_MS, obstacle: "" },
  };
  const leave = account.list.join();
  try {
    await untilGone(deletion);
  } catch (error) {
    const { counts, scaledAt } = deletion;
    if (!counts) throw error;
    // Without `workers`, only a save that has succeeded proves that the endpoint is at zero.
    const isCertain = scaledAt > Number.NEGATIVE_INFINITY || counts === options.workers;
    throw await putBack(account, id, { purpose: "deletion", counts, isCertain }, error, options);
  } finally {
    leave();
  }
}

async function untilGone(deletion: Deletion): Promise<void> {
  const { account, id, options } = deletion;
  let endpoint = await lookFor(account, await readSharedWith(account, id, options), id, options);
  let wasSeen = false;
  for (;;) {
    // In the wrong account not even a deletion may be sent: a service may report success for any unknown id.
    if (!endpoint && !wasSeen) options.onAbsent?.();
    wasSeen ||= endpoint !== undefined;
    if (endpoint && isAtZero(endpoint)) deletion.counts ??= options.workers;
    const drained = options.drain === false ? undefined : endpoint;
    if (drained && !isAtZero(drained)) await scaleToZero(deletion, drained);
    else {
      const activePods = drained ? await podsOf(deletion, drained) : 0;
      if (activePods > 0) await drain(deletion, activePods);
      else if (await deleteNow(deletion, endpoint)) return;
    }
    endpoint = await look(deletion);
  }
}

/** Scales to zero. An endpoint that is not found is no error if the list proves it gone. */
async function scaleToZero(deletion: Deletion, endpoint: Endpoint): Promise<void> {
  const { account, options } = deletion;
  // For a while after a change the list may show the values before it.
  if (account.clock.monotonic() - deletion.scaledAt < LIST_LAG_MS) return pause(deletion);
  deletion.obstacle = NOT_AT_ZERO;
  report(deletion, "scaling to zero", activeAmong(endpoint.pods));
  const isFirst = deletion.counts === undefined;
  if (isFirst) {
    options.onScaleDown?.(countsOf(endpoint));
    deletion.counts = countsOf(endpoint);
  }
  try {
    await changeEndpoint(account, endpoint, { workersMin: 0, workersMax: 0 }, options);
  } catch (error) {
    if (isFirst && changedNothing(error)) {
      deletion.counts = undefined;
      options.onPutBack?.();
    }
    if (!(error instanceof NotFoundError) || !(await isGone(deletion))) throw error;
  }
  deletion.scaledAt = account.clock.monotonic();
  deletion.drainsFrom ??= deletion.scaledAt;
}

/** Returns the number of pods that still run. An endpoint that is gone meanwhile has none. */
async function podsOf({ account, options }: Deletion, endpoint: Endpoint): Promise<number> {
  return countActivePods(account, endpoint, options).catch((error: unknown) => {
    if (error instanceof NotFoundError) return 0;
    throw error;
  });
}

async function drain(deletion: Deletion, activePods: number): Promise<void> {
  deletion.obstacle = `${activePods} of its pods still run`;
  report(deletion, "draining", activePods);
  await pause(deletion);
}

/** Returns `true` if the endpoint is deleted, and proven gone. */
async function deleteNow(deletion: Deletion, endpoint: Endpoint | undefined): Promise<boolean> {
  report(deletion, "deleting");
  try {
    await sendDelete(deletion.account, deletion.id, deletion.options);
    deletion.obstacle = STILL_LISTED;
  } catch (error) {
    if (error instanceof NotFoundError && !endpoint) return true;
    if (error instanceof BusinessRuleError) {
      // The service may take a while to notice that the workers are gone.
      deletion.obstacle = error.message;
      report(deletion, "deleting", 0, error.message);
      await pause(deletion);
      return false;
    }
    if (!(error instanceof NotFoundError)) throw error;
    deletion.obstacle = UNKNOWN_YET_LISTED;
  }
  report(deletion, "proving gone");
  if (await isGone(deletion)) return true;
  await pause(deletion);
  return false;
}

/** Returns `true` if the endpoint is absent from a list now, or once the list's lag has passed. */
async function isGone(deletion: Deletion): Promise<boolean> {
  if (!(await look(deletion))) return true;
  const { account, options } = deletion;
  await account.list.rest(sleep(account.clock, LIST_LAG_MS, options.signal));
  return !(await look(deletion));
}

/**
 * Returns the endpoint as a list shows it that is requested after this call, or a single read if the list is cut. All
 * deletions that look share them.
 */
async function look({ account, id, options }: Deletion): Promise<Endpoint | undefined> {
  return lookFor(account, await account.list.read({ gathers: true }, options), id, options, true);
}

/** Waits before the next look, longer each time. */
async function pause(deletion: Deletion): Promise<void> {
  const { account, options, startedAt, drainsFrom = startedAt, pollMs } = deletion;
  const { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS, signal } = options;
  const timeLeftMs = drainTimeoutMs - (account.clock.monotonic() - drainsFrom);
  if (timeLeftMs <= 0) throw deleteTimeout(deletion, drainTimeoutMs);
  await account.list.rest(sleep(account.clock, Math.min(pollMs, timeLeftMs), signal));
  deletion.pollMs = Math.min(LONGEST_POLL_MS, pollMs * 1.5);
}

function report(
  { account, options, startedAt }: Deletion,
  phase: DeleteProgress["phase"],
  activePods = 0,
  refusal?: string,
) {
  const elapsedMs = Math.round(account.clock.monotonic() - startedAt);
  options.onProgress?.({ phase, activePods, elapsedMs, ...(refusal === undefined ? {} : { refusal }) });
}

function deleteTimeout({ id, obstacle, counts, options }: Deletion, drainTimeoutMs: number): DeleteTimeoutError {
  const wasAtZero = counts === undefined && options.drain !== false;
  const exists = wasAtZero ? "It still exists, at zero workers as before." : "It still exists.";
  const remains = MAYBE_GONE.includes(obstacle) ? "It may still exist." : exists;
  return new DeleteTimeoutError(
    `endpoint ${id} was not deleted within ${Math.round(drainTimeoutMs / 1000)} s: ${obstacle}. ` +
      `${remains} Remove the cause (such as running jobs) or wait, then ` +
      "delete it again, with more time if needed",
  );
}
