import { act } from "./actions.mjs";
import { button, byId, element, openDialog } from "./dom.mjs";
import { labelled } from "./jobs.mjs";
import { state } from "./state.mjs";

const rows = byId("fault-rows");
let shown = "";

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
      : `all ${state.about.faultChoices.some(({ name, onlyEndpoint }) => onlyEndpoint && name in effect) ? "endpoints" : "requests"}`;
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
      : [element("li", { className: "muted" }, "None. All requests get the service's normal response.")]),
  );
}

export function openAddFault() {
  const choices = state.about.faultChoices;
  const options = choices.map(({ name, text }) => element("option", { value: name }, text));
  const effect = element("select", {}, ...options);
  effect.value = "status";
  const value = element("input", { value: "503" });
  const where = element(
    "select",
    {},
    ...["", "graphql", "rest", "v2", "queue", "lb"].map((name) =>
      element("option", { value: name }, name || "every interface"),
    ),
  );
  const operation = element("input", { placeholder: "every operation, or one, such as run, status, saveEndpoint" });
  const endpoint = element("input", { placeholder: "every endpoint" });
  endpoint.setAttribute("list", "endpoint-ids");
  const times = element("input", { type: "number", min: "1", placeholder: "until it is removed" });
  effect.addEventListener("change", () => {
    const chosen = choices.find(({ name }) => name === effect.value);
    value.disabled = chosen?.example === undefined;
    value.value = chosen?.example ?? "";
    for (const field of [where, operation]) {
      field.disabled = chosen?.onlyEndpoint ?? false;
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
  const field = state.about.faultChoices.find((choice) => choice.name === name)?.field;
  if (field !== undefined) return { [name]: { [field]: value } };
  if (value === "") return { [name]: true };
  return { [name]: Number.isNaN(Number(value)) ? value : Number(value) };
}
