import { pollUntil } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { CodedError } from "../errors/errors";
import { findOrProveAbsent } from "../records/absence";
import { KNOWN_OPTIONS } from "../records/callOptions";
import type { KnownOptions } from "../records/collection";
import { existing, getRecord } from "../records/reads";
import { aFunction, type OptionChecks, positiveMs } from "../transport/callOptions";
import type { ObservedOptions } from "../transport/requestOptions";
import { countActivePods, type EndpointCollection } from "./calls";
import { changedNothing, putBack, type ScaleDownOptions } from "./putBack";
import type { Endpoint } from "./record";
import { saveWorkers } from "./saveWorkers";
import { AT_ZERO, countsOf, isAtZero, type WorkerLimits } from "./workerLimits";

/** The options of `recycleWorkers`. */
export interface RecycleOptions extends KnownOptions, ScaleDownOptions {
  /**
   * How long to wait for the workers to complete their jobs and stop, in milliseconds (> 0).
   * @default 600_000
   */
  readonly drainTimeoutMs?: number | undefined;
  /** Called repeatedly while workers are still running. */
  readonly onProgress?:
    | ((progress: {
        /** The number of pods that are still running. */
        readonly activePods: number;
        /** The time since the endpoint was scaled to zero, in milliseconds. */
        readonly elapsedMs: number;
      }) => void)
    | undefined;
}

export const RECYCLE_OPTIONS: OptionChecks<RecycleOptions> = {
  ...KNOWN_OPTIONS,
  drainTimeoutMs: positiveMs,
  onProgress: aFunction,
  onScaleDown: aFunction,
  onPutBack: aFunction,
};

const DEFAULT_DRAIN_TIMEOUT_MS = 600_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Scales an endpoint to zero, waits until its workers have completed their jobs and stopped, and
 * sets the worker counts to `workers`. Waiting jobs stay in the queue. If the call was interrupted,
 * call it again to finish the remaining steps.
 * @throws RECYCLE_TIMEOUT if the workers do not stop in time; the first line says whether the
 * endpoint's worker counts were restored
 */
export async function recycleWorkers(
  collection: EndpointCollection,
  id: string,
  workers: WorkerLimits,
  given: RecycleOptions & ObservedOptions = {},
): Promise<Endpoint> {
  const { onScaleDown, onPutBack, known, ...options } = given;
  const found = await getRecord(collection, id, options);
  const wasAtZero = isAtZero(found);
  if (!wasAtZero) onScaleDown?.(countsOf(found));
  let isCertain = wasAtZero;
  try {
    const endpoint = wasAtZero ? found : await saveWorkers(collection, found, AT_ZERO, options);
    isCertain = true;
    await untilStopped(collection, id, options);
    return await saveWorkers(collection, endpoint, workers, { ...options, known });
  } catch (error) {
    if (!isCertain && changedNothing(error)) {
      onPutBack?.();
      throw error;
    }
    const scaledDown = { purpose: "recycle", counts: workers, isCertain };
    throw await putBack(collection, id, scaledDown, error, { ...options, onPutBack }, known);
  }
}

/** Waits until an up-to-date list shows no pods. */
async function untilStopped(
  collection: EndpointCollection,
  id: string,
  { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS, onProgress, ...options }: RecycleOptions & ObservedOptions,
): Promise<void> {
  const { clock, kind, list } = collection;
  const startedAt = clock.monotonic();
  // The list may be out of date and show no pods, even though some have started since.
  let sawNoneAt: number | undefined;
  let activePods = 0;
  let now: Endpoint;
  await pollUntil({
    clock,
    signal: options.signal,
    firstPauseMs: FIRST_PAUSE_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    timeoutMs: drainTimeoutMs,
    async step() {
      now = existing(await findOrProveAbsent(collection, await list.read({}, options), id, options), kind, id);
      activePods = await countActivePods(collection, now, options);
      if (activePods > 0) sawNoneAt = undefined;
      else sawNoneAt ??= clock.monotonic();
      return sawNoneAt !== undefined && clock.monotonic() - startedAt >= LIST_LAG_MS ? true : undefined;
    },
    onPause(elapsedMs) {
      if (activePods > 0) onProgress?.({ activePods, elapsedMs });
    },
    onTimeout: () => recycleTimeout(now, activePods, drainTimeoutMs),
  });
}

function recycleTimeout({ id, name }: Endpoint, activePods: number, drainTimeoutMs: number): CodedError {
  const many = activePods === 1 ? "1 worker" : `${activePods} workers`;
  return new CodedError(
    "RECYCLE_TIMEOUT",
    `endpoint ${id} ("${name}") was not recycled: ${many} did not stop within ${Math.round(drainTimeoutMs / 1000)} s. Some ` +
      "of its workers may run the old version of the template. Wait for long jobs or cancel them, then try again",
  );
}
