import { act, showMessage } from "./actions.mjs";
import { badge, button, byId, element, openDialog, openOnClick, placeRows, setText, showEmpty } from "./dom.mjs";
import { dateAndTime, duration, shortId } from "./format.mjs";
import { now, state } from "./state.mjs";
import { setFilters } from "./stream.mjs";

/** @typedef {import("./state.mjs").JobView} JobView */

const rows = byId("job-rows");
/** @type {Map<string, ReturnType<typeof rowOf>>} */
const shown = new Map();
const endpointFilter = /** @type {HTMLInputElement} */ (byId("job-endpoint"));

/** Offers the states of jobs as filters. */
export function showStateFilter() {
  const filter = /** @type {HTMLSelectElement} */ (byId("job-status"));
  if (filter.options.length > 1) return;
  filter.append(...state.about.jobStates.all.map((name) => element("option", {}, name)));
}

/** @param {string} endpointId */
export function showJobsOf(endpointId) {
  endpointFilter.value = endpointId;
  setFilters({ jobEndpoint: endpointId });
}

/** Shows the jobs, the newest first. */
export function showJobs() {
  for (const [id, { row }] of shown) {
    if (state.jobs.has(id)) continue;
    row.remove();
    shown.delete(id);
  }
  for (const job of state.jobs.values()) {
    const known = shown.get(job.id);
    if (known) fill(known, job);
    else {
      const created = rowOf(job);
      shown.set(job.id, created);
      fill(created, job);
    }
  }
  placeRows(
    rows,
    Array.from(state.jobs.keys(), (id) => /** @type {ReturnType<typeof rowOf>} */ (shown.get(id)).row),
  );
  const isFiltered = [endpointFilter, /** @type {HTMLSelectElement} */ (byId("job-status"))].some(({ value }) => value);
  const hint = `None. Send one with the button above, or with POST ${location.origin}/v2/<endpoint id>/run.`;
  showEmpty("no-jobs", state.jobs.size === 0, isFiltered, hint);
  showTimes();
}

/** Shows the times of the jobs that have not ended, as of now. */
export function showTimes() {
  for (const { job, waited, ran } of shown.values()) {
    const { queuedAt, startedAt, endedAt } = job;
    setText(waited, duration((startedAt ?? endedAt ?? now()) - queuedAt));
    setText(ran, startedAt === undefined ? "" : duration((endedAt ?? now()) - startedAt));
  }
}

/** @param {JobView} job */
function rowOf(job) {
  const open = element(
    "button",
    { type: "button", className: "link", onclick: () => openJob(job.id) },
    shortId(job.id),
  );
  open.title = job.id;
  const [status, waited, ran, attempts, tools] = Array.from({ length: 5 }, () => element("td"));
  for (const cell of [waited, ran, attempts]) if (cell) cell.className = "number";
  const cells = /** @type {Record<"status" | "waited" | "ran" | "attempts" | "tools", HTMLElement>} */ ({
    status,
    waited,
    ran,
    attempts,
    tools,
  });
  const name = state.endpoints.get(job.endpointId)?.view.name ?? job.endpointId;
  const endpoint = element("td", { title: job.endpointId }, name);
  const row = element("tr", {}, element("td", {}, open), endpoint, ...Object.values(cells));
  openOnClick(row, () => openJob(job.id));
  return { row, job, shownStatus: "", ...cells };
}

/** @param {ReturnType<typeof rowOf>} shownRow @param {JobView} job */
function fill(shownRow, job) {
  shownRow.job = job;
  setText(shownRow.attempts, String(job.attempts));
  if (shownRow.shownStatus === job.status) return;
  shownRow.shownStatus = job.status;
  shownRow.status.replaceChildren(element("span", { className: job.status }, job.status));
  shownRow.status.title = job.error ?? "";
  if (job.lowPriority) shownRow.status.append(" ", badge("low priority"));
  shownRow.tools.replaceChildren(...toolsOf(job));
}

/** @param {JobView} job */
function toolsOf({ id, status }) {
  const path = `jobs/${encodeURIComponent(id)}`;
  const { ended, retryable } = state.about.jobStates;
  if (!ended.includes(status)) return [button("Cancel", () => act("POST", `${path}/cancel`))];
  return retryable.includes(status) ? [button("Retry", () => act("POST", `${path}/retry`))] : [];
}

/** @param {string} id */
async function openJob(id) {
  const job = await act("GET", `jobs/${encodeURIComponent(id)}`);
  if (!job) return;
  const times = [
    ["Submitted", job.submittedAt],
    ["Queued", job.queuedAt],
    ["Started", job.startedAt],
    ["Ended", job.endedAt],
  ];
  const facts = [
    ["Endpoint", `${state.endpoints.get(job.endpointId)?.view.name ?? ""} (${job.endpointId})`],
    ["State", job.status],
    ...times.filter(([, at]) => at !== undefined).map(([name, at]) => [name, dateAndTime(at)]),
    ["Attempts", String(job.attempts)],
    ["Worker", job.workerId ?? "none"],
    [
      "Limits",
      `execution ${job.policy.executionTimeout === 0 ? "without limit" : duration(job.policy.executionTimeout)}, time to live ${duration(job.policy.ttl)}`,
    ],
    ...(job.error === undefined ? [] : [["Error", job.error]]),
  ];
  const terms = facts.flatMap(([name, value]) => [
    element("dt", { className: "muted" }, name),
    element("dd", {}, value),
  ]);
  const close = button("Close", () => dialog.close());
  const tools = toolsOf(job);
  for (const tool of tools) tool.addEventListener("click", () => dialog.close());
  const dialog = openDialog(
    `Job ${id}`,
    element("dl", {}, ...terms),
    ...section("Input", job.input),
    ...section(job.status === "IN_PROGRESS" ? "Output so far" : "Output", job.output),
    element("footer", {}, ...tools, close),
  );
  close.focus();
}

/** The largest part of an input or output that is shown, in characters. */
const SHOWN_CHARACTERS = 100_000;

/** @param {string} title @param {unknown} value */
function section(title, value) {
  const text = value === undefined ? "none" : JSON.stringify(value, null, 2);
  const more = text.length > SHOWN_CHARACTERS ? `\n… ${text.length - SHOWN_CHARACTERS} more characters` : "";
  return [element("h3", {}, title), element("pre", { tabIndex: 0 }, text.slice(0, SHOWN_CHARACTERS) + more)];
}

/** @param {string} [endpointId] */
export function openSend(endpointId = endpointFilter.value || (state.endpoints.keys().next().value ?? "")) {
  const endpoint = element("input", { required: true, value: endpointId });
  endpoint.setAttribute("list", "endpoint-ids");
  const input = element("textarea", { value: '{ "prompt": "Hello" }', ariaLabel: "Input, as JSON", spellcheck: false });
  const count = element("input", { type: "number", min: "1", max: "100", value: "1", required: true });
  const low = element("input", { type: "checkbox" });
  const fields = element("div", { className: "fields" });
  fields.append(
    ...labelled("Endpoint id", endpoint),
    ...labelled("Number of jobs", count),
    ...labelled("Low priority", low),
    input,
  );
  const cancel = button("Cancel", () => dialog.close());
  const send = element("button", {}, "Send");
  const form = element("form", { method: "dialog" }, fields, element("footer", {}, cancel, send));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = bodyOf(endpoint.value, input.value, low.checked);
    if (!body) return;
    for (let left = Number(count.value); left > 0; left--) if (!(await act("POST", "jobs", body))) return;
    dialog.close();
  });
  const dialog = openDialog("Send a job", form);
  input.focus();
}

/** @param {string} endpointId @param {string} text @param {boolean} lowPriority */
function bodyOf(endpointId, text, lowPriority) {
  try {
    return { endpointId, input: JSON.parse(text), ...(lowPriority && { policy: { lowPriority } }) };
  } catch (error) {
    showMessage(`The input is not valid JSON: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** @param {string} name @param {HTMLElement} field */
export function labelled(name, field) {
  field.id = `field-${name.toLowerCase().replaceAll(/\W+/g, "-")}`;
  return [element("label", { htmlFor: field.id }, name), field];
}
