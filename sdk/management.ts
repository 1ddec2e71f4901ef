import { type Account, type Catalog, type CatalogCalls, createCatalog } from "./catalog/catalog";
import { graphqlCatalogCalls } from "./catalog/graphqlCalls";
import { v2CatalogCalls } from "./catalog/v2Calls";
import { hideEnv } from "./containers/input";
import { hasRestV1, type ServiceName } from "./contract/limits";
import type { DiagnosisCalls } from "./diagnosis/calls";
import { type ClientEndpoints, createDiagnoses } from "./diagnosis/diagnosis";
import type { HealthCounts } from "./diagnosis/gather";
import { graphqlDiagnosisCalls } from "./diagnosis/graphqlCalls";
import { v2DiagnosisCalls } from "./diagnosis/v2Calls";
import { createEndpointCollection, type EndpointCalls, type EndpointsContext } from "./endpoints/calls";
import { createEndpoints } from "./endpoints/endpoints";
import { graphqlEndpointCalls } from "./endpoints/graphqlCalls";
import { ENDPOINT_LIST, v2EndpointCalls } from "./endpoints/v2Calls";
import { type OpenLog, v2OpenLog } from "./logs/calls";
import { createLogs } from "./logs/logs";
import { readWorkerLogs } from "./logs/tails";
import type { PodCalls } from "./pods/pods";
import { v2PodCalls } from "./pods/v2Calls";
import { createCollection } from "./records/collection";
import { readShared } from "./records/reads";
import { v2Names } from "./records/v2Calls";
import { graphqlRegistryAuthCalls, type RegistryAuthCalls } from "./registryAuths/graphqlCalls";
import { createRegistryAuths, type RegistryAuths } from "./registryAuths/registryAuths";
import { REGISTRY_AUTH_LIST, v2RegistryAuthCalls } from "./registryAuths/v2Calls";
import { graphqlSecretCalls, type SecretCalls } from "./secrets/graphqlCalls";
import { createSecrets, type Secrets } from "./secrets/secrets";
import { SECRET_LIST, v2SecretCalls } from "./secrets/v2Calls";
import { graphqlTemplateCalls, TEMPLATE, type TemplateCalls } from "./templates/graphqlCalls";
import { createTemplates, type Templates } from "./templates/templates";
import { TEMPLATE_LIST, v2TemplateCalls } from "./templates/v2Calls";
import type { GraphqlTransport } from "./transport/graphql";
import type { ObservedOptions } from "./transport/requestOptions";
import type { RestV2Transport } from "./transport/restV2";
import { type Attempt, type CallContext, makeCall } from "./transport/retryingCall";
import { graphqlVolumeCalls, VOLUME, type VolumeCalls } from "./volumes/graphqlCalls";
import { VOLUME_LIST, v2VolumeCalls } from "./volumes/v2Calls";
import { createVolumes, type Volumes } from "./volumes/volumes";

/** The parts of a client that the management interface serves. */
export interface Management {
  readonly endpoints: ClientEndpoints;
  readonly templates: Templates;
  readonly registryAuths: RegistryAuths;
  readonly secrets: Secrets;
  readonly volumes: Volumes;
  readonly pods: PodCalls;
  readonly catalog: Catalog;
  readonly account: Account;
}

/** The requests of one management interface. */
interface ManagementCalls {
  readonly endpoints: EndpointCalls;
  readonly templates: TemplateCalls;
  readonly registryAuths: RegistryAuthCalls;
  readonly secrets: SecretCalls;
  readonly volumes: VolumeCalls;
  readonly pods: PodCalls;
  readonly catalog: CatalogCalls;
  readonly diagnosis: DiagnosisCalls;
  /** @default the interface has no logs */
  readonly openLog?: OpenLog;
}

/**
 * Returns the requests over GraphQL. If a list may be cut off, REST v2 shows which records exist.
 * GraphQL cannot read pods: REST v1 does, or REST v2 at a service that has retired REST v1.
 */
export function graphqlCalls(
  context: CallContext,
  transport: GraphqlTransport,
  service: ServiceName | undefined,
  restPods: PodCalls,
  v2: RestV2Transport,
): ManagementCalls {
  const templates = graphqlTemplateCalls(context, transport);
  const endpoints = graphqlEndpointCalls(context, transport, service, templates.readBound);
  return {
    endpoints: { ...endpoints, readNames: v2Names(v2, ENDPOINT_LIST) },
    templates: { ...templates, readNames: v2Names(v2, TEMPLATE_LIST) },
    registryAuths: { ...graphqlRegistryAuthCalls(transport), readNames: v2Names(v2, REGISTRY_AUTH_LIST) },
    secrets: { ...graphqlSecretCalls(transport), readNames: v2Names(v2, SECRET_LIST) },
    volumes: { ...graphqlVolumeCalls(transport), readNames: v2Names(v2, VOLUME_LIST) },
    pods: hasRestV1(service) ? restPods : v2PodCalls(v2),
    catalog: graphqlCatalogCalls(transport),
    diagnosis: graphqlDiagnosisCalls(transport),
  };
}

/** Returns the requests over REST v2. */
export function v2Calls(context: CallContext, transport: RestV2Transport): ManagementCalls {
  return {
    endpoints: v2EndpointCalls(context, transport),
    templates: v2TemplateCalls(transport),
    registryAuths: v2RegistryAuthCalls(transport),
    secrets: v2SecretCalls(transport),
    volumes: v2VolumeCalls(transport),
    pods: v2PodCalls(transport),
    catalog: v2CatalogCalls(transport),
    diagnosis: v2DiagnosisCalls(transport),
    openLog: v2OpenLog(transport),
  };
}

/**
 * Returns the parts that a management interface serves. They share their lists.
 * @param health reads the counts of an endpoint's queue
 */
export function createManagement(context: EndpointsContext, calls: ManagementCalls, health: ReadHealth): Management {
  const volumes = createCollection(context, VOLUME, calls.volumes);
  const endpoints = createEndpointCollection(context, calls.endpoints, async (id) => {
    const { records } = await readShared(volumes, id, {});
    return records;
  });
  const templates = { ...createCollection(context, TEMPLATE, calls.templates), calls: calls.templates };
  const templateFunctions = createTemplates(templates, endpoints);
  const catalog = createCatalog(context, calls.catalog);
  const { openLog, diagnosis } = calls;
  const diagnoses = createDiagnoses(context, {
    ...{ calls: diagnosis, ...catalog, health },
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
      ...createLogs(context, { open: openLog, ...logCalls(context, diagnosis) }),
    },
    templates: templateFunctions,
    registryAuths: createRegistryAuths(context, calls.registryAuths, templates, ownContainers),
    secrets: createSecrets(context, calls.secrets, templates, ownContainers),
    volumes: createVolumes(volumes, endpoints),
    pods: calls.pods,
    ...catalog,
  };
}

/** Reads the counts of an endpoint's queue. */
export type ReadHealth = (endpointId: string, options: ObservedOptions) => Promise<HealthCounts>;

/** Returns the requests with which logs find their workers, and the values to hide. */
function logCalls(context: CallContext, { endpoint, workers }: DiagnosisCalls) {
  const read = <T>(
    name: string,
    operation: string,
    signal: AbortSignal | undefined,
    attempt: (each: Attempt) => Promise<T>,
  ) => makeCall(context, { name, operation, repeatability: "safe", signal, attempt });
  return {
    async workerIds(id: string, signal: AbortSignal | undefined): Promise<readonly string[]> {
      const operation = `the workers of endpoint ${id}`;
      const found = await read("listWorkers", operation, signal, async (each) =>
        workers?.(operation, id, context.clock.now(), each),
      );
      return found?.ids ?? [];
    },
    async hideVariables(id: string, signal: AbortSignal | undefined): Promise<void> {
      const operation = `endpoint ${id}`;
      const found = await read("getEndpoint", operation, signal, (each) => endpoint(operation, id, each));
      if (found) hideEnv(found.env, [found.facts.name ?? ""]);
    },
  };
}
