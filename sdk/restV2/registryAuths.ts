import { BusinessRuleError } from "../errors/errors";
import { REGISTRY_AUTH, REGISTRY_AUTH_FIELDS } from "../registryAuths/registryAuth";
import { ANOTHER_LOGIN, type RegistryAuthCalls, registryAuthSchema } from "../registryAuths/registryAuths";
import { v2Body } from "./format";
import { v2Requests } from "./requests";
import type { RestV2Transport } from "./transport";

export const REGISTRY_AUTH_LIST = {
  ...REGISTRY_AUTH,
  schema: registryAuthSchema,
  names: {
    list: "listRegistries",
    read: "getRegistry",
    create: "createRegistry",
    change: "updateRegistry",
    delete: "deleteRegistry",
  },
  path: "/registries",
  field: "registries",
};

/** Returns the requests over REST v2. REST v2 cannot change a credential. */
export function v2RegistryAuthCalls(transport: RestV2Transport): RegistryAuthCalls {
  const requests = v2Requests(transport, REGISTRY_AUTH_LIST);
  return {
    ...requests,
    create: (operation, settings, attempt) =>
      requests.create(operation, v2Body(REGISTRY_AUTH_FIELDS, settings), attempt),
    async change(operation) {
      throw new BusinessRuleError(`${operation}: ${ANOTHER_LOGIN}`);
    },
  };
}
