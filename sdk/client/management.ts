import { type Account, type Catalog, type CatalogCalls, createCatalog } from "../catalog/catalog";
import { hideEnv } from "../containers/input";
import type { DiagnosisCalls } from "../diagnosis/calls";
import { createDiagnoses, type Diagnoses } from "../diagnosis/diagnosis";
import type { HealthCounts } from "../diagnosis/gather";
import { createEndpointCollection, type EndpointCalls, type EndpointsContext } from "../endpoints/calls";
import { createEndpoints, type Endpoints } from "../endpoints/endpoints";
import type { OpenLog } from "../logs/calls";
import type { LogCalls } from "../logs/logs";
import { readWorkerLogs } from "../logs/tails";
import type { PodCalls } from "../pods/pods";
import { lackedCalls } from "../records/calls";
import { createCollection } from "../records/collection";
import { readShared } from "../records/reads";
import { createRegistryAuths, type RegistryAuthCalls, type RegistryAuths } from "../registryAuths/registryAuths";
import { createSecrets, type SecretCalls, type Secrets } from "../secrets/secrets";
import { TEMPLATE } from "../templates/template";
import { createTemplates, type TemplateCalls, type Templates } from "../templates/templates";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { VOLUME } from "../volumes/volume";
import { createVolumes, type VolumeCalls, type Volumes } from "../volumes/volumes";

/**
 * An account's endpoints: the functions that manage them, and the diagnosis of why jobs or workers
 * are waiting.
 */
export interface ManagedEndpoints extends Endpoints, Diagnoses {}

/** Creates the additional parts of a client's `endpoints`, using the requests that logs need. */
export type AddedToEndpoints<Added extends object> = (context: CallContext, calls: LogCalls) => Added;

/** The parts of a client that use the management API. */
export interface Management<Added extends object> {
  /**
   * Creates, changes, lists and deletes endpoints, and diagnoses why jobs or workers are waiting.
   */
  readonly endpoints: ManagedEndpoints & Added;
  /** Creates, changes, lists and deletes templates. */
  readonly templates: Templates;
  /** Creates, changes, lists and deletes registry credentials. */
  readonly registryAuths: RegistryAuths;
  /** Creates, changes, lists and deletes secrets. */
  readonly secrets: Secrets;
  /** Creates, changes, lists and deletes network volumes. */
  readonly volumes: Volumes;
  readonly pods: PodCalls;
  /** Reads RunPod's catalog: GPU types, pools, data centers, CPU flavors, stock and prices. */
  readonly catalog: Catalog;
  /** Reads the limits of the account. */
  readonly account: Account;
}

/**
 * The requests of a management API. An API that does not have a kind of record leaves its requests
 * out.
 */
export interface ManagementCalls {
  readonly endpoints: EndpointCalls;
  readonly templates: TemplateCalls;
  readonly registryAuths?: RegistryAuthCalls;
  readonly secrets?: SecretCalls;
  readonly volumes?: VolumeCalls;
  readonly pods: PodCalls;
  readonly catalog: CatalogCalls;
  readonly diagnosis: DiagnosisCalls;
  /** @default the API has no logs */
  readonly openLog?: OpenLog;
}

/**
 * Returns the parts of a client that use a management API. These parts share the lists that they
 * read.
 * @param health reads the counts of an endpoint's queue
 * @param added creates the additional parts of `endpoints`
 */
export function managementOf<Added extends object>(
  context: EndpointsContext,
  calls: ManagementCalls,
  health: ReadHealth,
  added: AddedToEndpoints<Added>,
): Management<Added> {
  const lacking = lackedCalls(context.capabilities.api);
  const volumes = createCollection(context, VOLUME, calls.volumes ?? lacking);
  const endpoints = createEndpointCollection(context, calls.endpoints, async (id) => {
    const { records } = await readShared(volumes, id, {});
    return records;
  });
  const templates = { ...createCollection(context, TEMPLATE, calls.templates), calls: calls.templates };
  const templateFunctions = createTemplates(templates, endpoints);
  const catalog = createCatalog(context, calls.catalog);
  const { openLog, diagnosis } = calls;
  const diagnoses = createDiagnoses(context, {
    calls: diagnosis,
    ...catalog,
    health,
    async volumePlaces(options) {
      const { records } = await volumes.list.read({}, options);
      return new Map(records.map(({ id, dataCenterId }) => [id, dataCenterId]));
    },
    logs: openLog && ((id, workerIds, signal) => readWorkerLogs(context, openLog, id, workerIds, signal)),
  });
  const ownContainers = context.capabilities.bindsTemplates ? undefined : endpoints;
  return {
    endpoints: {
      ...createEndpoints(endpoints, templateFunctions),
      ...diagnoses,
      ...added(context, { open: openLog, ...logCalls(context, diagnosis) }),
    },
    templates: templateFunctions,
    registryAuths: createRegistryAuths(context, calls.registryAuths ?? lacking, templates, ownContainers),
    secrets: createSecrets(context, calls.secrets ?? lacking, templates, ownContainers),
    volumes: createVolumes(volumes, endpoints),
    pods: calls.pods,
    ...catalog,
  };
}

/** Reads the counts of an endpoint's queue. */
type ReadHealth = (endpointId: string, options: ObservedOptions) => Promise<HealthCounts>;

/** Returns the requests with which logs find the workers and the values to hide. */
function logCalls(context: CallContext, { endpoint, workers }: DiagnosisCalls) {
  const read = <T>(name: string, operation: string, limits: RequestOptions, attempt: (each: Attempt) => Promise<T>) =>
    makeCall(context, { name, operation, repeatability: "safe", ...limits, attempt });
  return {
    async workerIds(id: string, limits: RequestOptions): Promise<readonly string[]> {
      const operation = `the workers of endpoint ${id}`;
      const found = await read("listWorkers", operation, limits, async (each) =>
        workers?.(operation, each, id, context.clock.now()),
      );
      return found?.ids ?? [];
    },
    async hideVariables(id: string, limits: RequestOptions): Promise<void> {
      const operation = `endpoint ${id}`;
      const found = await read("getEndpoint", operation, limits, (each) =>
        endpoint(operation, each, id, context.clock.now()),
      );
      if (found) hideEnv(found.env, [found.facts.name ?? ""]);
    },
  };
}
