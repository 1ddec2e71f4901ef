import { LIST_CAP } from "../contract/limits";
import { decodeRecords } from "../records/listed";
import { REGISTRY_AUTH } from "../registryAuths/registryAuth";
import { type RegistryAuthCalls, registryAuthSchema } from "../registryAuths/registryAuths";
import { readMyself, sendDeletion, sendSave } from "./requests";
import type { GraphqlTransport } from "./transport";

/**
 * The service can also return the username and the password, but the client never requests them.
 */
const SELECTION = "id name";

/** Returns the requests over GraphQL. */
export function graphqlRegistryAuthCalls(transport: GraphqlTransport): RegistryAuthCalls {
  return {
    names: { list: "myself", create: "saveRegistryAuth", change: "updateRegistryAuth", delete: "deleteRegistryAuth" },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `containerRegistryCreds { ${SELECTION} }`, attempt);
      return decodeRecords(
        { ...REGISTRY_AUTH, schema: registryAuthSchema },
        myself,
        "containerRegistryCreds",
        LIST_CAP,
      );
    },
    create(operation, { name, username, password }, attempt) {
      const mutation = { name: "saveRegistryAuth", input: { name, username, password }, selection: SELECTION };
      return sendSave(transport, operation, mutation, registryAuthSchema, attempt);
    },
    change(operation, { id }, { username, password }, attempt) {
      const mutation = { name: "updateRegistryAuth", input: { id, username, password }, selection: SELECTION };
      return sendSave(transport, operation, mutation, registryAuthSchema, attempt);
    },
    delete: (operation, { id }, attempt) =>
      sendDeletion(transport, operation, "deleteRegistryAuth", { registryAuthId: id }, attempt),
  };
}
