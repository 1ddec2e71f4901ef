import { z } from "zod";
import { sleep } from "../contract/clock";
import { UnexpectedResponseError } from "../errors";
import { decode } from "../transport/decode";
import { type RestV2Transport, requestV2, type V2Request } from "../transport/restV2";
import type { Attempt } from "../transport/retryingCall";
import { pathSegment } from "../transport/urls";
import type { RecordCalls } from "./collection";
import { type Listed, type NamedRecord, type RecordKind, readRecords, type UnreadableRecord } from "./listed";

const pageSchema = z.looseObject({
  pagination: z.looseObject({ nextCursor: z.string().nullish(), hasNextPage: z.boolean().nullish() }).nullish(),
});

/** More pages than any account has: a service that repeats itself must not be read indefinitely. */
const MOST_PAGES = 1000;

/** The wait between two looks at the rate limit, in milliseconds. */
const LOOK_MS = 1_000;

/** One kind of record in REST v2. */
export interface V2Kind<T extends NamedRecord> extends RecordKind<T> {
  /** The names of its operations in events. */
  readonly names: RecordCalls<T, never>["names"];
  /** The path of its list. That of one record follows it: `/templates/abc`. */
  readonly path: string;
  /** The field of a list that holds the records. */
  readonly field: string;
}

/** The requests that all kinds of record have over REST v2, each sent once. */
export interface V2Requests<T extends NamedRecord> extends Pick<RecordCalls<T, never>, "names" | "list"> {
  readonly create: (operation: string, body: V2Body, attempt: Attempt) => Promise<T>;
  /** Changes a record. Without changes it only reads the record, because an empty change is refused. */
  readonly patch: (operation: string, id: string, body: V2Body, attempt: Attempt) => Promise<T>;
  readonly delete: RecordCalls<T, never, { readonly id: string }>["delete"];
}

type V2Body = Readonly<Record<string, unknown>>;

/** Returns the requests of one kind of record. */
export function v2Requests<T extends NamedRecord>(transport: RestV2Transport, kind: V2Kind<T>): V2Requests<T> {
  const { names, path, schema } = kind;
  const request = async (sent: V2Request, attempt: Attempt) =>
    decode(schema, await requestV2(transport, sent, attempt), sent.operation);
  return {
    names,
    list: (operation, attempt) => readPages(transport, kind, operation, attempt),
    create: (operation, body, attempt) =>
      request({ name: names.create, operation, method: "POST", path, body }, attempt),
    patch(operation, id, body, attempt) {
      const sent = { name: names.change, operation, path: pathOf(kind, id) };
      const isEmpty = Object.keys(body).length === 0;
      return request(isEmpty ? { ...sent, method: "GET" } : { ...sent, method: "PATCH", body }, attempt);
    },
    async delete(operation, { id }, attempt) {
      await requestV2(transport, { name: names.delete, operation, method: "DELETE", path: pathOf(kind, id) }, attempt);
    },
  };
}

/** Returns the path of one record. */
export function pathOf({ path }: { readonly path: string }, id: string): string {
  return `${path}/${pathSegment("id", id)}`;
}

/**
 * Reads all pages of a list.
 * @throws UnexpectedResponseError if a page is not a list, or the pages do not end
 */
async function readPages<T extends NamedRecord>(
  transport: RestV2Transport,
  kind: V2Kind<T>,
  operation: string,
  attempt: Attempt,
): Promise<Listed<T>> {
  const { names, path, field } = kind;
  const records: T[] = [];
  const unreadable: UnreadableRecord[] = [];
  let cursor: string | undefined;
  for (let page = 1; page <= MOST_PAGES; page++) {
    if (page > 1) await waitForLimit(transport, attempt);
    const query: Record<string, string> = cursor === undefined ? {} : { cursor };
    const response = await requestV2(transport, { name: names.list, operation, method: "GET", path, query }, attempt);
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

/** Returns an object without the fields that are `undefined`. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
