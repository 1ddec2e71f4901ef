import { readColours, shown } from "./chart.mjs";
import { advance, showClock, togglePlay } from "./clock.mjs";
import { button, byId, element, openDialog, setText } from "./dom.mjs";
import { applyFilter, drawEndpoints, showEndpoints } from "./endpoints.mjs";
import { openAddFault, showFaults } from "./faults.mjs";
import { openSend, showJobs, showStateFilter, showTimes } from "./jobs.mjs";
import { showRequests } from "./requests.mjs";
import { state } from "./state.mjs";
import { follow, setFilters } from "./stream.mjs";

/**
 * The time between two redraws without a change, in milliseconds, because the clock keeps running.
 */
const DRAW_MS = 200;

const KEYS = /** @type {[key: string, text: string, action: () => void][]} */ ([
  ["/", "filter endpoints", () => byId("endpoint-filter").focus()],
  ["r", "filter requests", () => byId("request-text").focus()],
  ["j", "filter jobs", () => byId("job-endpoint").focus()],
  ["n", "send a job", () => openSend()],
  ["f", "add a fault rule", openAddFault],
  ["p", "play or pause a manual clock", togglePlay],
  [".", "advance a manual clock by 1 s", () => advance(1000)],
  ["?", "this list", openHelp],
]);

function openHelp() {
  const lines = KEYS.flatMap(([key, text]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)]);
  const close = button("Close", () => dialog.close());
  const dialog = openDialog("Keys", element("dl", {}, ...lines), element("footer", {}, close));
}

document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (["ArrowDown", "ArrowUp"].includes(event.key) && moveFocus(target, event.key === "ArrowDown"))
    event.preventDefault();
  if (target.matches("input, select, textarea")) return;
  const found = KEYS.find(([key]) => key === event.key);
  if (!found) return;
  event.preventDefault();
  found[2]();
});

/**
 * Moves the focus to the job above or below.
 * @param {HTMLElement} target
 * @param {boolean} down
 */
function moveFocus(target, down) {
  const row = target.matches(".link") ? target.closest("tr") : null;
  const next = down ? row?.nextElementSibling : row?.previousElementSibling;
  const link = /** @type {HTMLElement | null | undefined} */ (next?.querySelector(".link"));
  link?.focus();
  return link !== null && link !== undefined;
}

/** @param {string} id @param {string} parameter @param {(text: string) => string} [read] */
function filterBy(id, parameter, read = (text) => text) {
  const field = /** @type {HTMLInputElement} */ (byId(id));
  field.addEventListener("input", () => setFilters({ [parameter]: read(field.value.trim()) }));
}

/**
 * Returns the id of the endpoint with this id or name, as the table shows it. Returns other text
 * unchanged.
 * @param {string} text
 */
function endpointIdOf(text) {
  if (state.endpoints.has(text)) return text;
  return [...state.endpoints.values()].find(({ view }) => view.name === text)?.view.id ?? text;
}

function show() {
  setText(byId("profile"), `${state.about.profile} profile`);
  setText(byId("totals"), `${count(state.endpoints.size, "endpoint")}, ${count(state.requestCount, "request")}`);
  showClock();
  showEndpoints();
  showStateFilter();
  showJobs();
  showRequests();
  showFaults();
}

/** @param {number} number @param {string} name */
function count(number, name) {
  return `${number} ${name}${number === 1 ? "" : "s"}`;
}

let isShown = true;

/** Draws once for all changes since the last frame. */
function showSoon() {
  if (!isShown) return;
  isShown = false;
  requestAnimationFrame(() => {
    isShown = true;
    show();
  });
}

filterBy("job-endpoint", "jobEndpoint", endpointIdOf);
filterBy("job-status", "jobStatus");
filterBy("request-text", "requestText");
filterBy("requests-only", "requestsOnly");
byId("endpoint-filter").addEventListener("input", applyFilter);
byId("span").addEventListener("change", () => {
  shown.span = Number(/** @type {HTMLSelectElement} */ (byId("span")).value);
  drawEndpoints();
});
byId("send").addEventListener("click", () => openSend());
byId("add-fault").addEventListener("click", openAddFault);
byId("help").addEventListener("click", openHelp);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
readColours();
follow(showSoon);
setInterval(() => {
  if (document.hidden) return;
  showClock();
  showTimes();
  drawEndpoints();
}, DRAW_MS);
