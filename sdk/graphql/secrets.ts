import { LIST_CAP } from "../contract/limits";
import { decodeRecords, type ReadableKind } from "../records/listed";
import { SECRET, type SecretRecord } from "../secrets/secret";
import { type SecretCalls, secretSchema } from "../secrets/secrets";
import { decode } from "../transport/decode";
import { readMyself, sendDeletion, sendSave } from "./requests";
import { execute, type GraphqlTransport } from "./transport";

const KIND: ReadableKind<SecretRecord> = { ...SECRET, schema: secretSchema("lastUpdatedAt") };

const SELECTION = "id name description createdAt lastUpdatedAt";

/** Returns the requests over GraphQL. */
export function graphqlSecretCalls(transport: GraphqlTransport): SecretCalls {
  return {
    names: { list: "myself", create: "secretCreate", change: "secretValueUpdate", delete: "secretDelete" },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `secrets { ${SELECTION} }`, attempt);
      return decodeRecords(KIND, myself, "secrets", LIST_CAP);
    },
    create(operation, { name, value, description }, attempt) {
      const input = { name, value, ...(description !== "" && { description }) };
      return sendSave(
        transport,
        operation,
        { name: "secretCreate", input, selection: SELECTION },
        KIND.schema,
        attempt,
      );
    },
    // Change the value first, as over REST v2. If the change is repeated, both requests are
    // repeated.
    async change(operation, before, { value, description }, attempt) {
      const { id } = before;
      let changed = before;
      const write = async (name: string, input: Readonly<Record<string, string>>) => {
        const field = { type: "mutation", name, args: { input: { id, ...input } }, selection: SELECTION } as const;
        changed = decode(KIND.schema, await execute(transport, operation, field, attempt), operation);
      };
      if (value !== undefined) await write("secretValueUpdate", { value });
      if (description !== undefined) await write("secretDescriptionUpdate", { description });
      return changed;
    },
    delete: (operation, { id }, attempt) => sendDeletion(transport, operation, "secretDelete", { id }, attempt),
  };
}
