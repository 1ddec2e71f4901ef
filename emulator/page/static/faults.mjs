import { act } from "./actions.mjs";
import { button, byId, element, openDialog } from "./dom.mjs";
import { labelled } from "./jobs.mjs";
import { state } from "./state.mjs";

const rows = byId("fault-rows");
let shown = "";

/** The effects to choose from, each with the kind of value that it needs. */
const EFFECTS = {
  status: { text: "respond with this HTTP status", value: "503" },
  latencyMs: { text: "wait this many milliseconds", value: "2000" },
  hang: { text: "never respond" },
  reset: { text: "reset the connection" },
  truncated: { text: "send half of the body" },
  html: { text: "respond with a gateway's web page" },
  nullAccount: { text: "respond with myself: null" },
  graphqlError: { text: "respond with this GraphQL error", value: "Something went wrong" },
  listLagMs: { text: "list endpoints as they were so many milliseconds ago", value: "5000" },
  dropWebhook: { text: "lose a delivery of a webhook" },
  killWorker: { text: "kill a worker when it starts a job" },
  hangWorker: { text: "let a worker hang when it starts a job" },
  throttleWorkerMs: { text: "throttle a worker that starts, for this many milliseconds", value: "10000" },
  imagePullMs: { text: "delay the start of a worker by this many milliseconds", value: "10000" },
};

/** The effects that apply to no requests: only the endpoint can be chosen. */
const NOT_ON_REQUESTS = ["dropWebhook", "killWorker", "hangWorker", "throttleWorkerMs", "imagePullMs"];

export function showFaults() {
  const text = JSON.stringify(state.faults);
  if (text === shown) return;
  shown = text;
  const lines = state.faults.map(({ id, name, match, effect, applied, times }) => {
    const uses = `applied ${applied}${times === undefined ? "" : ` of ${times}`}`;
    const remove = button("Remove", () => act("DELETE", `faults/${id}`), `Remove the rule "${name}"`);
    const subject = match
      ? Object.entries(match)
          .map(([key, value]) => `${key} ${value}`)
          .join(", ")
      : `all ${NOT_ON_REQUESTS.some((each) => each in effect) ? "endpoints" : "requests"}`;
    return element(
      "li",
      {},
      element("code", {}, `${name} for ${subject}`),
      element("span", { className: "muted" }, uses),
      remove,
    );
  });
  rows.replaceChildren(
    ...(lines.length > 0
      ? lines
      : [element("li", { className: "muted" }, "None. All requests get the service's own response.")]),
  );
}

export function openAddFault() {
  const options = Object.entries(EFFECTS).map(([value, { text }]) => element("option", { value }, text));
  const effect = element("select", {}, ...options);
  const value = element("input", { value: "503" });
  const where = element(
    "select",
    {},
    ...["", "graphql", "rest", "v2", "queue"].map((name) =>
      element("option", { value: name }, name || "every interface"),
    ),
  );
  const operation = element("input", { placeholder: "every operation, or such as run, status, saveEndpoint" });
  const endpoint = element("input", { placeholder: "every endpoint" });
  endpoint.setAttribute("list", "endpoint-ids");
  const times = element("input", { type: "number", min: "1", placeholder: "until it is removed" });
  effect.addEventListener("change", () => {
    const chosen = EFFECTS[/** @type {keyof typeof EFFECTS} */ (effect.value)];
    value.disabled = !("value" in chosen);
    value.value = "value" in chosen ? chosen.value : "";
    for (const field of [where, operation]) {
      field.disabled = NOT_ON_REQUESTS.includes(effect.value);
      if (field.disabled) field.value = "";
    }
  });
  const fields = element("div", { className: "fields" });
  fields.append(...labelled("Effect", effect), ...labelled("Value", value), ...labelled("Interface", where));
  fields.append(...labelled("Operation", operation), ...labelled("Endpoint", endpoint), ...labelled("Times", times));
  const form = element(
    "form",
    { method: "dialog" },
    fields,
    element(
      "footer",
      {},
      button("Cancel", () => dialog.close()),
      element("button", {}, "Add"),
    ),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const match = { interface: where.value, operation: operation.value.trim(), endpointId: endpoint.value.trim() };
    const given = Object.fromEntries(Object.entries(match).filter(([, text]) => text !== ""));
    const rule = {
      effect: effectOf(effect.value, value.value),
      ...(Object.keys(given).length > 0 && { match: given }),
      ...(times.value !== "" && { times: Number(times.value) }),
    };
    if (await act("POST", "faults", rule)) dialog.close();
  });
  const dialog = openDialog("Add a fault rule", form);
  effect.focus();
}

/** @param {string} name @param {string} value */
function effectOf(name, value) {
  if (name === "graphqlError") return { graphqlError: { message: value } };
  return { [name]: value === "" ? true : Number(value) };
}
