import { isDeepStrictEqual } from "node:util";
import type { Capabilities } from "../contract/capabilities";
import { LIST_LAG_MS } from "../contract/limits";
import { QuotaExceededError } from "../errors";
import { changeRecord, sendWrite } from "../records/changeRecord";
import {
  type Collection,
  createCollection,
  type KnownOptions,
  type KnownSettings,
  readExisting,
  withKnown,
} from "../records/collection";
import { type ObservedOptions, requestOptions } from "../transport/requestOptions";
import { type Attempt, type CallContext, makeCall } from "../transport/retryingCall";
import type { EndpointCalls } from "./endpointCalls";
import { ENDPOINT_FIELDS } from "./fields";
import type { EndpointInputOptions } from "./input";
import { ENDPOINT } from "./listRecords";
import type { Endpoint, EndpointSettings, ServerlessDiscount } from "./record";

/** The settings that the calls of the management interface need. */
export interface EndpointsContext extends CallContext, EndpointInputOptions {
  readonly capabilities: Capabilities;
}

/** The endpoints of one account. */
export interface Account extends Collection<Endpoint>, EndpointInputOptions {
  readonly calls: EndpointCalls;
  readonly capabilities: Capabilities;
  /** The endpoints as this client last saved them. For a while the list still shows what they were before. */
  readonly lastSaved: Map<string, Saved>;
}

interface Saved {
  readonly endpoint: Endpoint;
  /** The endpoint before each of the last saves. */
  readonly before: readonly Endpoint[];
  /** The time of the response, in milliseconds of the monotonic clock. */
  readonly at: number;
}

/** Returns the account that the calls work on. */
export function createAccount(context: EndpointsContext, calls: EndpointCalls): Account {
  const { capabilities, extraGpuTiers, extraLocations, wholeScalerValue } = context;
  return {
    ...createCollection(context, ENDPOINT, calls),
    calls,
    capabilities,
    extraGpuTiers,
    extraLocations,
    wholeScalerValue,
    lastSaved: new Map(),
  };
}

/**
 * Returns the endpoint that the next save builds on: the list may still show what it was before this client's last save.
 * It does not wait for the list as a change of a template does (`readSettled`): to delete or recycle an endpoint takes
 * several saves in a row.
 */
export function withOwnSave({ lastSaved, clock }: Account, listed: Endpoint): Endpoint {
  const saved = lastSaved.get(listed.id);
  if (!saved || clock.monotonic() - saved.at > 2 * LIST_LAG_MS) return listed;
  return saved.before.some((earlier) => hasSameSettings(earlier, listed)) ? saved.endpoint : listed;
}

function noteSaved({ lastSaved, clock }: Account, before: Endpoint, endpoint: Endpoint): Endpoint {
  const earlier = lastSaved.get(endpoint.id)?.before.slice(-9) ?? [];
  lastSaved.set(endpoint.id, { endpoint, before: [...earlier, before], at: clock.monotonic() });
  return endpoint;
}

function hasSameSettings(one: Endpoint, other: Endpoint): boolean {
  return (
    ENDPOINT_FIELDS.every((field) => one[field] === other[field]) && isDeepStrictEqual(one.kept ?? {}, other.kept ?? {})
  );
}

/** Changes some settings of an endpoint. All others stay as they are. */
export async function changeEndpoint(
  account: Account,
  endpoint: Endpoint,
  changes: Partial<EndpointSettings>,
  given?: ObservedOptions,
  known?: KnownSettings,
): Promise<Endpoint> {
  const options = requestOptions(given);
  const before = withOwnSave(account, endpoint);
  await account.calls.prepare?.(changes);
  // A template that is known need not be applied again.
  const shown = withKnown(before, account.hiddenIn(before), known);
  try {
    const saved = noteSaved(account, before, await changeRecord(account, shown, changes, options));
    return await account.recall(saved, { ...known, ...changes });
  } catch (error) {
    throw await withUsage(error, account, options);
  }
}

/**
 * Sends the deletion.
 * @throws NotFoundError if the endpoint does not exist
 */
export function sendDelete(account: Account, id: string, given: ObservedOptions): Promise<void> {
  const { calls } = account;
  const operation = `deleteEndpoint of ${id}`;
  const attempt = (each: Attempt) => calls.delete(operation, { id }, each);
  return sendWrite(account, { name: calls.names.delete, operation, attempt }, [id], requestOptions(given));
}

/** Gives an endpoint the present version of a template. Returns `undefined` if the service does that by itself. */
export async function applyTemplate(
  account: Account,
  id: string,
  templateId: string,
  { known, ...options }: KnownOptions & ObservedOptions,
): Promise<Endpoint | undefined> {
  const { names, applyTemplate: apply } = account.calls;
  if (!apply) return undefined;
  const endpoint = await readExisting(account, id, options);
  const operation = `${names.change} of "${endpoint.name}" (${id})`;
  const attempt = (each: Attempt) => apply(operation, endpoint, templateId, each);
  const saved = await sendWrite(
    account,
    { name: names.change, operation, attempt },
    [id, endpoint.name],
    requestOptions(options),
  );
  return account.recall(saved, { ...known, templateId });
}

/** Counts the pods that have not shut down: those whose status is neither EXITED nor TERMINATED. */
export function activeAmong(pods: Endpoint["pods"]): number {
  return pods.filter(({ desiredStatus }) => desiredStatus !== "EXITED" && desiredStatus !== "TERMINATED").length;
}

/** Reads the number of pods of an endpoint that have not shut down. */
export async function countActivePods(
  account: Account,
  { id, pods }: Endpoint,
  given: ObservedOptions,
): Promise<number> {
  const { calls } = account;
  const operation = `the workers of endpoint ${id}`;
  const { pods: readPods } = calls;
  if (!readPods) return activeAmong(pods);
  const attempt = (each: Attempt) => readPods(operation, id, each);
  const call = { name: "listWorkers", operation, repeatability: "safe", attempt } as const;
  return activeAmong(await makeCall(account, { ...requestOptions(given), ...call }));
}

/** Reads the account's discount. An interface that shows none has none. */
export async function fetchDiscount(account: Account, options: ObservedOptions): Promise<ServerlessDiscount | null> {
  const { discount } = account.calls;
  if (!discount) return null;
  const operation = "the serverless discount";
  const attempt = (each: Attempt) => discount(operation, each);
  return makeCall(account, { ...options, name: account.calls.names.list, operation, repeatability: "safe", attempt });
}

/** Adds to the quota's error the endpoints that use the quota, as far as they can be read. */
export async function withUsage(error: unknown, { list }: Account, options: ObservedOptions): Promise<unknown> {
  if (!(error instanceof QuotaExceededError)) return error;
  const snapshot = await list.read({}, requestOptions(options)).catch(() => undefined);
  const users = (snapshot?.records ?? []).filter(({ workersMax }) => workersMax > 0);
  if (users.length === 0) return error;
  const sum = users.reduce((total, { workersMax }) => total + workersMax, 0);
  const usage = users.map(({ name, id, workersMax }) => `"${name}" (${id}) ${workersMax}`).join(", ");
  const hidden = snapshot?.unreadable.length ?? 0;
  const others = hidden === 0 ? "" : `, besides ${hidden} whose records cannot be read`;
  return new QuotaExceededError(`${error.message}. In use now: ${sum} by ${usage}${others}`);
}
