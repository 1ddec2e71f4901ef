import { isDeepStrictEqual } from "node:util";
import { CONTAINER_FIELDS } from "../containers/fields";
import { sleep, timeLimit } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { InUseError } from "../errors/errors";
import type { Collection } from "../records/collection";
import { readShared } from "../records/reads";
import type { ObservedOptions } from "../transport/requestOptions";
import { splitChanges } from "./ownContainer";
import type { Endpoint, EndpointSettings } from "./record";

/*
 * The template that belongs to an endpoint can be given to other endpoints over GraphQL. A change
 * of it would reach their workers, and the service deletes it together with its endpoint. REST v2
 * does not show which template an endpoint uses, so GraphQL is asked in that case as well.
 */

/** The endpoints, and how to find out which templates they use. */
interface Endpoints extends Collection<Endpoint> {
  /** The endpoints over an API that shows their templates, if this one does not. */
  readonly overGraphql: Collection<Endpoint> | undefined;
}

/** How long a change over REST v2 waits for GraphQL, in milliseconds. */
const LOOK_MS = 10_000;
/** How old the list over GraphQL may be, so that the changes of one run share it. */
const GRAPHQL_MAX_AGE_MS = 600_000;
/** The collections over GraphQL that could not be read. They are not asked again. */
const unread = new WeakSet<object>();

/**
 * Checks that a change does not affect a container whose template other endpoints use.
 * @throws InUseError that names the other endpoints
 */
export async function refuseSharedChange(
  collection: Endpoints,
  before: Endpoint,
  changes: Partial<EndpointSettings>,
): Promise<void> {
  const { container = {} } = splitChanges(changes);
  const isChanged = Object.entries(container).some(
    ([field, value]) => !isDeepStrictEqual(before[field as keyof Endpoint], value),
  );
  if (!isChanged) return;
  const users = await otherUsers(collection, before, {});
  if (users.length === 0) return;
  const { id, name } = before;
  throw new InUseError(
    `endpoint ${id} ("${name}") was not changed, because ${users.join(", ")} also uses its own template, and would ` +
      "change with it. Give that endpoint a template of its own, then try again",
  );
}

/**
 * Checks that no other endpoints use the template of an endpoint that is about to be deleted.
 * @throws InUseError that names the other endpoints
 */
export async function refuseSharedDeletion(
  collection: Endpoints,
  endpoint: Endpoint,
  options: ObservedOptions,
): Promise<void> {
  const users = await otherUsers(collection, endpoint, options);
  if (users.length === 0) return;
  const { id, name } = endpoint;
  throw new InUseError(
    `endpoint ${id} ("${name}") is not deleted, because ${users.join(", ")} also uses its own template, which the ` +
      "service deletes with it. Give that endpoint a template of its own, or delete it first if nobody needs it, then try again",
  );
}

/**
 * Returns the other endpoints that use an endpoint's template. Over REST v2, this is checked only
 * if another endpoint shows the same container, which costs one request per run. Without GraphQL,
 * nothing is known.
 */
async function otherUsers(
  collection: Endpoints,
  endpoint: Endpoint,
  options: ObservedOptions,
): Promise<readonly string[]> {
  const { overGraphql } = collection;
  if (!overGraphql) return usersOfTemplate(collection, endpoint, options);
  if (unread.has(overGraphql)) return [];
  const { records } = await readShared(collection, endpoint.id, options);
  if (!records.some((each) => each.id !== endpoint.id && hasSameContainer(each, endpoint))) return [];
  // Options with a time limit of their own would not share the list.
  const limit = timeLimit(collection.clock, LOOK_MS, () => new Error("no response in time"), options.signal);
  try {
    const look = { signal: limit.signal };
    const shown = await readShared(overGraphql, endpoint.id, look, 1, GRAPHQL_MAX_AGE_MS);
    const own = shown.records.find(({ id }) => id === endpoint.id);
    return own ? await usersOfTemplate(overGraphql, own, look, GRAPHQL_MAX_AGE_MS) : [];
  } catch {
    options.signal?.throwIfAborted();
    unread.add(overGraphql);
    return [];
  } finally {
    limit.release();
  }
}

function hasSameContainer(one: Endpoint, other: Endpoint): boolean {
  return one.imageName !== "" && CONTAINER_FIELDS.every((field) => isDeepStrictEqual(one[field], other[field]));
}

/**
 * Returns the other endpoints that use an endpoint's template. If there seem to be any, reads the
 * list again after the time by which lists can lag.
 */
async function usersOfTemplate(
  collection: Collection<Endpoint>,
  { id, templateId, template }: Endpoint,
  options: ObservedOptions,
  maxAgeMs?: number,
): Promise<readonly string[]> {
  if (!template?.isBound) return [];
  const { clock, list } = collection;
  const usersIn = ({ records }: { readonly records: readonly Endpoint[] }) =>
    records
      .filter((each) => each.templateId === templateId && each.id !== id)
      .map((each) => `endpoint "${each.name}" (${each.id})`);
  if (usersIn(await readShared(collection, id, options, 1, maxAgeMs)).length === 0) return [];
  await list.rest(sleep(clock, LIST_LAG_MS, options.signal));
  return usersIn(await list.read({}, options));
}
