import * as z from "zod";
import type { Endpoint, EndpointSettings } from "../endpoints/record";
import { RejectedError } from "../errors/errors";
import { hideJobSecret } from "../errors/secretText";
import type { ReadByIds } from "../records/calls";
import type { OperationCounter } from "../records/concurrentOperations";
import { decodeRecords, type Listed, type NamedRecord, type ReadableKind } from "../records/listed";
import { gatheredReads } from "../records/singleReads";
import type { Attempt, CallContext } from "../transport/call";
import type { ObservedOptions } from "../transport/requestOptions";
import type { KeptFields } from "./keptFields";
import { readAliases, readMyself } from "./requests";
import type { GraphqlTransport } from "./transport";

/*
 * A change over GraphQL repeats the variables of the endpoint, because the service resets what a
 * save leaves out. They are secret, so lists do not request them, and a change reads them first.
 */

/** The environment variables of one endpoint. */
interface EndpointVariables extends NamedRecord {
  readonly env?: readonly { readonly key: string; readonly value: string }[] | undefined;
}

/** How a change to an endpoint repeats its environment variables. */
interface VariableCalls {
  /** Returns `true` if the change repeats the endpoint's environment variables. */
  readonly areRepeatedBy: (before: Endpoint, changes: Partial<EndpointSettings>) => boolean;
  /** Reads the environment variables of the endpoints with these ids, if they exist. */
  readonly byIds: ReadByIds<EndpointVariables>;
}

/**
 * The minimum length of values to hide in messages. Shorter values, such as `true`, are unlikely to
 * be secret.
 */
const SHORTEST_HIDDEN_VALUE = 8;

const variable = z.looseObject({
  key: z.string(),
  value: z
    .string()
    .nullish()
    .transform((value) => value ?? ""),
});

const schema = z
  .looseObject({ id: z.string(), name: z.string(), env: z.array(variable).nullish() })
  .transform(({ id, name, env }) => ({ id, name, env: env?.map(({ key, value }) => ({ key, value })) }));

const VARIABLES: ReadableKind<EndpointVariables> = { noun: "endpoint", one: "an endpoint", schema };

/**
 * Reads the environment variables of endpoints over GraphQL. If the service cannot read a single
 * endpoint, the list of endpoints is read instead.
 */
export async function readVariables(
  transport: GraphqlTransport,
  fields: KeptFields,
  operation: string,
  ids: readonly string[],
  attempt: Attempt,
): Promise<Listed<EndpointVariables>> {
  const selection = () => `id name ${fields.secretSelection()}`;
  const readSome = () => {
    const field = { name: "endpoint", selection: selection(), of: "myself" } as const;
    return readAliases(transport, VARIABLES, operation, field, ids, attempt);
  };
  const readList = async () => {
    const myself = await readMyself(transport, operation, `endpoints { ${selection()} }`, attempt);
    return decodeRecords(VARIABLES, myself, "endpoints");
  };
  return fields.send(() =>
    readSome().catch((error: unknown) => {
      if (error instanceof RejectedError && error.refusedFields?.includes("endpoint")) return readList();
      throw error;
    }),
  );
}

/**
 * Returns a hook that adds environment variables to endpoints before a change. Changes at about the
 * same time share one read. The values are hidden in messages.
 */
export function completeWithVariables(
  context: CallContext,
  { list, operations }: { readonly list: string; readonly operations: OperationCounter },
  { areRepeatedBy, byIds }: VariableCalls,
) {
  const read = gatheredReads(context, VARIABLES, { names: { list }, byIds }, operations);
  return async (before: Endpoint, changes: Partial<EndpointSettings>, options: ObservedOptions): Promise<Endpoint> => {
    if (!areRepeatedBy(before, changes)) return before;
    const env = (await read(before.id, options))?.env;
    if (!env) return before;
    for (const { value } of env)
      if (value.length >= SHORTEST_HIDDEN_VALUE && !before.name.includes(value)) hideJobSecret(value);
    return { ...before, kept: { ...before.kept, env } };
  };
}
