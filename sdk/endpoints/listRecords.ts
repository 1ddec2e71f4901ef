import { type Listed, type RecordKind, recordsByName, type UnreadableRecord } from "../records/listed";
import { normalizeName } from "./normalForms";
import type { Endpoint } from "./record";
import { endpointSchema } from "./wireFormat";

/** A record of the list of endpoints that does not match the contract. It may be of somebody else's endpoint. */
export interface UnreadableEndpoint extends UnreadableRecord {}

/** The list of endpoints, with each record read separately. */
export interface ListedEndpoints {
  /** The endpoints whose records can be read. */
  readonly endpoints: readonly Endpoint[];
  /** The known parts of the other records. */
  readonly unreadable: readonly UnreadableEndpoint[];
  /** `true` if the account may have more endpoints than the service lists. @default false */
  readonly mayBeCut?: boolean | undefined;
}

export const ENDPOINT: RecordKind<Endpoint> = {
  noun: "endpoint",
  one: "an endpoint",
  schema: endpointSchema,
  normalizeName,
};

/** Returns a copy of a list, which is shared with other readers, for the caller to keep. */
export function toListedEndpoints({ records, unreadable, mayBeCut }: Listed<Endpoint>): ListedEndpoints {
  return { endpoints: [...records], unreadable: [...unreadable], ...(mayBeCut && { mayBeCut }) };
}

/**
 * Returns the endpoints with this name.
 * @throws UnexpectedResponseError if the record of one cannot be read, or if none is found and a record has no name
 */
export function endpointsByName({ endpoints, unreadable }: ListedEndpoints, name: string): Endpoint[] {
  return recordsByName(ENDPOINT, { records: endpoints, unreadable }, name);
}
