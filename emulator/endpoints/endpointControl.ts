import type { EndpointFields, EndpointRecord, EndpointSeed } from "../model/endpointFields";
import type { WorkerPod } from "../workers/workerPool";
import type { Endpoint, Endpoints } from "./endpoints";

/** A snapshot of an endpoint with its workers. */
export interface EmulatedEndpoint extends Readonly<EndpointRecord> {
  /** The workers, including those that drain. */
  readonly pods: readonly Readonly<WorkerPod>[];
}

/** Reads and changes endpoints directly, as the service itself or another user would. The journal records none of it. */
export interface EndpointControl {
  /** Returns all endpoints, in order of creation. */
  list(): EmulatedEndpoint[];
  /** Returns an endpoint, or `undefined` if it does not exist. */
  get(id: string): EmulatedEndpoint | undefined;
  /**
   * Creates an endpoint with the defaults of the service.
   * @throws Error if a rule of the service forbids it, RangeError if the id exists
   */
  create(seed: EndpointSeed): EmulatedEndpoint;
  /**
   * Changes fields to any values, without checking the rules of the service.
   * @throws Error if the endpoint does not exist
   */
  change(id: string, patch: Partial<EndpointFields>): EmulatedEndpoint;
  /** Deletes an endpoint and its workers immediately. Returns `false` if it does not exist. */
  delete(id: string): boolean;
}

export function createEndpointControl(endpoints: Endpoints): EndpointControl {
  return {
    list: () => endpoints.all().map(view),
    get(id) {
      const endpoint = endpoints.find(id);
      return endpoint && view(endpoint);
    },
    create: (seed) => view(endpoints.create(seed, seed.id ?? undefined)),
    change: (id, patch) => view(endpoints.change(id, patch)),
    delete: (id) => endpoints.remove(id),
  };
}

function view({ record, runtime }: Endpoint): EmulatedEndpoint {
  return { ...record, pods: runtime.pods().map((pod) => ({ ...pod })) };
}
