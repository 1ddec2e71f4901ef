import { z } from "zod";
import { sleep } from "../contract/clock";
import { UnexpectedResponseError } from "../errors";
import { decode } from "../transport/decode";
import { type RestV2Transport, requestV2 } from "../transport/restV2";
import type { Attempt } from "../transport/retryingCall";
import { type Listed, type NamedRecord, type RecordKind, readRecords, type UnreadableRecord } from "./listed";

const pageSchema = z.looseObject({
  pagination: z.looseObject({ nextCursor: z.string().nullish(), hasNextPage: z.boolean().nullish() }).nullish(),
});

/** More pages than any account has: a service that repeats itself must not be read indefinitely. */
const MOST_PAGES = 1000;

/** The wait between two looks at the rate limit, in milliseconds. */
const LOOK_MS = 1_000;

/** A list of REST v2. */
interface V2List {
  /** The operation's name in events. */
  readonly name: string;
  /** Names it in errors. */
  readonly operation: string;
  readonly path: string;
  /** The field of the response that holds the records. */
  readonly field: string;
}

/**
 * Reads all pages of a list.
 * @throws UnexpectedResponseError if a page is not a list, or the pages do not end
 */
export async function listV2<T extends NamedRecord>(
  transport: RestV2Transport,
  kind: RecordKind<T>,
  { name, operation, path, field }: V2List,
  attempt: Attempt,
): Promise<Listed<T>> {
  const records: T[] = [];
  const unreadable: UnreadableRecord[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= MOST_PAGES; page++) {
    if (page > 1) await waitForLimit(transport, attempt);
    const query: Record<string, string> = cursor === undefined ? {} : { cursor };
    const response = await requestV2(transport, { name, operation, method: "GET", path, query }, attempt);
    const read = readRecords(kind, response, field);
    records.push(...read.records);
    unreadable.push(...read.unreadable);
    const { pagination } = decode(pageSchema, response, operation);
    const next = pagination?.hasNextPage === false ? undefined : (pagination?.nextCursor ?? undefined);
    if (next === undefined) return { records, unreadable };
    if (next === cursor) break;
    cursor = next;
  }
  throw new UnexpectedResponseError(`${operation}: the pages of the list do not end. Try again later`);
}

/** Waits until the rate limit allows another request of the same attempt. */
async function waitForLimit({ http, limits }: RestV2Transport, attempt: Attempt): Promise<void> {
  for (;;) {
    const delayMs = limits.delayMs(http.clock.monotonic());
    // The attempt itself is under way, so the limits may not know when it ends.
    if (delayMs === 0 || !Number.isFinite(delayMs)) return;
    await sleep(http.clock, Math.min(delayMs, LOOK_MS));
    if (attempt.signal.aborted) throw attempt.signal.reason;
    attempt.progress();
  }
}

/** One request about one record. */
interface V2Write {
  readonly name: string;
  readonly operation: string;
  readonly method: "GET" | "POST" | "PATCH";
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Sends a request whose response is a record. */
export async function requestRecord<T>(
  transport: RestV2Transport,
  { schema }: { readonly schema: z.ZodType<T> },
  request: V2Write,
  attempt: Attempt,
): Promise<T> {
  return decode(schema, await requestV2(transport, request, attempt), request.operation);
}

/** Changes a record. Without changes it only reads the record, because an empty change is refused. */
export function patchRecord<T>(
  transport: RestV2Transport,
  kind: { readonly schema: z.ZodType<T> },
  { name, operation, path, body }: Pick<V2Write, "name" | "operation" | "path"> & { readonly body: object },
  attempt: Attempt,
): Promise<T> {
  const isEmpty = Object.keys(body).length === 0;
  const request: V2Write = isEmpty
    ? { name, operation, method: "GET", path }
    : { name, operation, method: "PATCH", path, body: { ...body } };
  return requestRecord(transport, kind, request, attempt);
}

/** Deletes a record. */
export async function deleteV2(
  transport: RestV2Transport,
  request: { readonly name: string; readonly operation: string; readonly path: string },
  attempt: Attempt,
): Promise<void> {
  await requestV2(transport, { ...request, method: "DELETE" }, attempt);
}

/** Returns an object without the fields that are `undefined`. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
