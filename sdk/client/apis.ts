import { hasRestV1, type ManagementApi, type ServiceName } from "../contract/limits";
import { graphqlAccountId, graphqlCatalogCalls } from "../graphql/catalog";
import { graphqlDiagnosisCalls } from "../graphql/diagnosis";
import { graphqlEndpointCalls } from "../graphql/endpoints";
import { graphqlRegistryAuthCalls } from "../graphql/registryAuths";
import { graphqlSecretCalls } from "../graphql/secrets";
import { graphqlTemplateCalls } from "../graphql/templates";
import type { GraphqlTransport } from "../graphql/transport";
import { graphqlVolumeCalls } from "../graphql/volumes";
import type { PodCalls } from "../pods/pods";
import { v2CatalogCalls } from "../restV2/catalog";
import { v2DiagnosisCalls } from "../restV2/diagnosis";
import { ENDPOINT_LIST, v2EndpointCalls } from "../restV2/endpoints";
import { v2OpenLog } from "../restV2/logs";
import { v2PodCalls } from "../restV2/pods";
import { REGISTRY_AUTH_LIST, v2RegistryAuthCalls } from "../restV2/registryAuths";
import { v2Names, v2Requests } from "../restV2/requests";
import { SECRET_LIST, v2SecretCalls } from "../restV2/secrets";
import { TEMPLATE_LIST, v2TemplateCalls } from "../restV2/templates";
import type { RestV2Transport } from "../restV2/transport";
import { VOLUME_LIST, v2VolumeCalls } from "../restV2/volumes";
import type { CallContext } from "../transport/call";
import type { ManagementCalls } from "./management";

/**
 * Returns the requests over the API that a client uses. This is the only file that knows both APIs.
 * @param restPods the requests that read pods over REST v1
 * @param onStatus called with the status of each response over GraphQL
 */
export function callsOver(
  api: ManagementApi,
  context: CallContext,
  { http, apiKey, limits, url }: RestV2Transport,
  service: ServiceName | undefined,
  restPods: PodCalls,
  onStatus?: GraphqlTransport["onStatus"],
): ManagementCalls {
  const v2 = { http, apiKey, url, limits };
  if (api === "v2") {
    const overGraphql = graphqlEndpointCalls(context, { http, apiKey, url }, service);
    return {
      endpoints: { ...v2EndpointCalls(context, v2), ...(service === "runpod" && { overGraphql }) },
      templates: v2TemplateCalls(v2),
      registryAuths: v2RegistryAuthCalls(v2),
      secrets: v2SecretCalls(v2),
      volumes: v2VolumeCalls(v2),
      pods: v2PodCalls(v2),
      catalog: { ...v2CatalogCalls(v2), accountId: (...args) => graphqlAccountId({ http, apiKey, url }, ...args) },
      diagnosis: v2DiagnosisCalls(v2),
      openLog: v2OpenLog(v2),
    };
  }
  const graphql = { http, apiKey, url, onStatus };
  const templates = graphqlTemplateCalls(context, graphql);
  // If a list returned by GraphQL may be cut off, REST v2 shows which records exist.
  const withNames = <Calls>(calls: Calls, list: Parameters<typeof v2Names>[1]) => ({
    ...calls,
    readNames: v2Names(v2, list),
  });
  return {
    endpoints: withNames(graphqlEndpointCalls(context, graphql, service, templates.readBound), ENDPOINT_LIST),
    templates: withNames(templates, TEMPLATE_LIST),
    registryAuths: {
      ...withNames(graphqlRegistryAuthCalls(graphql), REGISTRY_AUTH_LIST),
      ownContainers: v2Requests(v2, ENDPOINT_LIST).list,
    },
    secrets: withNames(graphqlSecretCalls(graphql), SECRET_LIST),
    volumes: withNames(graphqlVolumeCalls(graphql), VOLUME_LIST),
    catalog: graphqlCatalogCalls(graphql),
    diagnosis: graphqlDiagnosisCalls(graphql),
    // GraphQL cannot read pods. At a service that has retired REST v1, REST v2 reads them.
    pods: hasRestV1(service) ? restPods : v2PodCalls(v2),
  };
}
