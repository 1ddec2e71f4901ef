import type { EnvChanges } from "../../sdk/containers/record";
import { BusinessRuleError } from "../../sdk/errors/errors";
import { TEMPLATE_CHECKS } from "../../sdk/templates/input";
import {
  TEMPLATE,
  TEMPLATE_FIELDS,
  type Template,
  type TemplateInput,
  WORKER_FIELDS,
} from "../../sdk/templates/template";
import type { Connection } from "../connection/connection";
import { hasSwitched } from "../connection/decidedApi";
import { log } from "../engine/log";
import { isObject, objectOrEmpty, type Properties, pick, SECONDS, TRUE_OR_FALSE } from "../engine/properties";
import { fieldsIn } from "../fields/managed";
import { differing, fieldOf, flat, nested } from "../fields/settings";
import { whenUnused } from "../records/deletion";
import type { RecordKind, Save } from "../records/recordKind";
import { openIn } from "../records/write";

/** The rules of a `ServerlessTemplate`. */
export const TEMPLATE_KIND: RecordKind<Template, TemplateInput> = {
  ...TEMPLATE,
  table: TEMPLATE_FIELDS,
  checkFields: TEMPLATE_CHECKS.check,
  refusesAdoption,
  records: ({ templates }) => templates,
  create: ({ client: { templates } }, fields, onNameTaken) => templates.create(fields, { onNameTaken }),
  delete: whenUnused(TEMPLATE, ({ templates }) => templates),
  ownRules: { deleteTimeout: SECONDS, removeUnknownEnv: TRUE_OR_FALSE },
  update({ client: { templates } }, { id, fields, known, onSave }) {
    const { env, ...others } = fields as Omit<typeof fields, "env"> & { readonly env?: EnvChanges | null };
    return templates.update(id, { ...others, ...(env && { env }) }, { known, onSave });
  },
  async beforeSave(connection, save) {
    if (save.purpose === "create") return {};
    const removed = await variablesToRemove(connection, save);
    const settings = { ...save.settings, ...removed };
    const changed = Object.keys(differing(TEMPLATE_FIELDS, settings, save.outputs)).map(fieldOf);
    if (save.purpose === "update" && hasSwitched()) refuseUnseenRelease(save.name, changed);
    return removed;
  },
  alsoWrites({ id, outputs, inputs }) {
    if (inputs.removeUnknownEnv !== true) return undefined;
    const found = unknownVariables(outputs, inputs).filter(
      (name) => objectOrEmpty(outputs.env)[name] === UNKNOWN_VALUE,
    );
    const isNewlyAsked = outputs.removeUnknownEnv !== true;
    if (found.length === 0 && !isNewlyAsked) return undefined;
    const which = isNewlyAsked ? "all variables" : `the variables ${found.join(", ")}`;
    return { field: "env", text: `removes ${which} that the program does not set from template ${id}` };
  },
  /**
   * With `removeUnknownEnv`, a refresh stores in state the names of the variables to remove. Names
   * are not secret. Without the option, the variables are kept.
   */
  refreshedOutputs(template, { outputs }) {
    const { id, name } = template;
    const unknown = unknownVariables(template, outputs);
    if (unknown.length === 0) return {};
    if (outputs.removeUnknownEnv !== true) {
      // The next run reverts the settings that an unfinished write of this machine has sent.
      const own = nested(openIn(TEMPLATE.noun, { id, outputs })?.sent ?? {});
      const others = unknownVariables(template, { env: { ...objectOrEmpty(outputs.env), ...objectOrEmpty(own.env) } });
      if (others.length > 0) log(name, unknownVariablesWarning(id, others));
      return {};
    }
    const known = pick(template.env, (each) => !unknown.includes(each));
    return { env: { ...known, ...Object.fromEntries(unknown.map((each) => [each, UNKNOWN_VALUE])) } };
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

/** What state contains in place of the value of a variable that someone else has set. */
const UNKNOWN_VALUE = "[set elsewhere]";

/**
 * Refuses a change that would reach workers over GraphQL, but not over REST v2, where endpoints
 * copy their template once.
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

/** Returns `null` for each variable that the program does not set, if it removes such variables. */
async function variablesToRemove(
  { client: { templates } }: Connection,
  { id, inputs, outputs, settings, theirs }: Save<Template>,
): Promise<Properties> {
  const writesEnv = Object.keys(settings).some((setting) => fieldOf(setting) === "env");
  if (inputs.removeUnknownEnv !== true || !writesEnv) return {};
  const now = theirs ?? (await templates.get(id, { known: outputs }));
  return flat({ env: Object.fromEntries(unknownVariables(now, inputs).map((name) => [name, null])) });
}

/** Returns the names of the variables that a program or state does not know. */
function unknownVariables(template: { readonly env?: unknown }, known: Properties): string[] {
  const names = Object.keys(objectOrEmpty(template.env));
  return names.filter((name) => !Object.hasOwn(objectOrEmpty(known.env), name)).sort();
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
