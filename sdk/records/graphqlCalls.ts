import type { z } from "zod";
import { AuthenticationError } from "../errors";
import { decode } from "../transport/decode";
import { execute, type GraphqlTransport, type Literal } from "../transport/graphql";
import type { Attempt } from "../transport/retryingCall";

/**
 * Reads fields of the account.
 * @throws AuthenticationError if the service has no account for the key
 */
export async function readMyself(
  transport: GraphqlTransport,
  operation: string,
  selection: string,
  attempt: Attempt,
): Promise<unknown> {
  const myself = await execute(transport, operation, { type: "query", name: "myself", selection }, attempt);
  // "No account" must not be read as "an account without endpoints": every endpoint would count as deleted.
  if (myself !== null) return myself;
  throw new AuthenticationError(`${operation}: the service found no account for this API key. Check the key`);
}

/** Sends a mutation that returns a record. */
export async function save<T>(
  transport: GraphqlTransport,
  operation: string,
  { name, input, selection }: { readonly name: string; readonly input: Literal; readonly selection: string },
  schema: z.ZodType<T>,
  attempt: Attempt,
): Promise<T> {
  const field = { type: "mutation", name, args: { input }, selection } as const;
  return decode(schema, await execute(transport, operation, field, attempt), operation);
}

/** Sends a mutation that deletes a record. */
export async function remove(
  transport: GraphqlTransport,
  operation: string,
  name: string,
  args: Readonly<Record<string, Literal>>,
  attempt: Attempt,
): Promise<void> {
  await execute(transport, operation, { type: "mutation", name, args }, attempt);
}
