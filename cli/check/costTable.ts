import { shownMoney } from "../shownValues";
import { tableLines } from "../tables";
import type { Costs, SideCost, TotalCost } from "./cost";
import type { Review } from "./judge";
import { escapedMarkdown, markdownList, within } from "./markdown";

const NOT_INCLUDED =
  "The maximum cost is for workersMax workers, and the minimum cost for workersMin workers, all of the most expensive pool in gpuIds, " +
  "in US dollars an hour. Disks, network volumes and discounts are not included.";

const COLUMNS = ["endpoint", "change", "maximum cost", "minimum cost", "price of a worker"];

/** Returns a value before and after the change; once if it stays. */
const arrow = (old: string, next: string) => (old === next ? old : `${old} → ${next}`);

function money(cost: SideCost | undefined, field: "fullScale" | "atRest"): string {
  if (!cost) return "-";
  const value = cost[field];
  return value === undefined ? "?" : shownMoney(value);
}

function rowsOf(endpoints: Costs["endpoints"]): string[][] {
  return endpoints.map(({ name, changes, before: old, after: next }) => {
    const { price, problem } = next ?? old ?? {};
    const shown = price ? `${shownMoney(price.perHour)} (${price.of})` : (problem ?? "no workers");
    return [
      name,
      changes,
      arrow(money(old, "fullScale"), money(next, "fullScale")),
      arrow(money(old, "atRest"), money(next, "atRest")),
      problem && price ? `${shown}; ${problem}` : shown,
    ];
  });
}

function totalRow({ costs: { before, after }, hidden }: Review): string[] {
  const total = ({ unknown }: TotalCost, value: number) =>
    `${hidden > 0 || unknown.length > 0 ? "≥ " : ""}${shownMoney(value)}`;
  return [
    "in all",
    "",
    arrow(total(before, before.fullScale), total(after, after.fullScale)),
    arrow(total(before, before.atRest), total(after, after.atRest)),
    "",
  ];
}

/** Returns the distinct sources of the prices. */
function sourcesOf({ endpoints }: Costs): string[] {
  const prices = endpoints
    .flatMap(({ before, after }) => [before?.price, after?.price])
    .filter((price) => price !== undefined);
  return [...new Set(prices.map(({ of, perHour, source }) => `${of}: ${shownMoney(perHour)} an hour, from ${source}`))];
}

/** Returns how many endpoints and volumes change, and how. */
export const countsText = (counts: Review["counts"]) =>
  `Endpoints and network volumes: ${
    Object.entries(counts)
      .map(([op, count]) => `${count} ${op}`)
      .join(", ") || "none"
  }`;

/** Returns the table of costs as lines, with the sources of its prices; empty without endpoints. */
export function costLines(review: Review): string[] {
  const { endpoints } = review.costs;
  if (endpoints.length === 0) return [];
  const rows = [...rowsOf(endpoints), totalRow(review)];
  const table = tableLines({ header: COLUMNS, rows }, [0, 1, 4]);
  return [...table, "", NOT_INCLUDED, ...sourcesOf(review.costs)];
}

/** The maximum length of the table, in characters. */
const LONGEST = 15_000;

/** Returns a table of the endpoints that change, followed by the totals of all endpoints. */
export function costMarkdown(review: Review): string[] {
  const { endpoints } = review.costs;
  if (endpoints.length === 0) return [];
  const row = (cells: readonly string[]) => `| ${cells.map(escapedMarkdown).join(" | ")} |`;
  const changed = endpoints.filter(({ op }) => op !== "same");
  const { shown, left } = within(rowsOf(changed).map(row), LONGEST);
  const same = endpoints.length - changed.length;
  const others = [
    ...(left > 0 ? [`${left} more that change`] : []),
    ...(same > 0 ? [`${same} that ${same === 1 ? "does" : "do"} not change`] : []),
  ];
  return [
    row(COLUMNS),
    "|---|---|--:|--:|---|",
    ...shown,
    row(totalRow(review)),
    "",
    ...(others.length > 0 ? [`The totals include endpoints that are not in the table: ${others.join(", ")}.`, ""] : []),
    NOT_INCLUDED,
    "",
    ...markdownList("Prices", sourcesOf(review.costs)),
  ];
}
