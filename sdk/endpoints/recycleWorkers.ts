import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { RecycleTimeoutError } from "../errors";
import { lookFor } from "../records/absence";
import { existing, getRecord, type KnownOptions } from "../records/collection";
import type { ObservedOptions } from "../transport/requestOptions";
import { type Account, changeEndpoint, countActivePods } from "./calls";
import { changedNothing, countsOf, isAtZero, putBack, type ScaleDownOptions, type WorkerLimits } from "./putBack";
import type { Endpoint } from "./record";

/** Options of `recycleWorkers`. */
export interface RecycleOptions extends KnownOptions, ScaleDownOptions {
  /** Time for the workers to complete their jobs and stop, in milliseconds: > 0. @default 600_000 */
  readonly drainTimeoutMs?: number;
  /** Called while workers run. */
  readonly onProgress?: (progress: {
    /** Number of pods that are still running. */
    readonly activePods: number;
    /** Time since the workers were told to stop, in milliseconds. */
    readonly elapsedMs: number;
  }) => void;
}

const DEFAULT_DRAIN_TIMEOUT_MS = 600_000;
const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 10_000;

/** A recycle that is running. */
interface Recycle {
  readonly account: Account;
  readonly endpoint: Endpoint;
  readonly drainTimeoutMs: number;
  readonly onProgress: RecycleOptions["onProgress"];
  readonly options: ObservedOptions;
}

/**
 * Scales an endpoint to zero, waits until its workers have completed their jobs and stopped, and restores `workers`. Jobs
 * that wait stay in the queue. Repeated after an interruption, it does the rest.
 * @throws RecycleTimeoutError if they do not stop in time; the first line says whether the endpoint has its workers again
 */
export async function recycleWorkers(
  account: Account,
  id: string,
  workers: WorkerLimits,
  given: RecycleOptions & ObservedOptions = {},
): Promise<Endpoint> {
  const { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS, onProgress, onScaleDown, onPutBack, known, ...options } = given;
  const found = await getRecord(account, id, options);
  const wasAtZero = isAtZero(found);
  if (!wasAtZero) onScaleDown?.(countsOf(found));
  let isCertain = wasAtZero;
  try {
    const endpoint = wasAtZero
      ? found
      : await changeEndpoint(account, found, { workersMin: 0, workersMax: 0 }, options);
    isCertain = true;
    await untilStopped({ account, endpoint, drainTimeoutMs, onProgress, options });
    return await changeEndpoint(account, endpoint, workers, options, known);
  } catch (error) {
    if (!isCertain && changedNothing(error)) {
      onPutBack?.();
      throw error;
    }
    const scaledDown = { purpose: "recycle", counts: workers, isCertain };
    throw await putBack(account, id, scaledDown, error, { ...options, onPutBack }, known);
  }
}

/** Waits until a list that is not out of date shows no pods. */
async function untilStopped({ account, endpoint, drainTimeoutMs, onProgress, options }: Recycle): Promise<void> {
  const { clock, kind, list } = account;
  const { id } = endpoint;
  const startedAt = clock.monotonic();
  let pollMs = FIRST_POLL_MS;
  // The list may show the pods of a while ago, such as none before the last start.
  let sawNoneAt: number | undefined;
  for (;;) {
    const now = existing(await lookFor(account, await list.read({}, options), id, options), kind, id);
    const activePods = await countActivePods(account, now, options);
    const elapsedMs = clock.monotonic() - startedAt;
    if (activePods > 0) sawNoneAt = undefined;
    else sawNoneAt ??= clock.monotonic();
    if (sawNoneAt !== undefined && elapsedMs >= LIST_LAG_MS) return;
    if (elapsedMs >= drainTimeoutMs) throw recycleTimeout(now, activePods, drainTimeoutMs);
    if (activePods > 0) onProgress?.({ activePods, elapsedMs: Math.round(elapsedMs) });
    await sleep(clock, Math.min(pollMs, Math.max(1, drainTimeoutMs - elapsedMs)), options.signal);
    pollMs = Math.min(LONGEST_POLL_MS, pollMs * 1.5);
  }
}

function recycleTimeout({ id, name }: Endpoint, activePods: number, drainTimeoutMs: number): RecycleTimeoutError {
  const many = activePods === 1 ? "1 worker" : `${activePods} workers`;
  return new RecycleTimeoutError(
    `endpoint ${id} ("${name}") was not recycled: ${many} did not stop within ${Math.round(drainTimeoutMs / 1000)} s. Some ` +
      "of its workers may run the old version of the template. Wait for long jobs or cancel them, then try again, " +
      "with more time if needed",
  );
}
