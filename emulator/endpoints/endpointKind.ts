import {
  type EndpointFields,
  type EndpointRecord,
  type EndpointSeed,
  endpointPatchSchema,
  endpointSeedSchema,
} from "../model/endpointFields";
import { controlOf, type Kind, type RecordControl } from "../records/kind";
import type { WorkerPod } from "../workers/worker";
import type { Endpoint, EndpointSnapshot, Endpoints } from "./endpoints";
import { endpointSnapshotSchema } from "./snapshotSchema";

/** A snapshot of an endpoint with its workers. */
export interface EmulatedEndpoint extends Readonly<EndpointRecord> {
  /** The workers, including those that drain. */
  readonly pods: readonly Readonly<WorkerPod>[];
}

/**
 * Reads and changes endpoints directly, as the service itself or another user would. The journal
 * does not record these changes.
 */
export interface EndpointControl extends RecordControl<EndpointSeed, EndpointFields, EmulatedEndpoint> {}

export function endpointKind(endpoints: Endpoints): Kind<EndpointSeed, EndpointFields, EmulatedEndpoint> {
  const own = { noun: "endpoint", seedSchema: endpointSeedSchema, patchSchema: endpointPatchSchema };
  return {
    ...own,
    snapshotSchema: endpointSnapshotSchema,
    control: controlOf(
      own,
      { ...endpoints, list: endpoints.all, create: (seed) => endpoints.create(seed, seed.id ?? undefined) },
      view,
    ),
    snapshot: endpoints.snapshot,
    restore: (saved) => endpoints.restore(saved as EndpointSnapshot[]),
    clear: endpoints.clear,
  };
}

function view({ record, runtime }: Endpoint): EmulatedEndpoint {
  return { ...record, pods: runtime.pods().map((pod) => ({ ...pod })) };
}
