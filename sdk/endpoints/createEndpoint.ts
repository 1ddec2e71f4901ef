import { createRecord } from "../records/createRecord";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { type EndpointCollection, withUsage } from "./calls";
import { parseEndpointFields } from "./input";
import type { Endpoint, EndpointInput, EndpointSettings } from "./record";

/** Options of `create`. */
export interface CreateOptions extends RequestOptions {
  /**
   * Called if endpoints with the new name exist already. It may return one of them, which `create` then returns, or
   * throw. Without it, or if it returns `undefined`, another endpoint is created: names need not be unique at the service.
   */
  readonly onNameTaken?: (existing: readonly Endpoint[]) => Endpoint | undefined;
}

/** Creates an endpoint; see `createRecord`. */
export async function createEndpoint(
  collection: EndpointCollection,
  input: EndpointInput,
  options: CreateOptions & ObservedOptions = {},
): Promise<Endpoint> {
  const wanted = parseEndpointFields("the new endpoint", input, { ...collection, isNew: true });
  const creation = {
    settings: wanted,
    isSame: (each: Endpoint) => isSame(collection, each, wanted),
  };
  await collection.calls.prepare?.(wanted);
  try {
    const created = await createRecord(collection, creation, options);
    // A new endpoint has no earlier saves: an emulator that was reset gives the same ids again.
    collection.lastSaved.delete(created.id);
    return await collection.recall(created, { ...wanted });
  } catch (error) {
    throw await withUsage(error, collection, options);
  }
}

function isSame(collection: EndpointCollection, endpoint: Endpoint, wanted: EndpointSettings): boolean {
  const hidden = collection.hiddenIn(endpoint);
  const fields = (["templateId", "gpuIds"] as const).filter((field) => !hidden.includes(field));
  return fields.every((field) => endpoint[field] === wanted[field]);
}
