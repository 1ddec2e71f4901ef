import { badge, button, byId, element, openDialog, openOnClick, placeRows, showEmpty } from "./dom.mjs";
import { dateAndTime, duration, timeOfDay } from "./format.mjs";
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
  const filters = ["request-text", "requests-only"].map((id) => /** @type {HTMLInputElement} */ (byId(id)));
  const hint = `None yet. Clients send their requests to ${location.origin}, with the emulator's key.`;
  showEmpty(
    "no-requests",
    state.requests.size === 0,
    filters.some(({ value }) => value),
    hint,
  );
}

/** @param {JournalEntry} request */
function rowOf(request) {
  const { number, at, operation, endpointId, status, outcome, durationMs, path, method, error } = request;
  const result = status === undefined ? outcome : String(status);
  const open = element(
    "button",
    { type: "button", className: "link", onclick: () => openRequest(request) },
    String(number),
  );
  const row = element(
    "tr",
    {
      className: outcome === "error" || outcome === "cut" ? "bad" : "",
      title: [`${method} ${path}`, error].filter(Boolean).join("\n"),
    },
    element("td", { className: "number" }, open),
    element("td", {}, timeOfDay(at)),
    element("td", {}, `${request.interface} ${operation}`),
    element("td", {}, endpointId ?? ""),
    element("td", { className: "number" }, result),
    element("td", { className: "number" }, durationMs === undefined ? "" : duration(durationMs)),
    element("td", {}, ...badgesOf(request)),
  );
  openOnClick(row, () => openRequest(request));
  return row;
}

/** @param {JournalEntry} request */
function openRequest(request) {
  const { number, at, method, path, operation, endpointId, status, outcome, durationMs, fault, fidelity, error } =
    request;
  /** @type {readonly (readonly [name: string, value: string | undefined])[]} */
  const facts = [
    ["Request", `${method} ${path}`],
    ["Time", dateAndTime(at)],
    ["Operation", `${request.interface} ${operation}`],
    ["Endpoint", endpointId],
    ["Result", status === undefined ? outcome : `${outcome}, status ${status}`],
    ["Took", durationMs === undefined ? undefined : duration(durationMs)],
    ["Fault", fault],
    ["Error", error],
    ["Rule", fidelity],
  ];
  const terms = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [element("dt", { className: "muted" }, name), element("dd", {}, value)],
  );
  const close = button("Close", () => dialog.close());
  const messages = element("div", {});
  const dialog = openDialog(
    `Request ${number}`,
    element("dl", {}, ...terms),
    element("h3", {}, "Arguments"),
    element("pre", { tabIndex: 0 }, JSON.stringify(request.arguments, null, 2)),
    messages,
    element("footer", {}, close),
  );
  close.focus();
  void showMessages(number, messages);
}

/**
 * Shows the headers and bodies of a request and its response, which the page asks for only now.
 * @param {number} number @param {HTMLElement} place
 */
async function showMessages(number, place) {
  const response = await fetch(`journal/${number}`, { headers: { "x-emulator-token": state.about.token } }).catch(
    () => undefined,
  );
  if (!response?.ok) {
    place.append(element("p", { className: "muted" }, "Headers and bodies are kept for the latest 500 requests."));
    return;
  }
  /** @type {import("../../server/exchanges").Exchange} */
  const exchange = await response.json();
  place.append(
    ...messageParts("Request", exchange.request),
    ...(exchange.response ? messageParts("Response", exchange.response) : []),
  );
}

/** @param {string} what @param {import("../../server/exchanges").Message} message */
function messageParts(what, { headers, body, isCut }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = body === "" ? "empty" : (body ?? "not kept, because it was streamed");
  return [
    element("h3", {}, `${what} headers`),
    element("pre", { tabIndex: 0 }, lines.join("\n") || "none"),
    element("h3", {}, isCut ? `${what} body (the beginning)` : `${what} body`),
    element("pre", { tabIndex: 0 }, text),
  ];
}

/** @param {JournalEntry} request */
function badgesOf({ fault }) {
  return fault === undefined ? [] : [badge(fault, "fault", "The fault rule that was applied")];
}
