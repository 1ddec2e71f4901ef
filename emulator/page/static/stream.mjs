import { byId } from "./dom.mjs";
import { apply, stopClock } from "./state.mjs";

/** @type {EventSource | undefined} */
let source;
/** @type {Record<string, string>} */
let filters = {};
let reopenLater = 0;

/** @type {() => void} */
let onChange = () => {};

/**
 * Follows the emulator. A hidden page does not, so it takes no resources.
 * @param {() => void} changed called after each change
 */
export function follow(changed) {
  onChange = changed;
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  if (!document.hidden) open();
}

/**
 * Sets which jobs and requests the emulator sends.
 * @param {Record<string, string>} changed
 */
export function setFilters(changed) {
  filters = { ...filters, ...changed };
  clearTimeout(reopenLater);
  reopenLater = window.setTimeout(open, 200);
}

function close() {
  source?.close();
  source = undefined;
  show("paused");
}

function open() {
  source?.close();
  const given = Object.entries(filters).filter(([, value]) => value !== "");
  const query = new URLSearchParams(given).toString();
  const opened = new EventSource(query === "" ? "events" : `events?${query}`);
  source = opened;
  opened.onopen = () => show("live");
  opened.onerror = () => {
    show("lost");
    stopClock();
    // A browser gives up if the response is not an event stream.
    if (opened.readyState === EventSource.CLOSED && opened === source) window.setTimeout(open, 1000);
  };
  opened.onmessage = ({ data }) => {
    apply(JSON.parse(data));
    onChange();
  };
}

/** @param {"live" | "lost" | "paused"} connection */
function show(connection) {
  const shown = byId("connection");
  shown.textContent = connection === "lost" ? "connection lost" : connection;
  shown.className = `badge ${connection}`;
}
