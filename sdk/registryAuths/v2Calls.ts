import { BusinessRuleError } from "../errors";
import { deleteV2, listV2, requestRecord } from "../records/v2Calls";
import type { RestV2Transport } from "../transport/restV2";
import { pathSegment } from "../transport/urls";
import { REGISTRY_AUTH, type RegistryAuthCalls } from "./graphqlCalls";

/** Returns the requests over REST v2, which cannot change a credential. */
export function v2RegistryAuthCalls(transport: RestV2Transport): RegistryAuthCalls {
  return {
    names: {
      list: "listRegistries",
      create: "createRegistry",
      change: "updateRegistry",
      delete: "deleteRegistry",
    },
    list(operation, attempt) {
      const list = { name: "listRegistries", operation, path: "/registries", field: "registries" };
      return listV2(transport, REGISTRY_AUTH, list, attempt);
    },
    create(operation, { name, username, password }, attempt) {
      const body = { name, username, password };
      const request = { name: "createRegistry", operation, method: "POST", path: "/registries", body } as const;
      return requestRecord(transport, REGISTRY_AUTH, request, attempt);
    },
    async change(operation) {
      throw new BusinessRuleError(
        `${operation}: REST v2 cannot change the user or the password of a registry credential. Nothing was changed. Give ` +
          "the credential another name: a new one is then created, and the old one is deleted when nothing uses it",
      );
    },
    delete: (operation, { id }, attempt) =>
      deleteV2(transport, { name: "deleteRegistry", operation, path: `/registries/${pathSegment("id", id)}` }, attempt),
  };
}
