import * as z from "zod";
import { LIST_CAP } from "../contract/limits";
import type { RecordCalls } from "../records/calls";
import { readMyself, remove, save } from "../records/graphqlCalls";
import { type Kind, readRecords } from "../records/listed";
import { decode } from "../transport/decode";
import { execute, type GraphqlTransport } from "../transport/graphql";
import type { SecretRecord, SecretSettings } from "./record";

/** The requests for secrets. */
export type SecretCalls = RecordCalls<SecretRecord, SecretSettings, Partial<SecretSettings>>;

/** Returns the schema of a secret in which one of the fields has the time of its value. */
export function secretSchema(timeOfValue: string): z.ZodType<SecretRecord> {
  const text = z.string().nullish();
  const shown = { id: z.string().min(1), name: z.string(), description: text, createdAt: text };
  return z.looseObject(shown).transform(({ id, name, description, createdAt, [timeOfValue]: written }) => {
    const created = inIso(createdAt);
    return {
      ...{ id, name, description: description ?? "" },
      ...{ createdAt: created, valueLastUpdatedAt: inIso(written) || created },
    };
  });
}

/** Returns a time in one form: interfaces may write the same time differently. */
function inIso(time: unknown): string {
  const ms = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}

export const SECRET: Kind<SecretRecord> = {
  noun: "secret",
  one: "a secret",
  schema: secretSchema("lastUpdatedAt"),
  hasUniqueNames: true,
  ignoresCase: true,
};

const SELECTION = "id name description createdAt lastUpdatedAt";

/** Returns the requests over GraphQL. */
export function graphqlSecretCalls(transport: GraphqlTransport): SecretCalls {
  return {
    names: { list: "myself", create: "secretCreate", change: "secretValueUpdate", delete: "secretDelete" },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `secrets { ${SELECTION} }`, attempt);
      return readRecords(SECRET, myself, "secrets", LIST_CAP);
    },
    create(operation, { name, value, description }, attempt) {
      const input = { name, value, ...(description !== "" && { description }) };
      return save(transport, operation, { name: "secretCreate", input, selection: SELECTION }, SECRET.schema, attempt);
    },
    // The value first, as REST v2 does. A repeated change repeats both.
    async change(operation, before, { value, description }, attempt) {
      const { id } = before;
      let changed = before;
      const write = async (name: string, input: Readonly<Record<string, string>>) => {
        const field = { type: "mutation", name, args: { input: { id, ...input } }, selection: SELECTION } as const;
        changed = decode(SECRET.schema, await execute(transport, operation, field, attempt), operation);
      };
      if (value !== undefined) await write("secretValueUpdate", { value });
      if (description !== undefined) await write("secretDescriptionUpdate", { description });
      return changed;
    },
    delete: (operation, { id }, attempt) => remove(transport, operation, "secretDelete", { id }, attempt),
  };
}
