import * as z from "zod";
import { LIST_CAP } from "../contract/limits";
import type { RecordCalls } from "../records/calls";
import { readMyself, remove, save } from "../records/graphqlCalls";
import { type Kind, readRecords } from "../records/listed";
import type { GraphqlTransport } from "../transport/graphql";
import type { RegistryAuth, RegistryAuthInput } from "./record";

/** The requests for registry credentials. Each is sent once. */
export type RegistryAuthCalls = RecordCalls<RegistryAuth, RegistryAuthInput>;

const registryAuthSchema = z.looseObject({ id: z.string().min(1), name: z.string() });

/** The service can also return the user and the password. The client never asks for them. */
const SELECTION = "id name";

export const REGISTRY_AUTH: Kind<RegistryAuth> = {
  noun: "registry credential",
  one: "a registry credential",
  schema: registryAuthSchema,
  hasUniqueNames: true,
};

/** Returns the requests over GraphQL. */
export function graphqlRegistryAuthCalls(transport: GraphqlTransport): RegistryAuthCalls {
  return {
    names: { list: "myself", create: "saveRegistryAuth", change: "updateRegistryAuth", delete: "deleteRegistryAuth" },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `containerRegistryCreds { ${SELECTION} }`, attempt);
      return readRecords(REGISTRY_AUTH, myself, "containerRegistryCreds", LIST_CAP);
    },
    create(operation, { name, username, password }, attempt) {
      const mutation = { name: "saveRegistryAuth", input: { name, username, password }, selection: SELECTION };
      return save(transport, operation, mutation, registryAuthSchema, attempt);
    },
    change(operation, { id }, { username, password }, attempt) {
      const mutation = { name: "updateRegistryAuth", input: { id, username, password }, selection: SELECTION };
      return save(transport, operation, mutation, registryAuthSchema, attempt);
    },
    delete: (operation, { id }, attempt) =>
      remove(transport, operation, "deleteRegistryAuth", { registryAuthId: id }, attempt),
  };
}
