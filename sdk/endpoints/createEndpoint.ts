import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { CreateUncertainError, ServerlessGpuError } from "../errors";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { type Account, saveEndpoint } from "./calls";
import { readShared } from "./findEndpoint";
import { parseEndpointFields } from "./input";
import { type ListedEndpoints, newEndpoints, refuseUnreadableNamesake } from "./listRecords";
import type { Endpoint, EndpointInput, EndpointSettings } from "./record";

/** Options of `create`. */
export interface CreateOptions extends RequestOptions {
  /**
   * Called if endpoints with the new name exist already. It may return one of them, which `create` then returns, or
   * throw. Without it, or if it returns `undefined`, another endpoint is created: names need not be unique at the service.
   */
  readonly onNameTaken?: (existing: readonly Endpoint[]) => Endpoint | undefined;
}

/** Lists, creates, and lists again after a lost response, so that there is never a second endpoint. */
export async function createEndpoint(
  account: Account,
  input: EndpointInput,
  { onNameTaken, ...options }: CreateOptions & ObservedOptions,
): Promise<Endpoint> {
  const wanted = parseEndpointFields("the new endpoint", input, { ...account, isNew: true });
  let before: ListedEndpoints = await readShared(account, wanted.name, options);
  if (onNameTaken) {
    refuseUnreadableNamesake(before, wanted.name);
    const namesakes = () => before.endpoints.filter(({ name }) => name === wanted.name);
    if (namesakes().length > 0) {
      // A shared list may be a little old. An endpoint that is gone now must not refuse the name.
      const now = await account.list.read({}, options);
      refuseUnreadableNamesake(now, wanted.name);
      before = { endpoints: now.endpoints, unreadable: [...before.unreadable, ...now.unreadable] };
    }
    const taken = namesakes().length > 0 ? onNameTaken(namesakes()) : undefined;
    if (taken) return taken;
  }
  const operation = `saveEndpoint (create) of "${wanted.name}"`;
  const lookUp = () => findCreated(account, operation, wanted, before, options);
  return saveEndpoint(account, operation, wanted, { ...options, lookUp });
}

/** Returns the endpoint that a lost call created, or `undefined` if it created none. */
async function findCreated(
  { clock, list }: Account,
  operation: string,
  wanted: EndpointSettings,
  before: ListedEndpoints,
  options: ObservedOptions,
): Promise<Endpoint | undefined> {
  await sleep(clock, LIST_LAG_MS, options.signal);
  let created: readonly Endpoint[];
  try {
    created = newEndpoints(before, await list.read({}, options), wanted.name);
  } catch (cause) {
    if (!(cause instanceof ServerlessGpuError)) throw cause;
    throw new CreateUncertainError(
      `${operation}: the response was lost, and the list that shows whether it worked cannot be read: ${cause.message}. ` +
        "The endpoint may exist. Check before you create it again",
      [],
      { cause },
    );
  }
  const candidates = created.filter((each) => isSame(each, wanted));
  if (candidates.length < 2) return candidates[0];
  const ids = candidates.map(({ id }) => id);
  throw new CreateUncertainError(
    `${operation}: the response was lost, and several new endpoints could be it: ${ids.join(", ")}. ` +
      "Keep one of them and delete the others",
    ids,
  );
}

function isSame(endpoint: Endpoint, wanted: EndpointSettings): boolean {
  return (["name", "templateId", "gpuIds"] as const).every((field) => endpoint[field] === wanted[field]);
}
