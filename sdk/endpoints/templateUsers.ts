import { isDeepStrictEqual } from "node:util";
import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { InUseError } from "../errors/errors";
import type { Collection } from "../records/collection";
import { readShared } from "../records/reads";
import type { ObservedOptions } from "../transport/requestOptions";
import { splitChanges } from "./ownContainer";
import type { Endpoint, EndpointSettings } from "./record";

/*
 * GraphQL: the template that belongs to an endpoint can be given to other endpoints, too. A change
 * of it would reach their workers, and the service deletes it together with its endpoint.
 */

/**
 * Checks that a change does not affect a container whose template other endpoints use.
 * @throws InUseError that names the other endpoints
 */
export async function refuseSharedChange(
  collection: Collection<Endpoint>,
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
  const { id, name, templateId } = before;
  throw new InUseError(
    `endpoint ${id} ("${name}") was not changed, because ${users.join(", ")} also uses its template ${templateId}, and would ` +
      "change with it. Give that endpoint a template of its own, then try again",
  );
}

/**
 * Checks that no other endpoints use the template of an endpoint that is about to be deleted.
 * @throws InUseError that names the other endpoints
 */
export async function refuseSharedDeletion(
  collection: Collection<Endpoint>,
  endpoint: Endpoint,
  options: ObservedOptions,
): Promise<void> {
  const users = await otherUsers(collection, endpoint, options);
  if (users.length === 0) return;
  const { id, name, templateId } = endpoint;
  throw new InUseError(
    `endpoint ${id} ("${name}") is not deleted, because ${users.join(", ")} also uses its template ${templateId}, which the ` +
      "service deletes with it. Give that endpoint a template of its own, or delete it first if nobody needs it, then try again",
  );
}

/**
 * Returns the other endpoints that use an endpoint's template. If there seem to be any, reads the
 * list again after the time by which lists can lag.
 */
async function otherUsers(
  collection: Collection<Endpoint>,
  { id, templateId, template }: Endpoint,
  options: ObservedOptions,
): Promise<readonly string[]> {
  if (!template?.isBound) return [];
  const { clock, list } = collection;
  const usersIn = ({ records }: { readonly records: readonly Endpoint[] }) =>
    records
      .filter((each) => each.templateId === templateId && each.id !== id)
      .map((each) => `endpoint "${each.name}" (${each.id})`);
  if (usersIn(await readShared(collection, id, options)).length === 0) return [];
  await list.rest(sleep(clock, LIST_LAG_MS, options.signal));
  return usersIn(await list.read({}, options));
}
