import { BusinessRuleError } from "../../sdk/errors";
import { TEMPLATE_CHECKS } from "../../sdk/templates/input";
import {
  TEMPLATE,
  TEMPLATE_FIELDS,
  type Template,
  type TemplateInput,
  WORKER_FIELDS,
} from "../../sdk/templates/template";
import { hasSwitched } from "../connection/decidedApi";
import { saveVariables, variablesOf } from "../container/variables";
import { fieldsIn } from "../fields/managed";
import { log } from "../log";
import type { ServiceRecord } from "../machine/machineRecord";
import { leftVariables } from "../machine/unfinishedWrite";
import { isObject, pick, SECONDS, TRUE_OR_FALSE } from "../properties";
import { whenUnused } from "../records/deletion";
import type { RecordKind } from "../records/recordKind";

/** The rules of a `ServerlessTemplate`. */
export const TEMPLATE_KIND: RecordKind<Template, TemplateInput> = {
  ...TEMPLATE,
  table: TEMPLATE_FIELDS,
  checkFields: TEMPLATE_CHECKS.check,
  refusesAdoption,
  records: ({ templates }) => templates,
  create: ({ client: { templates } }, fields, { onNameTaken }) => templates.create(fields, { onNameTaken }),
  delete: whenUnused(TEMPLATE, ({ templates }) => templates),
  ownRules: { deleteTimeout: SECONDS, removeUnknownEnv: TRUE_OR_FALSE },
  async update({ client: { templates }, account: { service } }, { id, fields, outputs, inputs }) {
    const existing = inputs.removeUnknownEnv === true ? await templates.get(id, { known: outputs }) : {};
    return saveVariables(holder(service, id), fields, outputs, variablesOf({ ...existing }), (changes) =>
      templates.update(id, changes, { known: outputs }),
    );
  },
  async beforeSave(_connection, { purpose, name, changed }) {
    if (purpose === "update" && hasSwitched()) refuseUnseenRelease(name, changed);
    return {};
  },
  leftover(service, { id, outputs, inputs }) {
    const unknown = inputs.removeUnknownEnv === true ? namesIn(outputs.__unknownEnv) : [];
    const names = [...new Set([...leftVariables(holder(service, id), outputs), ...unknown])];
    const unset = names.filter((name) => !variablesOf(inputs).includes(name)).sort();
    const isNewlyAsked = inputs.removeUnknownEnv === true && outputs.removeUnknownEnv !== true;
    if (unset.length === 0 && !isNewlyAsked) return undefined;
    const which = isNewlyAsked ? "all variables" : `the variables ${unset.join(", ")}`;
    return { field: "env", text: `removes ${which} that the program does not set from template ${id}` };
  },
  /**
   * A refresh stores in state the names of the variables to remove. Names are not secret, so they
   * can be stored. Without the option, the variables are kept.
   */
  refreshedOutputs(service, { id, env, name }, { outputs }) {
    const unknown = Object.keys(env).filter((each) => !variablesOf(outputs).includes(each));
    if (unknown.length === 0) return {};
    if (outputs.removeUnknownEnv === true) return { __unknownEnv: unknown.sort().join() };
    const left = leftVariables(holder(service, id), outputs);
    const others = unknown.filter((each) => !left.includes(each)).sort();
    if (others.length > 0) log(name, unknownVariablesWarning(id, others));
    return {};
  },
  /**
   * State keeps only the variables that the program sets, because other variables may be someone
   * else's secrets.
   */
  toFields: (template, known) => ({
    ...fieldsIn(TEMPLATE_FIELDS, template),
    env: pick({ ...template.env }, (name) => isObject(known.env) && Object.hasOwn(known.env, name)),
  }),
  furtherOutputs(_template, { before, changed }) {
    const revision = typeof before.revision === "number" ? before.revision : 0;
    return { revision: revision + (WORKER_FIELDS.some((field) => changed.includes(field)) ? 1 : 0) };
  },
};

/**
 * Refuses a change that would reach workers over GraphQL, but not over REST v2, where endpoints copy
 * their template once.
 * @throws BusinessRuleError in the run that has switched to REST v2 by itself
 */
function refuseUnseenRelease(name: unknown, changed: readonly string[]): void {
  const fields = WORKER_FIELDS.filter((field) => changed.includes(field));
  if (fields.length === 0) return;
  throw new BusinessRuleError(
    `template "${name}" was not changed (${fields.join(", ")}): this run uses REST v2, because the service no longer serves ` +
      "GraphQL, and over REST v2 a change of a template does not reach its endpoints. Pass templateRevision: " +
      "template.revision to each of its endpoints, then run: pulumi config set serverless-gpu:api v2",
  );
}

function holder(service: string, id: string): ServiceRecord {
  return { service, noun: TEMPLATE.noun, id };
}

function namesIn(list: unknown): string[] {
  return typeof list === "string" ? list.split(",") : [];
}

function unknownVariablesWarning(id: string, names: readonly string[]): string {
  return (
    `warning: template ${id} gives workers variables that are in neither the program nor state: ${names.join(", ")}. ` +
    "Someone else or an interrupted run set them. They stay; removeUnknownEnv: true removes them"
  );
}

function refusesAdoption({ name, isServerless, isPublic }: Template): string | undefined {
  if (!isServerless) return "it is a pod template. Endpoints need a serverless template: create a new one";
  if (isPublic) return "it is public, so other accounts may use it. Create a new one";
  if (/__template__\w+$/.test(name))
    return "it belongs to an endpoint, and the service deletes it together with that endpoint. Create a new one";
  return undefined;
}
