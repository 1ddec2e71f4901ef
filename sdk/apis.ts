import { hasRestV1, type ManagementApi, type ServiceName } from "./contract/limits";
import { graphqlCalls } from "./graphql/calls";
import type { ManagementCalls } from "./management";
import type { PodCalls } from "./pods/pods";
import { v2Calls, v2NameCalls } from "./restV2/calls";
import { v2PodCalls } from "./restV2/pods";
import type { RestV2Transport } from "./restV2/transport";
import type { CallContext } from "./transport/retryingCall";

/**
 * Returns the requests over the API that a client uses. No other file knows both.
 * @param restPods reads pods over REST v1
 */
export function callsOver(
  api: ManagementApi,
  context: CallContext,
  { http, apiKey, limits, url }: RestV2Transport,
  service: ServiceName | undefined,
  restPods: PodCalls,
): ManagementCalls {
  const v2 = { http, apiKey, url, limits };
  if (api === "v2") return v2Calls(context, v2);
  const calls = graphqlCalls(context, { http, apiKey, url }, service);
  // If a list of GraphQL may be cut off, REST v2 shows which records exist.
  const names = v2NameCalls(v2);
  return {
    ...calls,
    endpoints: { ...calls.endpoints, readNames: names.endpoints },
    templates: { ...calls.templates, readNames: names.templates },
    registryAuths: { ...calls.registryAuths, readNames: names.registryAuths },
    secrets: { ...calls.secrets, readNames: names.secrets },
    volumes: { ...calls.volumes, readNames: names.volumes },
    // GraphQL cannot read pods. REST v2 does at a service that has retired REST v1.
    pods: hasRestV1(service) ? restPods : v2PodCalls(v2),
  };
}
