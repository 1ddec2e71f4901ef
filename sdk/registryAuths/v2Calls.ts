import { BusinessRuleError } from "../errors";
import { v2Requests } from "../records/v2Calls";
import type { RestV2Transport } from "../transport/restV2";
import { REGISTRY_AUTH, type RegistryAuthCalls } from "./graphqlCalls";
import { ANOTHER_LOGIN } from "./input";

export const REGISTRY_AUTH_LIST = {
  ...REGISTRY_AUTH,
  names: { list: "listRegistries", create: "createRegistry", change: "updateRegistry", delete: "deleteRegistry" },
  path: "/registries",
  field: "registries",
};

/** Returns the requests over REST v2, which cannot change a credential. */
export function v2RegistryAuthCalls(transport: RestV2Transport): RegistryAuthCalls {
  const requests = v2Requests(transport, REGISTRY_AUTH_LIST);
  return {
    ...requests,
    create: (operation, { name, username, password }, attempt) =>
      requests.create(operation, { name, username, password }, attempt),
    async change(operation) {
      throw new BusinessRuleError(`${operation}: ${ANOTHER_LOGIN}`);
    },
  };
}
