import * as z from "zod";
import { LIST_CAP } from "../contract/limits";
import { AuthenticationError, BusinessRuleError, NotFoundError, RejectedError } from "../errors/errors";
import { redactBeginning } from "../errors/secretText";
import type { ReadByIds } from "../records/calls";
import { decodeRecords, type Listed, type NamedRecord, type ReadableKind } from "../records/listed";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { unexpectedResponse } from "../transport/responseErrors";
import { aliasOf, type BrokenField, BrokenFieldError, LONGEST_SAID } from "./errors";
import { execute, type GraphqlTransport, type Literal, rootValue, toQuery } from "./transport";

/**
 * Reads fields of the account.
 * @throws AuthenticationError if the service has no account for this key
 */
export async function readMyself(
  transport: GraphqlTransport,
  operation: string,
  selection: string,
  attempt: Attempt,
): Promise<unknown> {
  const query = toQuery({ type: "query", name: "myself", selection });
  const data = await execute(transport, operation, "myself", query, attempt);
  return existingAccount(rootValue(data, "myself", operation), operation);
}

/**
 * Reads fields of the account, and finds out which of these templates do not exist. If the service
 * does not allow both to be read in one request, `onRefused` is called, and nothing is known about
 * the templates.
 */
export async function readMyselfAndTemplates(
  transport: GraphqlTransport,
  operation: string,
  selection: string,
  ids: readonly string[],
  attempt: Attempt,
  onRefused: () => void,
): Promise<{ readonly myself: unknown; readonly absent: ReadonlySet<string> }> {
  const alone = async () => ({
    myself: await readMyself(transport, operation, selection, attempt),
    absent: new Set<string>(),
  });
  if (ids.length === 0) return alone();
  const others = ids.map((id, index) => `${aliasOf(index)}: podTemplate(id: ${JSON.stringify(id)}) { id }`).join(" ");
  try {
    const query = `{ myself { ${selection} } ${others} }`;
    const { myself = null, ...answers } = await execute(transport, operation, "myself", query, attempt);
    const absent = ids.filter((_, index) => answers[aliasOf(index)] === null);
    return { myself: existingAccount(myself, operation), absent: new Set(absent) };
  } catch (error) {
    const refusals = [RejectedError, NotFoundError, BusinessRuleError, AuthenticationError];
    if (!refusals.some((refusal) => error instanceof refusal)) throw error;
    const read = await alone();
    onRefused();
    return read;
  }
}

function existingAccount(myself: unknown, operation: string): unknown {
  // Don't treat "no account" like "an account without endpoints". Otherwise, every endpoint would
  // count as deleted.
  if (myself !== null) return myself;
  throw new AuthenticationError(`${operation}: the service found no account for this API key. Check the key`);
}

/** A GraphQL field that returns a record by its id, or `null` if the record does not exist. */
interface SingleField {
  readonly name: string;
  readonly selection: string;
  /** The object that contains the field. */
  readonly of: "query" | "myself";
}

/** The maximum number of records that one request reads. */
const MOST_IDS = 50;

/**
 * Returns the functions for reading records by id, based on a function that calls `readAliases`.
 */
export function byAliases<T extends NamedRecord>(read: ReadByIds<T>["read"]): ReadByIds<T> {
  return { most: MOST_IDS, read };
}

/**
 * Reads records by their ids, using an alias for each record. Returns the records that exist.
 * @throws UnexpectedResponseError if the response says nothing about one of the records
 */
export async function readAliases<T extends NamedRecord>(
  transport: GraphqlTransport,
  kind: ReadableKind<T>,
  operation: string,
  { name, selection, of }: SingleField,
  ids: readonly string[],
  attempt: Attempt,
): Promise<Listed<T>> {
  const aliases = ids
    .map((id, index) => `${aliasOf(index)}: ${name}(id: ${JSON.stringify(id)}) { ${selection} }`)
    .join(" ");
  const send = () =>
    of === "myself"
      ? readMyself(transport, operation, aliases, attempt)
      : execute(transport, operation, name, `{ ${aliases} }`, attempt);
  const { response, broken } = await withoutBroken(of, send);
  const answers = decode(z.looseObject({}), response, operation);
  const unreadable = ids.flatMap((id, index) => {
    const found = broken.find(({ record }) => record === aliasOf(index));
    return found ? [{ id, problem: problemOf(found) }] : [];
  });
  const records = ids.flatMap((id, index) => {
    const record = answers[aliasOf(index)];
    if (record === null || unreadable.some((each) => each.id === id)) return [];
    // If the answer is missing or contains another record, nothing is known about this record. The
    // error does not show the answer, because a template contains secrets.
    if (z.looseObject({ id: z.literal(id) }).safeParse(record).success) return [record];
    throw unexpectedResponse(operation, `no answer about ${kind.noun} ${id}`, Object.keys(answers));
  });
  const read = decodeRecords(kind, { records }, "records");
  return unreadable.length === 0 ? read : { records: read.records, unreadable: [...read.unreadable, ...unreadable] };
}

/**
 * Sends a query for several records. Returns the response without the records that have a broken
 * field, and the broken fields.
 * @throws BrokenFieldError if the response does not contain the other records
 */
async function withoutBroken(
  of: SingleField["of"],
  send: () => Promise<unknown>,
): Promise<{ readonly response: unknown; readonly broken: readonly BrokenField[] }> {
  try {
    return { response: await send(), broken: [] };
  } catch (error) {
    if (!(error instanceof BrokenFieldError)) throw error;
    const response = of === "myself" ? error.data?.myself : error.data;
    if (!response) throw error;
    return { response, broken: error.fields };
  }
}

function problemOf({ field, said }: BrokenField): string {
  return `the service cannot return its field ${field} over GraphQL ("${redactBeginning(said, LONGEST_SAID)}"); change it over REST v2 (SERVERLESS_GPU_API=v2)`;
}

/** How to read the records of a list one by one. */
interface ListField {
  /** The list in `myself`. */
  readonly list: string;
  readonly single: SingleField;
}

/**
 * Reads the records of a list by their ids, because a broken field of one record makes the service
 * withhold the whole list. The record with the broken field is unreadable.
 * @throws BrokenFieldError that names the record, if the service cannot read records by their ids
 */
export async function readOneByOne<T extends NamedRecord>(
  transport: GraphqlTransport,
  kind: ReadableKind<T>,
  operation: string,
  { list, single }: ListField,
  cause: BrokenFieldError,
  attempt: Attempt,
): Promise<Listed<T>> {
  const named: ReadableKind<NamedRecord> = { ...kind, schema: z.looseObject({ id: z.string(), name: z.string() }) };
  const myself = await readMyself(transport, operation, `${list} { id name }`, attempt);
  const { records: all } = decodeRecords(named, myself, list);
  const parts = all.flatMap((_, from) => (from % MOST_IDS === 0 ? [all.slice(from, from + MOST_IDS)] : []));
  const read: Listed<T>[] = [];
  try {
    for (const part of parts) {
      const ids = part.map(({ id }) => id);
      read.push(await readAliases(transport, kind, operation, single, ids, attempt));
    }
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    const fields = cause.fields.map((each) => ({ ...each, record: all[Number(each.record)]?.id ?? each.record }));
    throw new BrokenFieldError(operation, fields, null);
  }
  const nameOf = (id: string | undefined) => all.find((each) => each.id === id)?.name;
  return {
    records: read.flatMap(({ records }) => records),
    unreadable: read.flatMap(({ unreadable }) => unreadable.map((each) => ({ name: nameOf(each.id), ...each }))),
    mayBeCut: all.length >= LIST_CAP,
    length: all.length,
  };
}

/** Sends a mutation that returns a record. */
export async function sendSave<T>(
  transport: GraphqlTransport,
  operation: string,
  { name, input, selection }: { readonly name: string; readonly input: Literal; readonly selection: string },
  schema: z.ZodType<T>,
  attempt: Attempt,
): Promise<T> {
  const query = toQuery({ type: "mutation", name, args: { input }, selection });
  const data = await execute(transport, operation, name, query, attempt);
  return decode(schema, rootValue(data, name, operation), operation);
}

/** Sends a mutation that deletes a record. */
export async function sendDeletion(
  transport: GraphqlTransport,
  operation: string,
  name: string,
  args: Readonly<Record<string, Literal>>,
  attempt: Attempt,
): Promise<void> {
  const query = toQuery({ type: "mutation", name, args });
  rootValue(await execute(transport, operation, name, query, attempt), name, operation);
}
