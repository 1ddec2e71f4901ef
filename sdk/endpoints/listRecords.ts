import { z } from "zod";
import { NameTakenError, UnexpectedResponseError } from "../errors";
import { decode, problemsOf } from "../transport/decode";
import { normalizeName } from "./normalForms";
import type { Endpoint } from "./record";
import { endpointSchema } from "./wireFormat";

/** A record of the list of endpoints that does not match the contract. It may be of somebody else's endpoint. */
export interface UnreadableEndpoint {
  /** Identifier of the endpoint, if the record has one. */
  readonly id?: string | undefined;
  /** Name of the endpoint, if the record has one. */
  readonly name?: string | undefined;
  /** Description of the problem with the record. */
  readonly problem: string;
}

/** The list of endpoints, with each record read separately. */
export interface ListedEndpoints {
  /** The endpoints whose records can be read. */
  readonly endpoints: readonly Endpoint[];
  /** The known parts of the other records. */
  readonly unreadable: readonly UnreadableEndpoint[];
}

const OPERATION = "the list of endpoints";

const listSchema = z.looseObject({ endpoints: z.array(z.unknown()) });
const idSchema = z.looseObject({ id: z.string().min(1) });
const nameSchema = z.looseObject({ name: z.string() });

/**
 * Reads the list of an account.
 * @throws UnexpectedResponseError if there is no list
 */
export function readEndpoints(myself: unknown): ListedEndpoints {
  const endpoints: Endpoint[] = [];
  const unreadable: UnreadableEndpoint[] = [];
  for (const record of decode(listSchema, myself, OPERATION).endpoints) {
    const result = endpointSchema.safeParse(record);
    if (result.success) {
      endpoints.push(result.data);
      continue;
    }
    const id = idSchema.safeParse(record).data?.id;
    const name = nameSchema.safeParse(record).data?.name;
    unreadable.push({ id, name: name && normalizeName(name), problem: problemsOf(result.error) });
  }
  return { endpoints, unreadable };
}

/**
 * Returns the endpoint with this id, or `undefined` if the list proves that there is none.
 * @throws UnexpectedResponseError if its record cannot be read, or if a record without an id might be its record
 */
export function endpointById({ endpoints, unreadable }: ListedEndpoints, id: string): Endpoint | undefined {
  const found = endpoints.find((each) => each.id === id);
  if (found) return found;
  const own = unreadable.find((each) => each.id === id);
  if (own) throw unreadableError(`endpoint ${id} exists, but its record cannot be read`, own);
  const nameless = unreadable.find((each) => each.id === undefined);
  if (nameless)
    throw unreadableError(
      `cannot tell whether endpoint ${id} exists, because a record in the list has no id`,
      nameless,
    );
  return undefined;
}

/**
 * Returns the endpoints with this name.
 * @throws UnexpectedResponseError if the record of one cannot be read, or if none is found and a record has no name
 */
export function endpointsByName({ endpoints, unreadable }: ListedEndpoints, name: string): Endpoint[] {
  const found = endpoints.filter((each) => each.name === name);
  const own = unreadable.find((each) => each.name === name);
  if (own) throw unreadableError(`an endpoint named "${name}" exists, but its record cannot be read`, own);
  const nameless = unreadable.find((each) => each.name === undefined);
  if (found.length > 0 || !nameless) return found;
  throw unreadableError(
    `cannot tell whether an endpoint named "${name}" exists, because a record in the list has no name`,
    nameless,
  );
}

/**
 * Refuses an incomplete list.
 * @throws UnexpectedResponseError if a record cannot be read; names the first one
 */
export function refuseUnreadable({ unreadable }: ListedEndpoints): void {
  const [first] = unreadable;
  if (first) throw unreadableError(`${unreadable.length} of the records cannot be read`, first);
}

/**
 * Refuses a name whose owner cannot be read.
 * @throws NameTakenError if a record that cannot be read has the name
 */
export function refuseUnreadableNamesake({ unreadable }: ListedEndpoints, name: string): void {
  const namesakes = unreadable.filter((each) => each.name === name);
  const [namesake] = namesakes;
  if (!namesake) return;
  throw new NameTakenError(
    `an endpoint named "${name}" exists already (${namesake.id ?? "without an id"}), and its record cannot be read: ` +
      `${namesake.problem}. Nothing was created. Check that endpoint, and choose another name`,
    namesakes.flatMap(({ id }) => id ?? []),
  );
}

/**
 * Returns the endpoints that are in `after` and not in `before`.
 * @throws UnexpectedResponseError if a record that cannot be read may be that of a new endpoint with this name
 */
export function newEndpoints(before: ListedEndpoints, after: ListedEndpoints, name: string): Endpoint[] {
  const knownIds = new Set([...before.endpoints, ...before.unreadable].map(({ id }) => id));
  // A record without an id may be another one in the next list.
  const isNew = ({ id }: { readonly id?: string | undefined }) => id === undefined || !knownIds.has(id);
  const suspect = after.unreadable.find((each) => isNew(each) && (each.name === undefined || each.name === name));
  if (suspect) throw unreadableError(`one of the records may be of the new endpoint "${name}"`, suspect);
  return after.endpoints.filter(isNew);
}

function unreadableError(what: string, { id, name, problem }: UnreadableEndpoint): UnexpectedResponseError {
  const named = name === undefined ? "" : ` ("${name}")`;
  const whose = id === undefined ? `a record without an id${named}` : `the record of ${id}${named}`;
  return new UnexpectedResponseError(
    `${OPERATION}: ${what}. The service's response has an unexpected shape in ${whose}: ${problem}. Check that endpoint ` +
      "at the service. If it is valid there, update this package",
  );
}
