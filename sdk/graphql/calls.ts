import type { ServiceName } from "../contract/limits";
import type { CallContext } from "../transport/retryingCall";
import { graphqlCatalogCalls } from "./catalog";
import { graphqlDiagnosisCalls } from "./diagnosis";
import { graphqlEndpointCalls } from "./endpoints";
import { graphqlRegistryAuthCalls } from "./registryAuths";
import { graphqlSecretCalls } from "./secrets";
import { graphqlTemplateCalls } from "./templates";
import type { GraphqlTransport } from "./transport";
import { graphqlVolumeCalls } from "./volumes";

/** Returns the requests over GraphQL, which cannot read pods. */
export function graphqlCalls(context: CallContext, transport: GraphqlTransport, service: ServiceName | undefined) {
  const templates = graphqlTemplateCalls(context, transport);
  return {
    templates,
    endpoints: graphqlEndpointCalls(context, transport, service, templates.readBound),
    registryAuths: graphqlRegistryAuthCalls(transport),
    secrets: graphqlSecretCalls(transport),
    volumes: graphqlVolumeCalls(transport),
    catalog: graphqlCatalogCalls(transport),
    diagnosis: graphqlDiagnosisCalls(transport),
  };
}
