import type { EndpointFields, EndpointRecord, EndpointSeed } from "../model/endpointFields";
import type { WorkerPod } from "../workers/workerPool";
import type { Endpoint, Endpoints } from "./endpoints";

/** An endpoint as it is at one moment, with its workers. */
export interface EmulatedEndpoint extends Readonly<EndpointRecord> {
  /** Its workers, those that are draining among them. */
  readonly pods: readonly Readonly<WorkerPod>[];
}

/** Looks at endpoints, and changes them behind the client's back. Nothing of it is recorded in the journal. */
export interface EndpointControl {
  /** All endpoints, in order of creation. */
  list(): EmulatedEndpoint[];
  /** One endpoint, or nothing when there is none. */
  get(id: string): EmulatedEndpoint | undefined;
  /** Creates an endpoint by the service's rules and with its defaults. Throws when a rule forbids it. */
  create(seed: EndpointSeed): EmulatedEndpoint;
  /** Changes the given fields, whatever their values. Throws when there is no such endpoint. */
  change(id: string, patch: Partial<EndpointFields>): EmulatedEndpoint;
  /** Deletes at once, whatever its workers do. Returns false when there is none. */
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
