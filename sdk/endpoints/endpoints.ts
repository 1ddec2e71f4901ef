import { z } from "zod";
import type { ServiceName } from "../config";
import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { AuthenticationError, NotFoundError, QuotaExceededError } from "../errors";
import { decode } from "../transport/decode";
import { execute, type GraphqlTransport, type RootField } from "../transport/graphql";
import { type Attempt, type CallContext, type CallOptions, makeCall } from "../transport/retryingCall";
import { type CreateOptions, createEndpoint } from "./createEndpoint";
import { type DeleteOptions, deleteEndpoint } from "./deleteEndpoint";
import { type EndpointInputOptions, parseEndpointFields } from "./input";
import { creationLists, endpointById, type ListedEndpoints, readEndpoints, refuseUnreadable } from "./listRecords";
import type { Endpoint, EndpointInput, EndpointSettings, ServerlessDiscount } from "./record";
import { createEndpointList, type EndpointList, type ListSnapshot } from "./sharedList";
import { discountSchema, endpointSchema, endpointSelection, toSaveInput } from "./wireFormat";

/** How an endpoint is looked for. */
export interface FindOptions extends CallOptions {
  /**
   * How old the list may be that it is looked for in, in milliseconds. It is never older than the last write of this
   * client. Default: a list that is asked for from now on.
   */
  readonly maxAgeMs?: number;
}

/** How an endpoint is changed. */
export interface UpdateOptions extends CallOptions {
  /**
   * Called before an endpoint is renamed to a name that others have. What it throws ends the update, and nothing is
   * changed. Default: it is renamed; the service does not demand that names are unique.
   */
  readonly onNameTaken?: (others: readonly Endpoint[]) => void;
}

/** Creates, changes, lists and deletes endpoints (contract, GraphQL). */
export interface Endpoints {
  /**
   * Creates an endpoint. When the answer is lost, it looks whether the endpoint was created before it tries again, so
   * that there is never a second one.
   * @throws InvalidInputError, before any call
   * @throws QuotaExceededError when `workersMax` passes what the account has left; says who uses it
   * @throws CreateUncertainError when several new endpoints could be the one
   */
  create(input: EndpointInput, options?: CreateOptions): Promise<Endpoint>;
  /**
   * Changes fields of an endpoint. Fields that are not given keep their value.
   * @throws NotFoundError when there is no such endpoint
   */
  update(id: string, changes: Partial<EndpointInput>, options?: UpdateOptions): Promise<Endpoint>;
  /**
   * All endpoints of the account.
   * @throws UnexpectedResponseError when a record cannot be read: the list would not be complete. Names the endpoint.
   */
  list(options?: CallOptions): Promise<Endpoint[]>;
  /** The endpoints whose records can be read, and what is known of the others. */
  listReadable(options?: CallOptions): Promise<ListedEndpoints>;
  /**
   * One endpoint, or `undefined` if it is not in two lists with the service's lag between them.
   * @throws UnexpectedResponseError when its record cannot be read, or when it is in no list and a record has no id
   */
  find(id: string, options?: FindOptions): Promise<Endpoint | undefined>;
  /**
   * One endpoint.
   * @throws NotFoundError when there is none
   */
  get(id: string, options?: CallOptions): Promise<Endpoint>;
  /** Sets workersMin and workersMax to 0 and leaves everything else as it is. */
  scaleToZero(id: string, options?: CallOptions): Promise<Endpoint>;
  /**
   * Deletes an endpoint: scales it to zero, waits until its pods have left, deletes it and proves it gone. An endpoint
   * that does not exist is deleted already.
   * @throws DeleteTimeoutError when its pods do not leave in time; the endpoint still exists
   */
  delete(id: string, options?: DeleteOptions): Promise<void>;
  /** The account's discount, or `null`. */
  getServerlessDiscount(options?: CallOptions): Promise<ServerlessDiscount | null>;
}

/** What the endpoints' calls are made of. */
export interface EndpointsContext extends CallContext, EndpointInputOptions {
  readonly transport: GraphqlTransport;
  /** The named service, which decides the fields that endpoints have and how they are written. */
  readonly service: ServiceName | undefined;
}

/** How old the list may be that a create, update or deletion begins with. With a list each, a fleet's lists would grow as n². */
const SHARED_LIST_MAX_AGE_MS = 2_000;

/** The management interface of one account. */
export function createEndpoints(context: EndpointsContext): Endpoints {
  const list = createEndpointList(context.clock, (signal) => fetchList(context, signal));

  /** When this client last changed what has this id or name, in milliseconds of the monotonic clock. */
  const lastWrites = new Map<string, number>();

  function noteWrite(...idsAndNames: (string | undefined)[]) {
    list.noteWrite();
    for (const key of idsAndNames) if (key !== undefined) lastWrites.set(key, context.clock.monotonic());
  }

  /** A list that those share who begin at about the same time. It shows all that this client did to this id or name. */
  function readShared(idOrName: string, signal?: AbortSignal): Promise<ListSnapshot> {
    const lastWrite = lastWrites.get(idOrName) ?? Number.NEGATIVE_INFINITY;
    const sentAfter = Math.max(context.clock.monotonic() - SHARED_LIST_MAX_AGE_MS, lastWrite + 1);
    return list.read({ sentAfter, despiteWrites: true }, signal);
  }

  /** The same for an endpoint: a new list if it is not in the shared one, because somebody else may have just made it. */
  async function readSharedWith(id: string, signal?: AbortSignal): Promise<ListSnapshot> {
    const begunAt = context.clock.monotonic();
    const shared = await readShared(id, signal);
    return shared.endpoints.some((each) => each.id === id) ? shared : list.read({ sentAfter: begunAt }, signal);
  }

  /** Looks in this list, and once more when its lag has passed. */
  async function lookTwice(first: ListSnapshot, id: string, signal?: AbortSignal): Promise<Endpoint | undefined> {
    const found = endpointById(first, id);
    if (found) return found;
    // Whoever did not find something in the same list shares the second look, too.
    const lagIsOverAt = first.sentAt + LIST_LAG_MS;
    await sleep(context.clock, Math.max(0, lagIsOverAt - context.clock.monotonic()), signal);
    return endpointById(await list.read({ sentAfter: lagIsOverAt }, signal), id);
  }

  async function find(id: string, { signal, maxAgeMs }: FindOptions = {}) {
    const sentAfter = maxAgeMs === undefined ? undefined : context.clock.monotonic() - maxAgeMs;
    return lookTwice(await list.read({ sentAfter }, signal), id, signal);
  }

  /** Sends the whole field set: with an id it changes that endpoint, without it makes a new one. */
  async function save(
    operation: string,
    repeatability: "safe" | "create",
    fields: Partial<EndpointSettings> & { readonly id?: string },
    options: CallOptions & { readonly lookUp?: () => Promise<Endpoint | undefined> } = {},
  ): Promise<Endpoint> {
    const input = { id: fields.id, ...toSaveInput(fields, context.service) };
    const field: RootField = {
      type: "mutation",
      name: "saveEndpoint",
      args: { input },
      selection: endpointSelection(context.service),
    };
    let saved: Endpoint | undefined;
    try {
      saved = await makeCall(context, {
        operation,
        repeatability,
        attempt: async (attempt) =>
          decode(endpointSchema, await execute(context.transport, operation, field, attempt), operation),
        ...options,
      });
      return saved;
    } catch (error) {
      throw error instanceof QuotaExceededError ? await withUsage(error, list, options.signal) : error;
    } finally {
      // Also after a failure: the answer may be lost and the change made.
      noteWrite(fields.id ?? saved?.id, fields.name);
    }
  }

  function change(endpoint: Endpoint, changes: Partial<EndpointSettings>, options?: CallOptions) {
    return save(`saveEndpoint of "${endpoint.name}" (${endpoint.id})`, "safe", { ...endpoint, ...changes }, options);
  }

  return {
    async create(input, options = {}) {
      const fields = parseEndpointFields("the new endpoint", input, { ...context, isNew: true });
      const lists = creationLists(fields.name, options.onNameTaken !== undefined);
      let isSent = false;
      return createEndpoint(fields, options, {
        clock: context.clock,
        listBefore: async (signal) => lists.before(await readShared(fields.name, signal)),
        list: async (signal) => lists[isSent ? "after" : "before"](await list.read({}, signal)),
        save(operation, lookUp) {
          isSent = true;
          return save(operation, "create", fields, { signal: options.signal, lookUp });
        },
      });
    },
    async update(id, changes, options) {
      const fields = parseEndpointFields(`the change of endpoint ${id}`, changes, { ...context, isNew: false });
      const found = await lookTwice(await readSharedWith(id, options?.signal), id, options?.signal);
      const endpoint = existing(found, id);
      if (options?.onNameTaken && fields.name !== undefined && fields.name !== endpoint.name) {
        const { endpoints } = await list.read({}, options.signal);
        const others = endpoints.filter((each) => each.name === fields.name && each.id !== id);
        if (others.length > 0) options.onNameTaken(others);
      }
      return change(endpoint, fields, { signal: options?.signal });
    },
    async list(options) {
      const snapshot = await list.read({}, options?.signal);
      refuseUnreadable(snapshot);
      // A copy: the list itself is shared with other readers.
      return [...snapshot.endpoints];
    },
    async listReadable(options) {
      const { endpoints, unreadable } = await list.read({}, options?.signal);
      return { endpoints: [...endpoints], unreadable: [...unreadable] };
    },
    find,
    get: async (id, options) => existing(await find(id, options), id),
    async scaleToZero(id, options) {
      return change(existing(await find(id, options), id), { workersMin: 0, workersMax: 0 }, options);
    },
    async delete(id, options = {}) {
      await deleteEndpoint(id, options, {
        clock: context.clock,
        look: async (signal) => endpointById(await readSharedWith(id, signal), id),
        find: async (signal) => endpointById(await list.read({}, signal), id),
        scaleToZero: (endpoint, signal) => change(endpoint, { workersMin: 0, workersMax: 0 }, { signal }),
        async deleteNow(signal) {
          const field: RootField = { type: "mutation", name: "deleteEndpoint", args: { id } };
          const operation = `deleteEndpoint of ${id}`;
          const attempt = (each: Attempt) => execute(context.transport, operation, field, each);
          try {
            await makeCall(context, { operation, repeatability: "safe", attempt, signal });
          } finally {
            noteWrite(id);
          }
        },
      });
    },
    getServerlessDiscount: (options) => fetchDiscount(context, options?.signal),
  };
}

function existing(endpoint: Endpoint | undefined, id: string): Endpoint {
  if (endpoint) return endpoint;
  throw new NotFoundError(`endpoint ${id} does not exist in this account. Check the id and the API key`);
}

/** The quota's error with what uses the quota, as far as that can be read. */
async function withUsage(error: QuotaExceededError, list: EndpointList, signal?: AbortSignal): Promise<Error> {
  const snapshot = await list.read({}, signal).catch(() => undefined);
  const users = (snapshot?.endpoints ?? []).filter(({ workersMax }) => workersMax > 0);
  if (users.length === 0) return error;
  const sum = users.reduce((total, { workersMax }) => total + workersMax, 0);
  const usage = users.map(({ name, id, workersMax }) => `"${name}" (${id}) ${workersMax}`).join(", ");
  const hidden = snapshot?.unreadable.length ?? 0;
  const others = hidden === 0 ? "" : `, besides ${hidden} whose records cannot be read`;
  return new QuotaExceededError(`${error.message}. In use now: ${sum} by ${usage}${others}`);
}

async function fetchList(context: EndpointsContext, signal?: AbortSignal): Promise<ListedEndpoints> {
  const selection = `endpoints { ${endpointSelection(context.service)} }`;
  return readEndpoints(await fetchMyself(context, "the list of endpoints", selection, signal));
}

async function fetchDiscount(context: EndpointsContext, signal?: AbortSignal): Promise<ServerlessDiscount | null> {
  const operation = "the serverless discount";
  const selection = "serverlessDiscount { discountFactor type expirationDate }";
  const myself = await fetchMyself(context, operation, selection, signal);
  return decode(z.looseObject({ serverlessDiscount: discountSchema.nullable() }), myself, operation).serverlessDiscount;
}

function fetchMyself(
  context: EndpointsContext,
  operation: string,
  selection: string,
  signal?: AbortSignal,
): Promise<unknown> {
  const field: RootField = { type: "query", name: "myself", selection };
  return makeCall(context, {
    operation,
    repeatability: "safe",
    signal,
    async attempt(each) {
      const myself = await execute(context.transport, operation, field, each);
      // No account is not an account without endpoints: taking it for one would call everything deleted.
      if (myself !== null) return myself;
      throw new AuthenticationError(`${operation}: the service knows no account for this API key. Check the key`);
    },
  });
}
