import type { NamesCall } from "../records/calls";
import type { CallContext } from "../transport/retryingCall";
import { v2CatalogCalls } from "./catalog";
import { v2DiagnosisCalls } from "./diagnosis";
import { ENDPOINT_LIST, v2EndpointCalls } from "./endpoints";
import { v2OpenLog } from "./logs";
import { v2PodCalls } from "./pods";
import { REGISTRY_AUTH_LIST, v2RegistryAuthCalls } from "./registryAuths";
import { v2Names } from "./requests";
import { SECRET_LIST, v2SecretCalls } from "./secrets";
import { TEMPLATE_LIST, v2TemplateCalls } from "./templates";
import type { RestV2Transport } from "./transport";
import { VOLUME_LIST, v2VolumeCalls } from "./volumes";

/** Returns the requests over REST v2. */
export function v2Calls(context: CallContext, transport: RestV2Transport) {
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

/** Returns the reads of the names of each kind's records. */
export function v2NameCalls(transport: RestV2Transport): Readonly<Record<RecordsName, NamesCall>> {
  return {
    endpoints: v2Names(transport, ENDPOINT_LIST),
    templates: v2Names(transport, TEMPLATE_LIST),
    registryAuths: v2Names(transport, REGISTRY_AUTH_LIST),
    secrets: v2Names(transport, SECRET_LIST),
    volumes: v2Names(transport, VOLUME_LIST),
  };
}

/** The kinds of records, as the client names them. */
type RecordsName = "endpoints" | "templates" | "registryAuths" | "secrets" | "volumes";
