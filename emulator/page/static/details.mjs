import { act } from "./actions.mjs";
import { element, openDialog } from "./dom.mjs";

/** The settings that another part of the dialog shows, or that are no settings. */
const OTHERS = ["id", "name", "pods", "env", "container", "templateId", "createdAt", "version", "computeType"];

/**
 * Shows the settings of an endpoint, its image and the names of its variables. Their values may be
 * secret, so they are not shown.
 * @param {string} id
 */
export async function openEndpoint(id) {
  const endpoint = await act("GET", `endpoints/${encodeURIComponent(id)}`);
  if (!endpoint) return;
  const container = endpoint.container ?? (await templateOf(endpoint.templateId));
  const names = [...namesOf(container?.env), ...namesOf(endpoint.env)];
  const settings = Object.entries(endpoint).filter(([name, value]) => !OTHERS.includes(name) && isSet(value));
  openDialog(
    endpoint.name,
    factList([
      ["Id", id],
      ["Image", container?.imageName ?? `of template ${endpoint.templateId}, which the emulator does not know`],
      ["Template", endpoint.container ? "a copy: its own container" : endpoint.templateId],
      ["Variables", names.length === 0 ? "none" : `${names.join(", ")} (values are not shown)`],
      ...settings.map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]),
    ]),
    closeButton(),
  );
}

/**
 * Shows the last lines of a worker's log.
 * @param {string} id
 */
export async function openLog(id) {
  const log = await act("GET", `workers/${encodeURIComponent(id)}/log`);
  if (!log) return;
  const lines = log.lines.map(
    (/** @type {{ ts: string, source: string, line: string }} */ { ts, source, line }) => `${ts} ${source} ${line}`,
  );
  const text = lines.length === 0 ? "The worker has logged nothing yet." : lines.join("\n");
  openDialog(`Log of worker ${id}`, element("pre", { className: "log" }, text), closeButton());
}

/** @param {string} id */
async function templateOf(id) {
  const response = await fetch(`templates/${encodeURIComponent(id)}`);
  return response.ok ? response.json() : undefined;
}

/** @param {unknown} env variables as a list or as an object */
function namesOf(env) {
  if (Array.isArray(env)) return env.map(({ key }) => key);
  return typeof env === "object" && env !== null ? Object.keys(env) : [];
}

/** @param {unknown} value */
function isSet(value) {
  return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** @param {(readonly [string, string] | string[])[]} facts */
function factList(facts) {
  const terms = facts.flatMap(([name = "", value = ""]) => [
    element("dt", { className: "muted" }, name),
    element("dd", {}, value),
  ]);
  return element("dl", {}, ...terms);
}

function closeButton() {
  const close = element("button", { type: "button", onclick: () => close.closest("dialog")?.close() }, "Close");
  return close;
}
