import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { Container } from "../containers/record";
import type { Capabilities } from "../contract/capabilities";
import type { Clock } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { QuotaExceededError } from "../errors/errors";
import type { RecordCalls } from "../records/calls";
import { sendDeletion, sendWrite } from "../records/changeRecord";
import {
  type Collection,
  createCollection,
  type KnownOptions,
  type Writable,
  type WriteHooks,
} from "../records/collection";
import type { OutputOnlyField } from "../records/fields";
import type { Kind, NamedRecord } from "../records/listed";
import { readExisting } from "../records/reads";
import { showing } from "../records/records";
import type { GatheredRead } from "../records/singleReads";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import { type ObservedOptions, requestOptions } from "../transport/requestOptions";
import { ENDPOINT_FIELDS } from "./fields";
import type { EndpointInputOptions } from "./input";
import { normalizeName } from "./normalForms";
import type { Endpoint, EndpointInput, EndpointSettings, NewEndpoint, ServerlessDiscount } from "./record";
import type { ReleaseCalls } from "./releases";
import { refuseSharedChange } from "./templateUsers";
import { checkVolumePlaces, type ReadVolumes } from "./volumePlaces";

/** A template, as returned by a read of a single template. */
export interface BoundTemplate extends NamedRecord {
  /** The id of the endpoint that the template belongs to. */
  readonly boundEndpointId: string | undefined;
  /** Changes the template's container. */
  readonly save: (operation: string, changes: Partial<Container>, attempt: Attempt) => Promise<unknown>;
}

/** The fields of an endpoint that only the service can set. */
export const ENDPOINT_OUTPUTS: {
  readonly [K in Exclude<keyof Endpoint, keyof EndpointInput | "template" | "kept" | "unshown">]: OutputOnlyField<
    Endpoint[K]
  >;
} = {
  id: { selection: "id", schema: z.string().min(1), v2: "id" },
  // A service that follows the contract does not have this field over GraphQL.
  createdAt: { selection: "", schema: z.string().optional(), v2: "createdAt" },
  pods: {
    selection: "pods { desiredStatus }",
    schema: z
      .array(z.looseObject({ desiredStatus: z.string() }))
      .nullish()
      .transform((pods) => pods ?? []),
    v2: null,
  },
};

export const ENDPOINT: Kind = { noun: "endpoint", one: "an endpoint", normalizeName };

/**
 * The requests for endpoints. Each function sends one request, without retries. Functions that only
 * some APIs need or support are optional.
 */
export interface EndpointCalls extends RecordCalls<Endpoint, NewEndpoint, Partial<EndpointSettings>>, ReleaseCalls {
  readonly delete: (operation: string, record: { readonly id: string }, attempt: Attempt) => Promise<void>;
  /**
   * Reads the account's discount.
   * @default the API shows no discount
   */
  readonly discount?: (operation: string, attempt: Attempt) => Promise<ServerlessDiscount | null>;
  /**
   * Reads the pods of an endpoint.
   * @default the pods in the list
   */
  readonly pods?: (operation: string, id: string, attempt: Attempt) => Promise<Endpoint["pods"]>;
  /**
   * Returns the endpoint, completed with fields that lists do not show but that this change must
   * send back.
   * @default the endpoint
   */
  readonly complete?: NonNullable<WriteHooks<Endpoint, Partial<EndpointSettings>>["complete"]>;
  /**
   * Returns a change function that leaves these fields of the endpoint out of the request, so that
   * the service keeps their values.
   * @default a change sends only the fields that differ
   */
  readonly changeWithout?: (fields: readonly (keyof EndpointSettings)[]) => EndpointCalls["change"];
  /**
   * Reads a template that may belong to an endpoint.
   * @default endpoints contain their container settings themselves
   */
  readonly readTemplate?: GatheredRead<BoundTemplate>;
  /**
   * The requests of another API, which shows the templates of endpoints.
   * @default the API shows them
   */
  readonly overGraphql?: EndpointCalls;
  /** Applies the current version of a template to an endpoint. */
  readonly applyTemplate: (
    operation: string,
    endpoint: Endpoint,
    templateId: string,
    attempt: Attempt,
  ) => Promise<Endpoint>;
}

/** The settings that the requests to the management API need. */
export interface EndpointsContext extends CallContext, EndpointInputOptions {
  readonly capabilities: Capabilities;
}

/** The endpoints of one account. */
export interface EndpointCollection extends Writable<Endpoint, NewEndpoint, Partial<EndpointSettings>> {
  readonly calls: EndpointCalls;
  /** The endpoints over an API that shows their templates, if this one does not. */
  readonly overGraphql: Collection<Endpoint> | undefined;
  readonly capabilities: Capabilities;
  /** The values that inputs may contain in addition to the contract's values. */
  readonly accepted: EndpointInputOptions;
}

/**
 * Creates a collection of endpoints from the given requests. `readVolumes` reads the volumes that
 * the endpoints may mount.
 */
export function createEndpointCollection(
  context: EndpointsContext,
  requests: EndpointCalls,
  readVolumes: ReadVolumes,
): EndpointCollection {
  const calls: EndpointCalls = {
    ...requests,
    async prepare(settings, before) {
      await checkVolumePlaces(readVolumes, before, settings);
      if (before) await refuseSharedChange(all, before, settings);
      await requests.prepare?.(settings, before);
    },
  };
  const { complete } = requests;
  const { capabilities, acceptWords, countries, wholeScalerValue, clock } = context;
  const collection: Writable<Endpoint, NewEndpoint, Partial<EndpointSettings>> = createCollection(
    context,
    ENDPOINT,
    calls,
    {
      ...rememberSaves(clock),
      ...(complete && { complete }),
      explain: (error, options) => withUsage(error, collection, options),
    },
  );
  const accepted = { acceptWords, countries, wholeScalerValue };
  const overGraphql = requests.overGraphql && createCollection(context, ENDPOINT, requests.overGraphql);
  const all: EndpointCollection = { ...collection, calls, overGraphql, capabilities, accepted };
  return all;
}

/** An endpoint, as this client last saved it. */
interface Saved {
  readonly endpoint: Endpoint;
  /** The states of the endpoint before each of the latest saves. */
  readonly before: readonly Endpoint[];
  /** When the response arrived, in milliseconds of the monotonic clock. */
  readonly at: number;
}

/**
 * Remembers saves, because for a while the list may still show an endpoint as it was before a save.
 * After a template is saved, the client waits until the list shows the change. After an endpoint is
 * saved, it does not wait, because deleting or recycling an endpoint takes several saves in a row.
 */
function rememberSaves(clock: Clock) {
  const lastSaved = new Map<string, Saved>();
  return {
    latest(listed: Endpoint): Endpoint {
      const saved = lastSaved.get(listed.id);
      if (!saved || clock.monotonic() - saved.at > 2 * LIST_LAG_MS) return listed;
      return saved.before.some((earlier) => hasSameSettings(earlier, listed)) ? saved.endpoint : listed;
    },
    noteSaved(before: Endpoint | undefined, endpoint: Endpoint): void {
      // A new endpoint has no earlier saves. If there are any for its id, they belong to another
      // endpoint, because an emulator that was reset assigns the same ids again.
      if (!before) lastSaved.delete(endpoint.id);
      else {
        const earlier = lastSaved.get(endpoint.id)?.before.slice(-9) ?? [];
        lastSaved.set(endpoint.id, { endpoint, before: [...earlier, before], at: clock.monotonic() });
      }
    },
  };
}

function hasSameSettings(one: Endpoint, other: Endpoint): boolean {
  return (
    ENDPOINT_FIELDS.every((field) => isDeepStrictEqual(one[field], other[field])) &&
    isDeepStrictEqual(one.kept ?? {}, other.kept ?? {})
  );
}

/**
 * Sends the request to delete an endpoint.
 * @param onSend called before each attempt, after which the endpoint may be gone
 * @throws NotFoundError if the endpoint does not exist
 */
export function sendDelete(
  collection: EndpointCollection,
  id: string,
  given: ObservedOptions,
  onSend: () => void,
): Promise<void> {
  const { calls } = collection;
  const operation = `deleteEndpoint of ${id}`;
  const attempt = (each: Attempt) => {
    onSend();
    return calls.delete(operation, { id }, each);
  };
  return sendDeletion(collection, { name: calls.names.delete, operation, attempt }, [id], requestOptions(given));
}

/** Applies the current version of a template to an endpoint. */
export async function applyTemplate(
  collection: EndpointCollection,
  id: string,
  templateId: string,
  { known, ...options }: KnownOptions & ObservedOptions,
): Promise<Endpoint> {
  const { names, applyTemplate: apply } = collection.calls;
  const read = await readExisting(collection, id, options);
  const endpoint = await showing(collection, read, { templateId }, options);
  const operation = `${names.change} of "${endpoint.name}" (${id})`;
  const attempt = (each: Attempt) => apply(operation, endpoint, templateId, each);
  const saved = await sendWrite(
    collection,
    { name: names.change, operation, attempt },
    [id, endpoint.name],
    requestOptions(options),
  );
  return collection.recall(saved, { ...known, templateId });
}

/**
 * Counts the pods that have not shut down, which are the pods whose status is neither EXITED nor
 * TERMINATED.
 */
export function activeAmong(pods: Endpoint["pods"]): number {
  return pods.filter(({ desiredStatus }) => desiredStatus !== "EXITED" && desiredStatus !== "TERMINATED").length;
}

/** Reads how many pods of an endpoint have not shut down. */
export async function countActivePods(
  collection: EndpointCollection,
  { id, pods }: Endpoint,
  given: ObservedOptions,
): Promise<number> {
  const { calls } = collection;
  const operation = `the workers of endpoint ${id}`;
  const { pods: readPods } = calls;
  if (!readPods) return activeAmong(pods);
  const attempt = (each: Attempt) => readPods(operation, id, each);
  const call = { name: "listWorkers", operation, repeatability: "safe", attempt } as const;
  return activeAmong(await makeCall(collection, { ...requestOptions(given), ...call }));
}

/** Reads the account's discount. If the API does not show discounts, returns `null`. */
export async function fetchDiscount(
  collection: EndpointCollection,
  options: ObservedOptions,
): Promise<ServerlessDiscount | null> {
  const { discount } = collection.calls;
  if (!discount) return null;
  const operation = "the serverless discount";
  const attempt = (each: Attempt) => discount(operation, each);
  return makeCall(collection, {
    ...options,
    name: collection.calls.names.list,
    operation,
    repeatability: "safe",
    attempt,
  });
}

/**
 * If the error is about the quota, adds the endpoints that use the quota to it, as far as they can
 * be read.
 */
async function withUsage(error: unknown, { list }: Collection<Endpoint>, options: ObservedOptions): Promise<unknown> {
  if (!(error instanceof QuotaExceededError)) return error;
  const snapshot = await list.read({}, requestOptions(options)).catch(() => undefined);
  const users = (snapshot?.records ?? []).filter(({ workersMax }) => workersMax > 0);
  if (users.length === 0) return error;
  const sum = users.reduce((total, { workersMax }) => total + workersMax, 0);
  const usage = users.map(({ name, id, workersMax }) => `"${name}" (${id}) ${workersMax}`).join(", ");
  const hidden = snapshot?.unreadable.length ?? 0;
  const others = hidden === 0 ? "" : `. Endpoints that cannot be read: ${hidden}`;
  return new QuotaExceededError(`${error.message}. In use now: ${sum} by ${usage}${others}`);
}
