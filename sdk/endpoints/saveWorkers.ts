import { NotFoundError, QuotaExceededError, RejectedError } from "../errors/errors";
import type { KnownOptions } from "../records/collection";
import { saveRecord } from "../records/records";
import type { ObservedOptions } from "../transport/requestOptions";
import type { EndpointCollection } from "./calls";
import type { Endpoint } from "./record";
import type { WorkerLimits } from "./workerLimits";

const VOLUMES = ["networkVolumeId", "networkVolumeIds"] as const;

/**
 * Saves the worker counts of an endpoint. Over GraphQL, a save sends the whole endpoint, and the
 * service rejects it if the endpoint's template or one of its volumes has been deleted. A rejected
 * save is sent again without the ids of the template and the volumes, because the service keeps the
 * values of omitted fields.
 */
export async function saveWorkers(
  collection: EndpointCollection,
  endpoint: Endpoint,
  { workersMin, workersMax }: WorkerLimits,
  options: KnownOptions & ObservedOptions,
): Promise<Endpoint> {
  const { calls } = collection;
  const save = (change = calls.change) =>
    saveRecord({ ...collection, calls: { ...calls, change } }, endpoint, { workersMin, workersMax }, options);
  let refusal: unknown;
  for (const leftOut of [[], ...(endpoint.networkVolumeIds ? [VOLUMES] : []), [...VOLUMES, "templateId"]] as const) {
    try {
      return await save(leftOut.length === 0 ? undefined : calls.changeWithout?.(leftOut));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // If the ids are not the cause, the first rejection states the actual reason. A rejection
      // after a retry replaces it, so that the caller learns that the outcome is open: the attempt
      // before the retry may have succeeded.
      if (refusal === undefined || error.attempts > 1) refusal = error;
      if (!calls.changeWithout) break;
    }
  }
  throw refusal;
}

function isRefusal(error: unknown): error is RejectedError | NotFoundError {
  const isRefused = error instanceof RejectedError || error instanceof NotFoundError;
  return isRefused && !(error instanceof QuotaExceededError);
}
