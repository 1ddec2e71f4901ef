import { z } from "zod";
import { type Attempt, type CallContext, makeCall } from "./call";
import { sleep } from "./clock";
import { decode } from "./decode";
import { type DeleteOptions, deleteEndpoint } from "./deleteEndpoint";
import {
  ENDPOINT_DEFAULTS,
  type EndpointInput,
  type EndpointInputOptions,
  type EndpointSettings,
  parseEndpointFields,
} from "./endpointInput";
import { createEndpointList, type EndpointList, type ListFreshness } from "./endpointList";
import type { OpenEnum } from "./enums";
import { AuthenticationError, CreateUncertainError, NotFoundError, ServerlessGpuError } from "./errors";
import { EnumValue, execute, type GraphqlTransport, type Literal, type RootField } from "./graphql";
import { normalizeGpuIds, normalizeLocations, normalizeName } from "./normalForms";
import { LIST_LAG_MS, type POD_STATES } from "./spec";

/** An endpoint as the service has it, in normal form. */
export interface Endpoint extends EndpointSettings {
  readonly id: string;
  /** The endpoint's pods. Words other than `RUNNING`, `EXITED` and `TERMINATED` may occur. */
  readonly pods: readonly { readonly desiredStatus: OpenEnum<(typeof POD_STATES)[number]> }[];
}

/** A discount on serverless prices. */
export interface ServerlessDiscount {
  readonly discountFactor: number | null;
  readonly type: string | null;
  /** As the service writes it. */
  readonly expirationDate: string | null;
}

/** Options that every call takes. */
export interface CallOptions {
  /** Ends the call, its pauses included. */
  readonly signal?: AbortSignal | undefined;
}

/** Creates, changes, lists and deletes endpoints (contract, GraphQL). */
export interface Endpoints {
  /**
   * Creates an endpoint. When the answer is lost, it looks whether the endpoint was created before it tries again, so
   * that there is never a second one.
   * @throws InvalidInputError, before any call
   * @throws CreateUncertainError when several new endpoints could be the one
   */
  create(input: EndpointInput, options?: CallOptions): Promise<Endpoint>;
  /**
   * Changes fields of an endpoint. Fields that are not given keep their value.
   * @throws NotFoundError when there is no such endpoint
   */
  update(id: string, changes: Partial<EndpointInput>, options?: CallOptions): Promise<Endpoint>;
  /** All endpoints of the account. */
  list(options?: CallOptions): Promise<Endpoint[]>;
  /** One endpoint, or nothing when it is not in two lists with the service's lag between them. */
  find(id: string, options?: CallOptions & ListFreshness): Promise<Endpoint | undefined>;
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
  /** How the service is told to clear `flashBootType`: the contract's `null`, or the observed value `OFF`. */
  readonly clearFlashBootWith: "null" | "OFF";
}

const ENDPOINT_SELECTION =
  "id name gpuIds templateId idleTimeout locations flashBootType scalerType scalerValue workersMin workersMax networkVolumeId";

/** The management interface of one account. */
export function createEndpoints(context: EndpointsContext): Endpoints {
  const list = createEndpointList(context.clock, (signal) => fetchList(context, signal));

  async function find(id: string, { signal, ...freshness }: CallOptions & ListFreshness = {}) {
    const first = (await list.read(freshness, signal)).find((each) => each.id === id);
    if (first) return first;
    await sleep(context.clock, LIST_LAG_MS, signal);
    return (await list.read({}, signal)).find((each) => each.id === id);
  }

  async function get(id: string, options?: CallOptions & ListFreshness) {
    const endpoint = await find(id, options);
    if (!endpoint)
      throw new NotFoundError(`endpoint ${id} does not exist in this account. Check the id and the API key`);
    return endpoint;
  }

  async function save(endpoint: Endpoint, changes: Partial<EndpointSettings>, options: CallOptions = {}) {
    const input = { id: endpoint.id, ...toSaveInput({ ...endpoint, ...changes }, context.clearFlashBootWith) };
    const operation = `saveEndpoint of "${endpoint.name}" (${endpoint.id})`;
    try {
      return await sendSave(context, operation, "safe", input, options);
    } finally {
      // Also after a failure: the answer may be lost and the change made.
      list.noteWrite();
    }
  }

  return {
    create: (input, options) => createEndpoint(context, list, input, options),
    async update(id, changes, options) {
      const fields = parseEndpointFields(`the change of endpoint ${id}`, changes, { ...context, isNew: false });
      return save(await get(id, options), fields, options);
    },
    // A copy: the list itself is shared with other readers.
    list: async (options) => [...(await list.read({}, options?.signal))],
    find,
    get,
    async scaleToZero(id, options) {
      return save(await get(id, options), { workersMin: 0, workersMax: 0 }, options);
    },
    delete: (id, options = {}) =>
      deleteEndpoint(id, options, {
        clock: context.clock,
        find: async (signal) => (await list.read({}, signal)).find((each) => each.id === id),
        scaleToZero: (endpoint, signal) => save(endpoint, { workersMin: 0, workersMax: 0 }, { signal }),
        async deleteNow(signal) {
          const field: RootField = { type: "mutation", name: "deleteEndpoint", args: { id } };
          const operation = `deleteEndpoint of ${id}`;
          const attempt = (each: Attempt) => execute(context.transport, operation, field, each);
          try {
            await makeCall(context, { operation, repeatability: "safe", attempt, signal });
          } finally {
            list.noteWrite();
          }
        },
      }),
    getServerlessDiscount: (options) => fetchDiscount(context, options?.signal),
  };
}

async function createEndpoint(
  context: EndpointsContext,
  list: EndpointList,
  input: EndpointInput,
  { signal }: CallOptions = {},
): Promise<Endpoint> {
  const fields = parseEndpointFields("the new endpoint", input, { ...context, isNew: true });
  const before = new Set((await list.read({}, signal)).map((each) => each.id));
  const operation = `saveEndpoint (create) of "${fields.name}"`;
  const saveInput = toSaveInput(fields, context.clearFlashBootWith);
  const lookUp = () => findCreated(context, list, fields, before, operation, signal);
  try {
    return await sendSave(context, operation, "create", saveInput, { signal, lookUp });
  } finally {
    list.noteWrite();
  }
}

/** After a lost answer: what it would have told is in the list, once the list's lag has passed. */
async function findCreated(
  context: EndpointsContext,
  list: EndpointList,
  fields: Pick<EndpointSettings, "name" | "templateId" | "gpuIds">,
  before: ReadonlySet<string>,
  operation: string,
  signal?: AbortSignal,
): Promise<Endpoint | undefined> {
  await sleep(context.clock, LIST_LAG_MS, signal);
  const after = await list.read({}, signal).catch((cause: unknown) => {
    if (!(cause instanceof ServerlessGpuError)) throw cause;
    const message = `${operation}: the answer was lost, and so was the look for what it did. The endpoint may exist`;
    throw new CreateUncertainError(`${message}: look before you create it again`, [], { cause });
  });
  const candidates = after.filter((each) => !before.has(each.id) && isSameEndpoint(each, fields));
  if (candidates.length < 2) return candidates[0];
  const ids = candidates.map((each) => each.id);
  throw new CreateUncertainError(
    `${operation}: the answer was lost, and several new endpoints could be it: ${ids.join(", ")}. ` +
      "Keep one of them and delete the others",
    ids,
  );
}

function isSameEndpoint(
  one: EndpointSettings,
  other: Pick<EndpointSettings, "name" | "templateId" | "gpuIds">,
): boolean {
  return one.name === other.name && one.templateId === other.templateId && one.gpuIds === other.gpuIds;
}

/** The input of `saveEndpoint`: every field that is set, cleared ones in the way the service takes. */
function toSaveInput(
  fields: Partial<EndpointSettings>,
  clearFlashBootWith: "null" | "OFF",
): Record<string, Literal | undefined> {
  const { flashBootType, networkVolumeId } = fields;
  const flashBootOff = clearFlashBootWith === "OFF" ? new EnumValue("OFF") : null;
  return {
    name: fields.name,
    gpuIds: fields.gpuIds,
    templateId: fields.templateId,
    idleTimeout: fields.idleTimeout,
    locations: fields.locations,
    flashBootType:
      flashBootType === undefined ? undefined : flashBootType === "OFF" ? flashBootOff : new EnumValue(flashBootType),
    scalerType: fields.scalerType,
    scalerValue: fields.scalerValue,
    workersMin: fields.workersMin,
    workersMax: fields.workersMax,
    networkVolumeId: networkVolumeId === "" ? null : networkVolumeId,
  };
}

function sendSave(
  context: EndpointsContext,
  operation: string,
  repeatability: "safe" | "create",
  input: Record<string, Literal | undefined>,
  options: CallOptions & { readonly lookUp?: () => Promise<Endpoint | undefined> },
): Promise<Endpoint> {
  const field: RootField = { type: "mutation", name: "saveEndpoint", args: { input }, selection: ENDPOINT_SELECTION };
  return makeCall(context, {
    operation,
    repeatability,
    attempt: async (attempt) =>
      decode(endpointSchema, await execute(context.transport, operation, field, attempt), operation),
    ...options,
  });
}

async function fetchList(context: EndpointsContext, signal?: AbortSignal): Promise<Endpoint[]> {
  const selection = `endpoints { ${ENDPOINT_SELECTION} pods { desiredStatus } }`;
  const myself = await fetchMyself(context, "the list of endpoints", selection, signal);
  return decode(z.looseObject({ endpoints: z.array(endpointSchema) }), myself, "the list of endpoints").endpoints;
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

/** What a field may come back as when it was never set. */
function unset<K extends keyof typeof ENDPOINT_DEFAULTS, T>(schema: z.ZodType<T>, field: K) {
  return schema.nullish().transform((value) => value ?? (ENDPOINT_DEFAULTS[field] as T));
}

const endpointSchema: z.ZodType<Endpoint> = z.looseObject({
  id: z.string().min(1),
  name: z.string().transform(normalizeName),
  gpuIds: z
    .string()
    .nullish()
    .transform((value) => normalizeGpuIds(value ?? "")),
  templateId: z
    .string()
    .nullish()
    .transform((value) => value ?? ""),
  idleTimeout: unset(z.number(), "idleTimeout"),
  locations: z.string().nullish().transform(normalizeLocations),
  flashBootType: unset(z.string(), "flashBootType"),
  scalerType: unset(z.string(), "scalerType"),
  scalerValue: unset(z.number(), "scalerValue"),
  workersMin: unset(z.number(), "workersMin"),
  workersMax: unset(z.number(), "workersMax"),
  networkVolumeId: unset(z.string(), "networkVolumeId"),
  pods: z
    .array(z.looseObject({ desiredStatus: z.string() }))
    .nullish()
    .transform((pods) => pods ?? []),
});

const discountSchema = z.looseObject({
  discountFactor: z.number().nullable(),
  type: z.string().nullable(),
  expirationDate: z.string().nullable(),
});
