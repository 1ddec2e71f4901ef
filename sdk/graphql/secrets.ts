import { LIST_CAP } from "../contract/limits";
import type { KeptTable } from "../records/fields";
import { decodeRecords, type ReadableKind } from "../records/listed";
import { SECRET, type SecretRecord } from "../secrets/secret";
import { type SecretCalls, secretSchema } from "../secrets/secrets";
import { createKeptFields } from "./keptFields";
import { readMyself, sendDeletion, sendSave } from "./requests";
import type { GraphqlTransport } from "./transport";

const KIND: ReadableKind<SecretRecord> = { ...SECRET, schema: secretSchema("lastUpdatedAt", "updatedAt") };

/** No public client reads this field, but a published schema contains it. */
const UNCERTAIN: KeptTable = { lastUpdatedAt: { isUncertain: true } };

/** Returns the requests over GraphQL. */
export function graphqlSecretCalls(transport: GraphqlTransport): SecretCalls {
  const uncertain = createKeptFields(UNCERTAIN, "secrets", undefined);
  const selection = () => `id name description createdAt updatedAt ${uncertain.selection()}`.trimEnd();
  return {
    names: { list: "myself", create: "secretCreate", change: "secretValueUpdate", delete: "secretDelete" },
    async list(operation, attempt) {
      const read = () => readMyself(transport, operation, `secrets { ${selection()} }`, attempt);
      const myself = await uncertain.send(read);
      return decodeRecords(KIND, myself, "secrets", LIST_CAP);
    },
    create(operation, { name, value, description }, attempt) {
      const input = { name, value, ...(description !== "" && { description }) };
      return uncertain.send(() => {
        const mutation = { name: "secretCreate", input, selection: selection() };
        return sendSave(transport, operation, mutation, KIND.schema, attempt);
      });
    },
    // Change the value first, as over REST v2. If the change is repeated, both requests are
    // repeated.
    async change(operation, before, { value, description }, attempt) {
      const { id } = before;
      let changed = before;
      const write = async (name: string, input: Readonly<Record<string, string>>) => {
        changed = await uncertain.send(() => {
          const mutation = { name, input: { id, ...input }, selection: selection() };
          return sendSave(transport, operation, mutation, KIND.schema, attempt);
        });
      };
      if (value !== undefined) await write("secretValueUpdate", { value });
      if (description !== undefined) await write("secretDescriptionUpdate", { description });
      return changed;
    },
    delete: (operation, { id }, attempt) => sendDeletion(transport, operation, "secretDelete", { id }, attempt),
  };
}
