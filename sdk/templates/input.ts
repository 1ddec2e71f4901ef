import { CONTAINER_TYPES, ENV_OF_CHANGE, hideEnv } from "../containers/input";
import { fieldSchemas, inputChecks, parseFields } from "../records/input";
import { TEMPLATE, TEMPLATE_FIELDS, type TemplateChanges, type TemplateInput, type TemplateSettings } from "./template";

/** Changes in normal form. */
export type ParsedTemplateChanges = Partial<Omit<TemplateSettings, "env">> & Pick<TemplateChanges, "env">;

const CHECKS = inputChecks<TemplateInput, TemplateSettings, TemplateChanges, ParsedTemplateChanges>(
  TEMPLATE,
  TEMPLATE_FIELDS,
  {
    types: CONTAINER_TYPES,
  },
);

const CHANGE_SCHEMAS = { ...fieldSchemas(TEMPLATE_FIELDS, CONTAINER_TYPES), env: ENV_OF_CHANGE };

/** Validates the settings and changes of a template, and hides the variables' values. */
export const TEMPLATE_CHECKS: typeof CHECKS = {
  ...CHECKS,
  parse(input) {
    const settings = CHECKS.parse(input);
    hideEnv(settings.env, [settings.name, settings.imageName]);
    return settings;
  },
  // In a change, variables may be null.
  parseChanges: (id, changes) =>
    parseFields(`the change of ${TEMPLATE.noun} ${id}`, TEMPLATE_FIELDS, CHANGE_SCHEMAS, changes, false),
};
