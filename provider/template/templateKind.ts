import { TEMPLATE_FIELDS, WORKER_FIELDS } from "../../sdk/templates/fields";
import { checkTemplateFields } from "../../sdk/templates/input";
import type { Template, TemplateChanges, TemplateInput } from "../../sdk/templates/record";
import { type Properties, pick } from "../properties";
import type { RecordKind } from "../resource/recordKind";

/** The rules of a `ServerlessTemplate`. */
export const TEMPLATE_KIND: RecordKind<Template> = {
  one: "a template",
  noun: "template",
  table: TEMPLATE_FIELDS,
  hasUniqueNames: true,
  fixedFields: [],
  checkFields: checkTemplateFields,
  refusesAdoption,
  records: ({ templates }) => templates,
  create: ({ templates }, fields, onNameTaken) => templates.create(fields as unknown as TemplateInput, { onNameTaken }),
  update({ templates }, id, fields, outputs) {
    const { env, ...others } = fields as TemplateChanges;
    const changes = { ...others, ...(env ? { env: { ...removedVariables(outputs, env), ...env } } : {}) };
    return templates.update(id, changes, { known: outputs });
  },
  /** State holds only the variables that the program sets: others may be somebody else's secrets. */
  toFields: (template, known) => ({
    ...pick({ ...template }, (name) => Object.hasOwn(TEMPLATE_FIELDS, name)),
    env: pick({ ...template.env }, (name) => Object.hasOwn((known.env ?? {}) as object, name)),
  }),
  furtherOutputs(_template, { revision }, changed) {
    const before = typeof revision === "number" ? revision : 0;
    return { revision: before + (changed.some((field) => WORKER_FIELDS.includes(field as never)) ? 1 : 0) };
  },
};

/** Returns the removal of each variable that the program set before, and does not set now. */
function removedVariables({ env }: Properties, now: object): Record<string, null> {
  const removed = Object.keys((env ?? {}) as object).filter((name) => !Object.hasOwn(now, name));
  return Object.fromEntries(removed.map((name) => [name, null]));
}

function refusesAdoption({ name, isServerless, isPublic }: Template): string | undefined {
  if (!isServerless) return "it is a template of pods. Endpoints need a serverless template: create a new one";
  if (isPublic) return "it is public, so other accounts may use it. Create a new one";
  if (/__template__\w+$/.test(name))
    return "it belongs to an endpoint, with which the service deletes it. Create a new one";
  return undefined;
}
