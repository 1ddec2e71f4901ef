import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { NotFoundError } from "../errors";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import type { Account } from "./calls";
import { endpointById } from "./listRecords";
import type { Endpoint } from "./record";
import type { ListSnapshot } from "./sharedList";

/** Options of `find`. */
export interface FindOptions extends RequestOptions {
  /**
   * The age that the list may have, in milliseconds. It is never older than the last write of this client. Without it,
   * the list is requested after the call.
   */
  readonly maxAgeMs?: number;
}

/**
 * The age that the first list of a create, update or delete may have. If every operation fetched its own list, the total
 * data would grow with n².
 */
const SHARED_LIST_MAX_AGE_MS = 2_000;

/** Returns a list that calls share if they begin at about the same time. It shows every write of this client to the id or name. */
export function readShared(account: Account, idOrName: string, options: ObservedOptions): Promise<ListSnapshot> {
  const { clock, lastWrites, list } = account;
  const lastWrite = lastWrites.get(idOrName) ?? Number.NEGATIVE_INFINITY;
  const sentAfter = Math.max(clock.monotonic() - SHARED_LIST_MAX_AGE_MS, lastWrite + 1);
  return list.read({ sentAfter, despiteWrites: true }, options);
}

/** Returns a shared list, or a new one if the endpoint is not in it: somebody else may have just created it. */
export async function readSharedWith(account: Account, id: string, options: ObservedOptions): Promise<ListSnapshot> {
  const begunAt = account.clock.monotonic();
  const shared = await readShared(account, id, options);
  return shared.endpoints.some((each) => each.id === id) ? shared : account.list.read({ sentAfter: begunAt }, options);
}

/** Looks in this list, and once more when its lag has passed. */
export async function lookTwice(
  { clock, list }: Account,
  first: ListSnapshot,
  id: string,
  options: ObservedOptions,
): Promise<Endpoint | undefined> {
  const found = endpointById(first, id);
  if (found) return found;
  // All that did not find something in the same list share the second one, too.
  const lagIsOverAt = first.sentAt + LIST_LAG_MS;
  await sleep(clock, Math.max(0, lagIsOverAt - clock.monotonic()), options.signal);
  return endpointById(await list.read({ sentAfter: lagIsOverAt }, options), id);
}

/** Returns the endpoint, or `undefined` if it is in neither of two lists with the service's lag between them. */
export async function findEndpoint(
  account: Account,
  id: string,
  { maxAgeMs, ...options }: FindOptions & ObservedOptions,
): Promise<Endpoint | undefined> {
  const begunAt = account.clock.monotonic();
  const sentAfter = maxAgeMs === undefined ? undefined : begunAt - maxAgeMs;
  const recent = await account.list.read({ sentAfter }, options);
  const isOld = recent.sentAt < begunAt && !isDecisive(recent, id);
  return lookTwice(account, isOld ? await account.list.read({ sentAfter: begunAt }, options) : recent, id, options);
}

/** Returns `false` if an odd record of the list hides whether it has the endpoint. A new list may be free of it. */
function isDecisive({ endpoints, unreadable }: ListSnapshot, id: string): boolean {
  return (
    endpoints.some((each) => each.id === id) || unreadable.every((each) => each.id !== undefined && each.id !== id)
  );
}

/**
 * Returns the endpoint that was found.
 * @throws NotFoundError if none was
 */
export function existing(endpoint: Endpoint | undefined, id: string): Endpoint {
  if (endpoint) return endpoint;
  throw noSuchEndpoint(id);
}

/** Returns the error for an id that no endpoint of the account has. */
export function noSuchEndpoint(id: string): NotFoundError {
  return new NotFoundError(`endpoint ${id} does not exist in this account. Check the id and the API key`);
}
