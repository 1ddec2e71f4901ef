import { badge, byId, element, placeRows } from "./dom.mjs";
import { duration, timeOfDay } from "./format.mjs";
import { state } from "./state.mjs";

/** @typedef {import("./state.mjs").JournalEntry} JournalEntry */

const rows = byId("request-rows");
/** @type {Map<number, { row: HTMLElement, request: JournalEntry }>} */
const shown = new Map();

/** Shows the requests, the newest first. */
export function showRequests() {
  for (const [number, { row, request }] of shown) {
    if (state.requests.get(number) === request) continue;
    row.remove();
    shown.delete(number);
  }
  for (const [number, request] of state.requests) {
    if (!shown.has(number)) shown.set(number, { row: rowOf(request), request });
  }
  placeRows(
    rows,
    Array.from(state.requests.keys(), (number) => /** @type {{ row: HTMLElement }} */ (shown.get(number)).row),
  );
}

/** @param {JournalEntry} request */
function rowOf(request) {
  const { number, at, operation, endpointId, status, outcome, durationMs, path, method, error } = request;
  const result = status === undefined ? outcome : String(status);
  const row = element(
    "tr",
    {
      className: outcome === "error" || outcome === "cut" ? "bad" : "",
      title: [`${method} ${path}`, error].filter(Boolean).join("\n"),
    },
    element("td", { className: "number" }, String(number)),
    element("td", {}, timeOfDay(at)),
    element("td", {}, `${request.interface} ${operation}`),
    element("td", {}, endpointId ?? ""),
    element("td", { className: "number" }, result),
    element("td", { className: "number" }, durationMs === undefined ? "" : duration(durationMs)),
    element("td", {}, ...badgesOf(request)),
  );
  return row;
}

/** @param {JournalEntry} request */
function badgesOf({ fault, fidelity }) {
  const assumed = fidelity === undefined ? undefined : state.about.assumed[fidelity];
  return [
    ...(fault === undefined ? [] : [badge(fault, "fault", "The fault rule that was applied")]),
    ...(assumed === undefined ? [] : [badge("assumed", "assumed", `${fidelity}: ${assumed}`)]),
  ];
}
