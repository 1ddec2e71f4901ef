import { LARGEST_PAGE } from "./facts";
import { V2Refusal } from "./problem";

/** One page of a list, as the response shows it. */
interface ListPage<T> {
  readonly items: readonly T[];
  readonly pagination: { readonly nextCursor: string | null; readonly hasNextPage: boolean };
}

/**
 * Returns the page that a query asks for. The cursor is the id of the previous page's last record.
 * @throws Refusal if the limit is not 1 to 1000, or if the cursor is unknown
 */
export function pageOf<T extends { readonly id: string }>(records: readonly T[], query: URLSearchParams): ListPage<T> {
  const limit = limitOf(query.get("limit"));
  const after = query.get("cursor");
  const last = after === null ? -1 : records.findIndex(({ id }) => cursorOf(id) === after);
  if (after !== null && last < 0) throw new V2Refusal(422, "invalid cursor", "v2.pagination");
  const items = records.slice(last + 1, last + 1 + limit);
  const hasNextPage = last + 1 + limit < records.length;
  const end = items.at(-1);
  return { items, pagination: { nextCursor: hasNextPage && end ? cursorOf(end.id) : null, hasNextPage } };
}

function limitOf(given: string | null): number {
  if (given === null) return LARGEST_PAGE;
  const limit = /^\d+$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= LARGEST_PAGE) return limit;
  throw new V2Refusal(422, `limit must be 1 to ${LARGEST_PAGE}`, "v2.pagination");
}

function cursorOf(id: string): string {
  return Buffer.from(`after:${id}`).toString("base64url");
}
