import { act } from "./actions.mjs";
import { drawDepth, drawLane, shown } from "./chart.mjs";
import { button, byId, element, openDialog, setText, showEmpty } from "./dom.mjs";
import { duration } from "./format.mjs";
import { openSend, showJobsOf } from "./jobs.mjs";
import { now, state } from "./state.mjs";

/**
 * @typedef {ReturnType<typeof fill>} Parts
 * @typedef {{ article: HTMLElement, parts: Parts | undefined, isVisible: boolean }} Card
 */

/** @type {Map<string, Card>} */
const cards = new Map();
const list = byId("cards");
const filter = /** @type {HTMLInputElement} */ (byId("endpoint-filter"));

/** Only the cards that can be seen have contents and are drawn: an account may have thousands. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const card = cards.get(/** @type {HTMLElement} */ (target).dataset.id ?? "");
      if (card) card.isVisible = isIntersecting;
    }
    drawEndpoints();
  },
  { root: list, rootMargin: "200px" },
);

/** Adds and removes cards, and updates those that can be seen. */
export function showEndpoints() {
  let isChanged = false;
  for (const [id, { article }] of cards) {
    if (state.endpoints.has(id)) continue;
    observer.unobserve(article);
    article.remove();
    cards.delete(id);
    isChanged = true;
  }
  for (const id of state.endpoints.keys()) {
    if (cards.has(id)) continue;
    const article = element("article", { className: "card" });
    article.dataset.id = id;
    cards.set(id, { article, parts: undefined, isVisible: false });
    list.append(article);
    observer.observe(article);
    isChanged = true;
  }
  const hint = "None. A client, a Pulumi program, --seed or POST /_emulator/endpoints creates endpoints.";
  showEmpty("no-endpoints", state.endpoints.size === 0, false, hint);
  if (isChanged) {
    byId("endpoint-ids").replaceChildren(
      ...Array.from(state.endpoints, ([value, { view }]) => element("option", { value, label: view.name })),
    );
    applyFilter();
  }
  drawEndpoints();
}

export function applyFilter() {
  const wanted = filter.value.trim().toLowerCase();
  for (const [id, { article }] of cards) {
    const name = state.endpoints.get(id)?.view.name ?? "";
    article.hidden = !`${name} ${id}`.toLowerCase().includes(wanted);
  }
}

/** Draws the cards that can be seen, as of now. */
export function drawEndpoints() {
  for (const [id, card] of cards) {
    const endpoint = state.endpoints.get(id);
    if (!card.isVisible || !endpoint) continue;
    card.parts ??= fill(card.article, id);
    update(card.parts, endpoint);
  }
}

/** @param {HTMLElement} article @param {string} id */
function fill(article, id) {
  const parts = {
    name: element("h3"),
    about: element("span", { className: "muted" }),
    figures: element("p", { className: "figures" }),
    scaling: element("p", { className: "scaling" }),
    queue: element("div", { className: "lane" }),
    ofJobs: [
      button("Jobs", () => showJobsOf(id), "List the jobs of this endpoint"),
      button("Send…", () => openSend(id), "Send a job to this endpoint"),
    ],
    depth: element("canvas", { className: "depth", role: "img" }),
    waiting: element("span", { className: "number" }),
    lanes: element("ul", { className: "lanes" }),
    rows: /** @type {Map<string, ReturnType<typeof laneRow>>} */ (new Map()),
  };
  const head = element("div", { className: "bar" }, parts.name, parts.about, element("span", { className: "space" }));
  head.append(...parts.ofJobs);
  parts.queue.append(element("span", { className: "muted" }, "queue"), parts.waiting, parts.depth);
  article.append(head, parts.figures, parts.scaling, parts.queue, parts.lanes);
  return parts;
}

/** @param {Parts} parts @param {import("./state.mjs").Endpoint} endpoint */
function update(parts, { view, lanes, depth }) {
  setText(parts.name, view.name);
  parts.name.title = view.name;
  setText(parts.about, `${view.id} · ${view.gpuIds}`);
  setText(parts.scaling, view.scaling);
  const { requests } = view;
  for (const part of [parts.queue, ...parts.ofJobs]) part.hidden = requests !== undefined;
  if (requests) {
    setText(parts.figures, `load balancing · ${requests.open} open requests · ${requests.waiting} waiting`);
    showLanes(parts, view, lanes);
    return;
  }
  const { inQueue, inProgress, completed, failed, retried } = view.jobs;
  const wait =
    view.oldestQueuedAt === undefined ? "none waits" : `oldest waits ${duration(now() - view.oldestQueuedAt)}`;
  setText(
    parts.figures,
    `${inQueue} waiting · ${wait} · ${inProgress} in progress · ${completed} completed · ${failed} failed · ${retried} retried`,
  );
  setText(parts.waiting, String(inQueue));
  parts.depth.ariaLabel = `Waiting jobs: ${inQueue} now`;
  drawDepth(parts.depth, depth);
  showLanes(parts, view, lanes);
}

/**
 * @param {Parts} parts
 * @param {import("./state.mjs").EndpointOnPage} view
 * @param {Map<string, import("./state.mjs").Lane>} lanes
 */
function showLanes(parts, view, lanes) {
  const start = now() - shown.span;
  const visible = [...lanes.values()].filter(({ goneAt }) => goneAt === undefined || goneAt > start);
  const gone = visible.filter(({ goneAt }) => goneAt !== undefined);
  const hidden = new Set(gone.slice(0, -3));
  const rows = visible.filter((lane) => !hidden.has(lane));
  const ids = new Set(rows.map(({ id }) => id));
  for (const [id, { row }] of parts.rows) {
    if (ids.has(id)) continue;
    row.remove();
    parts.rows.delete(id);
  }
  const workers = new Map(view.workers.map((worker) => [worker.id, worker]));
  for (const lane of rows) {
    const known = parts.rows.get(lane.id) ?? laneRow(lane.id);
    parts.rows.set(lane.id, known);
    if (!known.row.isConnected) parts.lanes.append(known.row);
    const worker = workers.get(lane.id);
    const name = worker?.state ?? "gone";
    known.row.className = `lane ${name}`;
    setText(known.label, name);
    known.label.className = `state ${name}`;
    known.row.title = worker?.jobId ? `runs job ${worker.jobId}` : "";
    known.kill.disabled = !worker;
    known.canvas.ariaLabel = `Worker ${lane.id} is ${name}`;
    drawLane(known.canvas, lane);
  }
}

/** @param {string} id */
function laneRow(id) {
  const label = element("span");
  const canvas = element("canvas", { role: "img" });
  const kill = button(
    "Kill",
    () => act("DELETE", `workers/${encodeURIComponent(id)}`),
    `Kill worker ${id}, as a crash does`,
  );
  const log = button("Log", () => openLog(id), `Show the log of worker ${id}`);
  const row = element("li", {}, element("code", { title: id }, id), label, canvas, log, kill);
  return { row, label, canvas, kill };
}

/**
 * Shows the last lines of a worker's log.
 * @param {string} id
 */
async function openLog(id) {
  const log = await act("GET", `workers/${encodeURIComponent(id)}/log`);
  if (!log) return;
  const lines = log.lines.map(
    (/** @type {{ ts: string, source: string, line: string }} */ { ts, source, line }) => `${ts} ${source} ${line}`,
  );
  const text = lines.length === 0 ? "The worker has logged nothing yet." : lines.join("\n");
  const close = button("Close", () => dialog.close());
  const dialog = openDialog(`Log of worker ${id}`, element("pre", { className: "log" }, text), close);
}
