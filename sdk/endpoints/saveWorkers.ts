import { NotFoundError, QuotaExceededError, RejectedError } from "../errors";
import type { KnownOptions } from "../records/collection";
import { saveRecord } from "../records/records";
import type { ObservedOptions } from "../transport/requestOptions";
import type { EndpointCollection } from "./calls";
import type { Endpoint } from "./record";
import type { WorkerLimits } from "./workerLimits";

const VOLUMES = ["networkVolumeId", "networkVolumeIds"] as const;

/**
 * Saves the worker counts of an endpoint. A save over GraphQL repeats the whole endpoint, and the
 * service refuses it if a volume or the template was deleted under the endpoint. A refused save is
 * sent again without their ids: what a save leaves out stays as it is.
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
      // If the ids are not the reason, the first refusal says what is. But a retry that was refused
      // proves nothing: the attempt before it may have had its effect.
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
