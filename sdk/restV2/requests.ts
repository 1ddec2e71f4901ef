import * as z from "zod";
import { sleep } from "../contract/clock";
import { BusinessRuleError, NotFoundError, RejectedError, UnexpectedResponseError } from "../errors/errors";
import type { NamesCall, RecordCalls } from "../records/calls";
import {
  decodeRecords,
  type Listed,
  type NamedRecord,
  type ReadableKind,
  type UnreadableRecord,
} from "../records/listed";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { unexpectedResponse } from "../transport/responseErrors";
import { pathSegment } from "../transport/urls";
import { type RestV2Transport, requestV2 } from "./transport";

/** The part of a page that says whether and where the list continues. */
export const pageSchema = z.looseObject({
  pagination: z.looseObject({ nextCursor: z.string().nullish(), hasNextPage: z.boolean().nullish() }).nullish(),
});

/**
 * The maximum number of pages, which is more than any account has. It prevents endless reading if
 * the service returns the same pages again and again.
 */
const MOST_PAGES = 1000;

/**
 * The maximum number of times that reading a list starts from the beginning. The service may reject
 * a page because records have changed in the meantime.
 */
const MOST_BEGINNINGS = 3;

/** The interval between checks of the rate limit, in milliseconds. */
const LOOK_MS = 1_000;

/** A kind of record in REST v2. */
interface V2Kind<T extends NamedRecord> extends ReadableKind<T> {
  /** The names of the kind's operations in events. */
  readonly names: RecordCalls<T, never>["names"];
  /**
   * The path of the list. Appending an id gives the path of one record, such as `/templates/abc`.
   */
  readonly path: string;
  /** The field of a list response that contains the records. */
  readonly field: string;
}

/**
 * The requests over REST v2 that all kinds of records share. Each function sends one request,
 * without retries.
 */
interface V2Requests<T extends NamedRecord> extends Pick<RecordCalls<T, never>, "names" | "list" | "byIds"> {
  readonly create: (operation: string, body: V2Body, attempt: Attempt) => Promise<T>;
  /**
   * Changes a record. If there are no changes, the record is only read, because the service rejects
   * an empty change.
   */
  readonly patch: (operation: string, id: string, body: V2Body, attempt: Attempt) => Promise<T>;
  readonly delete: (operation: string, record: { readonly id: string }, attempt: Attempt) => Promise<void>;
}

type V2Body = Readonly<Record<string, unknown>>;

/** Returns the requests of one kind of record. */
export function v2Requests<T extends NamedRecord>(transport: RestV2Transport, kind: V2Kind<T>): V2Requests<T> {
  const { names, path, schema } = kind;
  return {
    names,
    list: (operation, attempt) => readPages(transport, kind, operation, attempt),
    byIds: {
      most: 1,
      isRequired: true,
      read: async (operation, [id = ""], attempt) => readOne(transport, kind, operation, id, attempt),
    },
    async create(operation, body, attempt) {
      const sent = { name: names.create, operation, method: "POST", path, body } as const;
      return decode(schema, await requestV2(transport, sent, attempt), operation);
    },
    async patch(operation, id, body, attempt) {
      const isEmpty = Object.keys(body).length === 0;
      const change = isEmpty ? ({ method: "GET" } as const) : ({ method: "PATCH", body } as const);
      const sent = { name: names.change, operation, path: pathOf(kind, id), ...change };
      return decode(schema, await requestV2(transport, sent, attempt), operation);
    },
    async delete(operation, { id }, attempt) {
      await requestV2(transport, { name: names.delete, operation, method: "DELETE", path: pathOf(kind, id) }, attempt);
    },
  };
}

const nameSchema = z.looseObject({ id: z.string().min(1), name: z.string() });

/** Returns the request for the ids and names of all records of one kind. */
export function v2Names(
  transport: RestV2Transport,
  { normalizeName = (same) => same, ...kind }: Omit<V2Kind<never>, "schema">,
): NamesCall {
  const schema = nameSchema.transform(({ id, name }) => ({ id, name: normalizeName(name) }));
  return (operation, attempt) => readPages(transport, { ...kind, schema }, operation, attempt);
}

/**
 * Reads the record with this id, if it exists. Only a 404 from the service itself proves that the
 * record does not exist.
 */
async function readOne<T extends NamedRecord>(
  transport: RestV2Transport,
  kind: V2Kind<T>,
  operation: string,
  id: string,
  attempt: Attempt,
): Promise<Listed<T>> {
  const { names, noun } = kind;
  const sent = { name: names.read ?? names.list, operation, method: "GET", path: pathOf(kind, id) } as const;
  const record = await requestV2(transport, sent, attempt).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
  if (record === undefined) return { records: [], unreadable: [] };
  if (z.looseObject({ id: z.literal(id) }).safeParse(record).success) {
    return decodeRecords(kind, { records: [record] }, "records");
  }
  // Don't show the record, because it may contain secrets.
  throw unexpectedResponse(operation, `not ${noun} ${id}`, Object.keys(Object(record)));
}

/** Returns the path of one record. */
export function pathOf({ path }: { readonly path: string }, id: string): string {
  return `${path}/${pathSegment("id", id)}`;
}

/**
 * Reads all pages of a list. Starts again if the service rejects a later page.
 * @throws UnexpectedResponseError if a page is not a list, or if there is no last page
 */
async function readPages<T extends NamedRecord>(
  transport: RestV2Transport,
  kind: V2Kind<T>,
  operation: string,
  attempt: Attempt,
): Promise<Listed<T>> {
  for (let beginnings = 1; ; beginnings++) {
    const records = new Map<string, T>();
    const unreadable: UnreadableRecord[] = [];
    let cursor: string | undefined;
    try {
      for (let page = 1; page <= MOST_PAGES; page++) {
        const read = await readPage(transport, kind, operation, attempt, cursor);
        // A record can be on two pages if other records were deleted while the list was being read.
        for (const record of read.records) records.set(record.id, record);
        unreadable.push(...read.unreadable);
        if (read.next === undefined) return { records: [...records.values()], unreadable };
        if (read.next === cursor) break;
        cursor = read.next;
      }
    } catch (error) {
      const isRefusal = error instanceof RejectedError || error instanceof BusinessRuleError;
      if (cursor === undefined || !isRefusal || beginnings === MOST_BEGINNINGS) throw error;
      continue;
    }
    throw new UnexpectedResponseError(`${operation}: the list has no last page. Try again later`);
  }
}

/**
 * Reads one page of a list.
 * @throws UnexpectedResponseError if the page is not a list, or does not say where the next page
 * begins
 */
async function readPage<T extends NamedRecord>(
  transport: RestV2Transport,
  kind: V2Kind<T>,
  operation: string,
  attempt: Attempt,
  cursor: string | undefined,
): Promise<Listed<T> & { readonly next: string | undefined }> {
  const { names, path, field } = kind;
  if (cursor !== undefined) await waitForLimit(transport, attempt);
  const query: Record<string, string> = cursor === undefined ? {} : { cursor };
  const response = await requestV2(transport, { name: names.list, operation, method: "GET", path, query }, attempt);
  const { nextCursor, hasNextPage } = decode(pageSchema, response, operation).pagination ?? {};
  // The list must be complete, because a record that is missing from it counts as deleted.
  if (hasNextPage && !nextCursor) {
    throw new UnexpectedResponseError(
      `${operation}: the service shows a next page, but no cursor for it. Try again later`,
    );
  }
  return { ...decodeRecords(kind, response, field), next: hasNextPage === false ? undefined : nextCursor || undefined };
}

/** Waits until the rate limit allows another request within the same attempt. */
async function waitForLimit({ http, limits }: RestV2Transport, attempt: Attempt): Promise<void> {
  for (;;) {
    const delayMs = limits.delayMs(http.clock.monotonic());
    // If the delay is infinite, another request must end first. That may be this attempt itself, so
    // don't wait.
    if (delayMs === 0 || !Number.isFinite(delayMs)) return;
    await sleep(http.clock, Math.min(delayMs, LOOK_MS));
    if (attempt.signal.aborted) throw attempt.signal.reason;
    attempt.progress();
  }
}
