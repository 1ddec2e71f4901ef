import { pollUntil, sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { BusinessRuleError, InvalidInputError, NotFoundError, RejectedError } from "../errors/errors";
import { look, lookAfterDeletion } from "../records/absence";
import { readSharedWith } from "../records/reads";
import type { ObservedOptions } from "../transport/requestOptions";
import { activeAmong, countActivePods, type EndpointCollection, sendDelete } from "./calls";
import type { DeleteOptions, DeleteProgress } from "./deleteOptions";
import { atZeroForGood, deleteTimeout, maybeDeleted, STILL_LISTED, UNKNOWN_YET_LISTED } from "./deletionErrors";
import { drainProblems } from "./interfaceLimits";
import { changedNothing, putBack } from "./putBack";
import type { Endpoint } from "./record";
import { saveWorkers } from "./saveWorkers";
import { deleteStandIn, scaleWithStandIn, type TemplateFunctions } from "./standInTemplate";
import { refuseSharedDeletion } from "./templateUsers";
import { AT_ZERO, countsOf, isAtZero, type WorkerLimits } from "./workerLimits";

const DEFAULT_DRAIN_TIMEOUT_MS = 600_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

const NOT_AT_ZERO = "its workersMin and workersMax do not stay at zero";

/** A deletion in progress. */
interface Deletion {
  readonly collection: EndpointCollection;
  readonly templates: TemplateFunctions;
  readonly id: string;
  readonly options: DeleteOptions & ObservedOptions;
  /** The id of the template that replaces one that no longer exists. */
  standIn: string | undefined;
  /**
   * When the deletion started, in milliseconds of the monotonic clock. All other times use the same
   * clock.
   */
  readonly startedAt: number;
  /**
   * The time from which `drainTimeoutMs` counts. This is not the start of the deletion, because a
   * rate limit may delay the request that scales the endpoint to zero by several minutes.
   */
  drainsFrom: number | undefined;
  scaledAt: number;
  /** The worker counts before the first save that scaled the endpoint to zero. */
  counts: WorkerLimits | undefined;
  /**
   * The reason why the endpoint still exists. It becomes part of the error if the deletion times
   * out.
   */
  obstacle: string;
  /** The endpoint as returned by the save that scaled it to zero, if it had no workers before. */
  saved: Endpoint | undefined;
  /**
   * `true` once the service has accepted the deletion. After that, an outdated list may still show
   * the endpoint.
   */
  isAccepted: boolean;
  /** `true` while the outcome of a deletion that was sent is not known. */
  isOpen: boolean;
  /**
   * The id of the template that belongs to the endpoint, as last read or as given by the caller.
   */
  boundTemplateId: string | undefined;
}

/**
 * Reads the endpoint and performs the next step, repeatedly, until it is certain that the endpoint
 * is gone. Every step can be repeated, so a later call can finish a deletion that was interrupted
 * at any point.
 * @returns the id of the template that belonged to the endpoint, unless that template is certain to
 * be gone
 */
export async function deleteEndpoint(
  collection: EndpointCollection,
  templates: TemplateFunctions,
  id: string,
  options: DeleteOptions & ObservedOptions,
): Promise<string | undefined> {
  const problems = drainProblems(collection.capabilities, options.drain);
  if (problems.length > 0) throw new InvalidInputError(`the deletion of endpoint ${id}`, problems);
  const { boundTemplateId } = options;
  const deletion: Deletion = {
    collection,
    templates,
    id,
    options,
    startedAt: collection.clock.monotonic(),
    obstacle: "",
    scaledAt: Number.NEGATIVE_INFINITY,
    isAccepted: false,
    isOpen: false,
    boundTemplateId,
    standIn: undefined,
    drainsFrom: undefined,
    counts: undefined,
    saved: undefined,
  };
  const leave = collection.list.join();
  try {
    const seen = await untilGone(deletion);
    const isOther = Boolean(options.templateId) && seen?.templateId !== options.templateId;
    const templateId = deletion.standIn ?? (isOther ? seen?.templateId : undefined);
    if (templateId) await deleteStandIn(collection, templates, { id, templateId }, options);
    return deletion.boundTemplateId;
  } catch (error) {
    const { counts, scaledAt, standIn, isOpen, isAccepted } = deletion;
    if (isOpen || isAccepted) {
      if (await isGoneAfterAll(deletion)) return deletion.boundTemplateId;
      throw maybeDeleted(error, deletion);
    }
    if (standIn) throw atZeroForGood(error, id, standIn);
    if (!counts) throw error;
    // Without `workers`, only a successful save proves that the endpoint is at zero.
    const isCertain = scaledAt > Number.NEGATIVE_INFINITY || counts === options.workers;
    throw await putBack(collection, id, { purpose: "deletion", counts, isCertain }, error, options);
  } finally {
    leave();
  }
}

async function untilGone(deletion: Deletion): Promise<Endpoint | undefined> {
  const { collection, id, options } = deletion;
  const { drainTimeoutMs = DEFAULT_DRAIN_TIMEOUT_MS, signal } = options;
  const { clock, list } = collection;
  let endpoint = await look(collection, await readSharedWith(collection, id, options), id, options);
  if (endpoint) await refuseSharedDeletion(collection, endpoint, options);
  let isFirst = true;
  let seen = endpoint;
  await pollUntil({
    clock,
    signal,
    firstPauseMs: FIRST_PAUSE_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    rest: (wait: Promise<void>) => list.rest(wait),
    timeoutMs: drainTimeoutMs,
    startedAt: () => deletion.drainsFrom ?? deletion.startedAt,
    async step() {
      for (;;) {
        if (!isFirst) endpoint = deletion.saved ?? (await observe(deletion));
        isFirst = false;
        deletion.saved = undefined;
        // Don't send the deletion to what may be the wrong account, because a service may report
        // success for any unknown id.
        if (!endpoint && !seen) options.onAbsent?.();
        seen = endpoint ?? seen;
        if (endpoint?.template?.isBound) deletion.boundTemplateId = endpoint.templateId;
        const next = await doNextStep(deletion, endpoint);
        if (next !== "look") return next === "gone" ? true : undefined;
      }
    },
    onTimeout: () => deleteTimeout(deletion, drainTimeoutMs, seen !== undefined),
  });
  return seen;
}

/**
 * What to do after a step of a deletion: read the endpoint again, read it again after a pause, or
 * stop because the endpoint is gone.
 */
type Next = "look" | "pause" | "gone";

async function doNextStep(deletion: Deletion, endpoint: Endpoint | undefined): Promise<Next> {
  const { options } = deletion;
  if (endpoint && isAtZero(endpoint) && !deletion.standIn) deletion.counts ??= options.workers;
  const drained = options.drain === false || deletion.isAccepted ? undefined : endpoint;
  if (drained && !isAtZero(drained)) return scaleToZero(deletion, drained);
  const activePods = drained ? await podsOf(deletion, drained) : 0;
  if (activePods === 0) return deleteNow(deletion, endpoint);
  deletion.obstacle = `${activePods} of its workers still ${activePods === 1 ? "runs" : "run"}`;
  report(deletion, "draining", activePods);
  return "pause";
}

/**
 * Scales the endpoint to zero. A "not found" response is not an error if the list proves that the
 * endpoint is gone.
 */
async function scaleToZero(deletion: Deletion, endpoint: Endpoint): Promise<Next> {
  const { collection, templates, options } = deletion;
  // For a while after a change, the list may still show the earlier values.
  if (collection.clock.monotonic() - deletion.scaledAt < LIST_LAG_MS) return "pause";
  deletion.obstacle = NOT_AT_ZERO;
  report(deletion, "scaling to zero", activeAmong(endpoint.pods));
  const isFirst = deletion.counts === undefined;
  if (isFirst) {
    options.onScaleDown?.(countsOf(endpoint));
    deletion.counts = countsOf(endpoint);
  }
  try {
    const saved = await saveWorkers(collection, endpoint, AT_ZERO, options).catch(async (error: unknown) => {
      deletion.standIn = await scaleWithStandIn(collection, templates, endpoint, error, options);
      // The previous worker counts can't be restored, because the workers would run a different
      // image.
      options.onPutBack?.();
    });
    // If the endpoint had workers, don't use the saved copy, because only a new list can show that
    // the workers are gone.
    if (saved && activeAmong(endpoint.pods) === 0 && isAtZero(saved)) deletion.saved = saved;
  } catch (error) {
    if (isFirst && changedNothing(error)) {
      deletion.counts = undefined;
      options.onPutBack?.();
    }
    const isNotFound = error instanceof NotFoundError;
    if (!isNotFound || ((await observe(deletion)) && !(await isStillUnknown(deletion)))) throw error;
  }
  deletion.scaledAt = collection.clock.monotonic();
  deletion.drainsFrom ??= deletion.scaledAt;
  return "look";
}

/** The time limit of a read after an abort, in milliseconds. */
const AFTER_ABORT_MS = 10_000;

/**
 * Returns `true` if an endpoint whose deletion was sent is gone although the deletion has failed or
 * was aborted since.
 */
async function isGoneAfterAll({ collection, id, options, isAccepted }: Deletion): Promise<boolean> {
  const { signal, ...others } = options;
  const limits = signal?.aborted ? { ...others, timeoutMs: AFTER_ABORT_MS } : options;
  try {
    const isAbsent = async () => {
      const listed = await collection.list.read({ gathers: true }, limits);
      return (await look(collection, listed, id, limits)) === undefined;
    };
    if (!(await isAbsent())) return false;
    if (isAccepted) return true;
    // The service has not confirmed this deletion, so a single look does not prove it.
    await sleep(collection.clock, LIST_LAG_MS);
    return await isAbsent();
  } catch {
    return false;
  }
}

/**
 * Returns the number of pods that are still running. An endpoint that has disappeared in the
 * meantime has no pods.
 */
async function podsOf({ collection, options }: Deletion, endpoint: Endpoint): Promise<number> {
  return countActivePods(collection, endpoint, options).catch((error: unknown) => {
    if (error instanceof NotFoundError) return 0;
    throw error;
  });
}

/** Sends the deletion and verifies that the endpoint is gone. */
async function deleteNow(deletion: Deletion, endpoint: Endpoint | undefined): Promise<Next> {
  report(deletion, "deleting");
  try {
    await sendDelete(deletion.collection, deletion.id, deletion.options, () => {
      deletion.isOpen = true;
    });
    deletion.obstacle = STILL_LISTED;
    deletion.isAccepted = true;
    deletion.isOpen = false;
  } catch (error) {
    if (error instanceof NotFoundError || (error instanceof RejectedError && changedNothing(error))) {
      deletion.isOpen = false;
    }
    if (error instanceof NotFoundError && !endpoint) return (await isStillUnknown(deletion)) ? "gone" : "pause";
    if (error instanceof BusinessRuleError) {
      // The service may take a while to notice that the workers are gone.
      deletion.obstacle = error.message;
      deletion.isAccepted = false;
      report(deletion, "deleting", 0, error.message);
      return "pause";
    }
    if (!(error instanceof NotFoundError)) throw error;
    deletion.obstacle = UNKNOWN_YET_LISTED;
  }
  report(deletion, "proving gone");
  return (await isGone(deletion)) ? "gone" : "pause";
}

/**
 * Returns `true` if the endpoint is absent, either now or after the time by which lists can lag.
 * The same request also checks the template that belonged to the endpoint.
 */
async function isGone(deletion: Deletion): Promise<boolean> {
  const { collection, id, options, boundTemplateId } = deletion;
  const look = async () => {
    const { record, isOtherGone } = await lookAfterDeletion(collection, id, options, boundTemplateId);
    if (isOtherGone && !record) deletion.boundTemplateId = undefined;
    return !record;
  };
  if (await look()) return true;
  await collection.list.rest(sleep(collection.clock, LIST_LAG_MS, options.signal));
  return look();
}

/**
 * Returns `true` if an endpoint that was not found is still missing after the time by which lists
 * can lag.
 */
async function isStillUnknown(deletion: Deletion): Promise<boolean> {
  const { collection, options } = deletion;
  await collection.list.rest(sleep(collection.clock, LIST_LAG_MS, options.signal));
  return (await observe(deletion)) === undefined;
}

/**
 * Returns the endpoint, from a list that was requested after this call or from a read by id.
 * Deletions that read at the same time share these requests.
 */
async function observe({ collection, id, options }: Deletion): Promise<Endpoint | undefined> {
  return look(collection, await collection.list.read({ gathers: true }, options), id, options);
}

function report(
  { collection, options, startedAt }: Deletion,
  phase: DeleteProgress["phase"],
  activePods = 0,
  refusal?: string,
) {
  const elapsedMs = Math.round(collection.clock.monotonic() - startedAt);
  options.onProgress?.({ phase, activePods, elapsedMs, ...(refusal === undefined ? {} : { refusal }) });
}
