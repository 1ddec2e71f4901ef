import { act } from "./actions.mjs";
import { button, element, openDialog } from "./dom.mjs";

/** The records besides endpoints: their path, their title, what they are for, and their columns. */
const KINDS = /** @type {const} */ ([
  ["templates", "Templates", "Without any, an endpoint can name any template.", ["id", "name", "imageName", "env"]],
  [
    "volumes",
    "Network volumes",
    "Without any, an endpoint can name any volume.",
    ["id", "name", "size", "dataCenterId"],
  ],
  ["registryAuths", "Registry credentials", "Passwords are never shown.", ["id", "name"]],
  ["secrets", "Secrets", "Values are never shown.", ["id", "name", "valueLastUpdatedAt", "lastRetrievedAt"]],
]);

/** Shows the templates, network volumes and registry credentials. */
export async function openRecords() {
  const lists = await Promise.all(KINDS.map(([path]) => act("GET", path)));
  if (lists.includes(undefined)) return;
  const parts = KINDS.flatMap(([, title, hint, columns], index) => [
    element("h3", {}, title),
    lists[index].length > 0 ? tableOf(columns, lists[index]) : element("p", { className: "muted" }, `None. ${hint}`),
  ]);
  const close = button("Close", () => dialog.close());
  const dialog = openDialog("Templates, volumes, credentials", ...parts, element("footer", {}, close));
  close.focus();
}

/** @param {readonly string[]} columns @param {readonly Record<string, unknown>[]} records */
function tableOf(columns, records) {
  const head = element("tr", {}, ...columns.map((name) => element("th", {}, name)));
  const rows = records.map((record) =>
    element(
      "tr",
      {},
      ...columns.map((name) => element("td", {}, name === "env" ? names(record.env) : text(record[name]))),
    ),
  );
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  return element("div", { className: "scroll" }, table);
}

/** @param {unknown} value */
function text(value) {
  return value === undefined || value === null ? "" : String(value);
}

/**
 * Returns the names of environment variables. Their values may be secret.
 * @param {unknown} env
 */
function names(env) {
  return Array.isArray(env) ? env.map(({ key }) => key).join(", ") : "";
}
