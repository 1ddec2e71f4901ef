import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { RecycleTimeoutError } from "../errors";
import { lookFor } from "../records/absence";
import { existing, getRecord, type KnownOptions } from "../records/collection";
import type { ObservedOptions } from "../transport/requestOptions";
import { type Account, changeEndpoint, countActivePods } from "./calls";
import type { Endpoint, EndpointSettings } from "./record";

/** Options of `recycleWorkers`. */
export interface RecycleOptions extends KnownOptions {
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

/**
 * Scales an endpoint to zero, waits until its workers have completed their jobs and stopped, and restores `workers`. Jobs
 * that wait stay in the queue. Repeated after an interruption, it does the rest.
 * @throws RecycleTimeoutError if they do not stop in time; the endpoint has its workers again
 */
export async function recycleWorkers(
  account: Account,
  id: string,
  workers: Pick<EndpointSettings, "workersMin" | "workersMax">,
  { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS, onProgress, known, ...options }: RecycleOptions & ObservedOptions = {},
): Promise<Endpoint> {
  const { clock, kind, list } = account;
  const found = await getRecord(account, id, options);
  const isAtZero = found.workersMax === 0 && found.workersMin === 0;
  const endpoint = isAtZero ? found : await changeEndpoint(account, found, { workersMin: 0, workersMax: 0 }, options);
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
    if (sawNoneAt !== undefined && elapsedMs >= LIST_LAG_MS) break;
    if (elapsedMs >= drainTimeoutMs) {
      await changeEndpoint(account, endpoint, workers, options, known);
      throw recycleTimeout(now, activePods, drainTimeoutMs);
    }
    if (activePods > 0) onProgress?.({ activePods, elapsedMs: Math.round(elapsedMs) });
    await sleep(clock, Math.min(pollMs, Math.max(1, drainTimeoutMs - elapsedMs)), options.signal);
    pollMs = Math.min(LONGEST_POLL_MS, pollMs * 1.5);
  }
  return changeEndpoint(account, endpoint, workers, options, known);
}

function recycleTimeout({ id, name }: Endpoint, activePods: number, drainTimeoutMs: number): RecycleTimeoutError {
  const many = activePods === 1 ? "1 worker" : `${activePods} workers`;
  return new RecycleTimeoutError(
    `endpoint ${id} ("${name}") was not recycled: ${many} did not stop within ${Math.round(drainTimeoutMs / 1000)} s. It has ` +
      "its workers again, and some may run the old version of the template. Wait for long jobs or cancel them, then try again, " +
      "with more time if needed",
  );
}
