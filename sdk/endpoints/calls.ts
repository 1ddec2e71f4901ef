import { z } from "zod";
import type { ServiceName } from "../contract/limits";
import { AuthenticationError, QuotaExceededError } from "../errors";
import { decode } from "../transport/decode";
import { execute, type GraphqlTransport, type RootField } from "../transport/graphql";
import { type ObservedOptions, requestOptions } from "../transport/requestOptions";
import { type Attempt, type CallContext, makeCall } from "../transport/retryingCall";
import type { EndpointInputOptions } from "./input";
import { type ListedEndpoints, readEndpoints } from "./listRecords";
import type { Endpoint, EndpointSettings, ServerlessDiscount } from "./record";
import { createEndpointList, type EndpointList } from "./sharedList";
import { discountSchema, endpointSchema, endpointSelection, toSaveInput } from "./wireFormat";

/** The settings that the calls of the management interface need. */
export interface EndpointsContext extends CallContext, EndpointInputOptions {
  readonly transport: GraphqlTransport;
  /** The named service, which decides the fields that endpoints have and how they are written. */
  readonly service: ServiceName | undefined;
}

/** One account: its settings, the list that its calls share, and the writes of this client. */
export interface Account extends EndpointsContext {
  readonly list: EndpointList;
  /** The time of the last write to each id and each name, in milliseconds of the monotonic clock. */
  readonly lastWrites: Map<string, number>;
}

/** Returns the account that the calls work on. */
export function createAccount(context: EndpointsContext): Account {
  const list = createEndpointList(context.clock, (options) => fetchList(context, options));
  return { ...context, list, lastWrites: new Map() };
}

/** The options of a save. */
interface SaveOptions extends ObservedOptions {
  /** Returns the new endpoint after a response was lost. Without it the save changes an endpoint and can be repeated. */
  readonly lookUp?: () => Promise<Endpoint | undefined>;
}

/** Sends all settings. With an id they change that endpoint, without one they create an endpoint. */
export async function saveEndpoint(
  account: Account,
  operation: string,
  settings: Partial<EndpointSettings> & { readonly id?: string },
  options: SaveOptions = {},
): Promise<Endpoint> {
  const selection = endpointSelection(account.service);
  const args = { input: { id: settings.id, ...toSaveInput(settings, account.service) } };
  const field: RootField = { type: "mutation", name: "saveEndpoint", args, selection };
  let saved: Endpoint | undefined;
  try {
    saved = await makeCall(account, {
      ...options,
      name: field.name,
      operation,
      repeatability: options.lookUp ? "create" : "safe",
      attempt: async (attempt) =>
        decode(endpointSchema, await execute(account.transport, operation, field, attempt), operation),
    });
    return saved;
  } catch (error) {
    throw error instanceof QuotaExceededError ? await withUsage(error, account.list, requestOptions(options)) : error;
  } finally {
    // Also after a failure: the response may be lost and the change made.
    noteWrite(account, settings.id ?? saved?.id, settings.name);
  }
}

/** Changes some settings of an endpoint. All others are sent as they are: the service resets what is left out. */
export function changeEndpoint(
  account: Account,
  endpoint: Endpoint,
  changes: Partial<EndpointSettings>,
  options?: ObservedOptions,
): Promise<Endpoint> {
  const operation = `saveEndpoint of "${endpoint.name}" (${endpoint.id})`;
  return saveEndpoint(account, operation, { ...endpoint, ...changes }, requestOptions(options));
}

/**
 * Sends the deletion.
 * @throws NotFoundError if the endpoint does not exist
 */
export async function sendDelete(account: Account, id: string, options: ObservedOptions): Promise<void> {
  const operation = `deleteEndpoint of ${id}`;
  const field: RootField = { type: "mutation", name: "deleteEndpoint", args: { id } };
  const attempt = (each: Attempt) => execute(account.transport, operation, field, each);
  try {
    await makeCall(account, {
      ...requestOptions(options),
      name: field.name,
      operation,
      repeatability: "safe",
      attempt,
    });
  } finally {
    noteWrite(account, id);
  }
}

/** Reads the account's discount. */
export async function fetchDiscount(
  context: EndpointsContext,
  options: ObservedOptions,
): Promise<ServerlessDiscount | null> {
  const operation = "the serverless discount";
  const selection = "serverlessDiscount { discountFactor type expirationDate }";
  const myself = await fetchMyself(context, operation, selection, options);
  return decode(z.looseObject({ serverlessDiscount: discountSchema.nullable() }), myself, operation).serverlessDiscount;
}

async function fetchList(context: EndpointsContext, options: ObservedOptions): Promise<ListedEndpoints> {
  const selection = `endpoints { ${endpointSelection(context.service)} }`;
  return readEndpoints(await fetchMyself(context, "the list of endpoints", selection, options));
}

function fetchMyself(
  context: EndpointsContext,
  operation: string,
  selection: string,
  options: ObservedOptions,
): Promise<unknown> {
  const field: RootField = { type: "query", name: "myself", selection };
  return makeCall(context, {
    ...options,
    name: field.name,
    operation,
    repeatability: "safe",
    async attempt(each) {
      const myself = await execute(context.transport, operation, field, each);
      // "No account" must not be read as "an account without endpoints": every endpoint would count as deleted.
      if (myself !== null) return myself;
      throw new AuthenticationError(`${operation}: the service found no account for this API key. Check the key`);
    },
  });
}

function noteWrite({ list, lastWrites, clock }: Account, ...idsAndNames: (string | undefined)[]): void {
  list.noteWrite();
  for (const key of idsAndNames) if (key !== undefined) lastWrites.set(key, clock.monotonic());
}

/** Adds to the quota's error the endpoints that use the quota, as far as they can be read. */
async function withUsage(error: QuotaExceededError, list: EndpointList, options: ObservedOptions) {
  const snapshot = await list.read({}, options).catch(() => undefined);
  const users = (snapshot?.endpoints ?? []).filter(({ workersMax }) => workersMax > 0);
  if (users.length === 0) return error;
  const sum = users.reduce((total, { workersMax }) => total + workersMax, 0);
  const usage = users.map(({ name, id, workersMax }) => `"${name}" (${id}) ${workersMax}`).join(", ");
  const hidden = snapshot?.unreadable.length ?? 0;
  const others = hidden === 0 ? "" : `, besides ${hidden} whose records cannot be read`;
  return new QuotaExceededError(`${error.message}. In use now: ${sum} by ${usage}${others}`, { cause: error });
}
