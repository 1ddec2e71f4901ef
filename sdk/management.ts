import { createAccount, type EndpointsContext } from "./endpoints/calls";
import { createEndpoints, type Endpoints } from "./endpoints/endpoints";
import { createRegistryAuths, type RegistryAuths } from "./registryAuths/registryAuths";
import type { Secret } from "./secret";
import { createTemplateAccount, createTemplates, type Templates } from "./templates/templates";
import { createGraphqlTransport } from "./transport/graphql";
import type { Http } from "./transport/httpRequest";
import { createVolumes, type Volumes } from "./volumes/volumes";

/** The parts of a client that the management interface serves. */
export interface Management {
  readonly endpoints: Endpoints;
  readonly templates: Templates;
  readonly registryAuths: RegistryAuths;
  readonly volumes: Volumes;
}

/** Returns the parts that the management interface at `url` serves. They share their lists. */
export function createManagement(
  context: Omit<EndpointsContext, "transport">,
  http: Http,
  apiKey: Secret,
  url: () => string,
): Management {
  const transport = createGraphqlTransport(http, apiKey, url);
  const account = createAccount({ ...context, transport });
  const templateAccount = createTemplateAccount(context, transport);
  return {
    endpoints: createEndpoints(account),
    templates: createTemplates(templateAccount, account),
    registryAuths: createRegistryAuths(context, transport, templateAccount),
    volumes: createVolumes(context, transport, account),
  };
}
