import { CONTAINER_TYPES, ENV_OF_CHANGE, hideEnv } from "../containers/input";
import type { InputProblem } from "../errors";
import { checkFields, type FieldSchemas, fieldSchemas, parseFields } from "../records/input";
import {
  TEMPLATE_DEFAULTS,
  TEMPLATE_FIELDS,
  type TemplateChanges,
  type TemplateInput,
  type TemplateSettings,
} from "./template";

const SCHEMAS: FieldSchemas = fieldSchemas(TEMPLATE_FIELDS, CONTAINER_TYPES);

const CHANGE_SCHEMAS: FieldSchemas = { ...SCHEMAS, env: ENV_OF_CHANGE };

/** Returns each valid field in normal form, and the problems with the others. */
export function checkTemplateFields(input: Readonly<Record<string, unknown>>): {
  fields: Record<string, unknown>;
  problems: InputProblem[];
} {
  return checkFields(SCHEMAS, input);
}

/**
 * Checks the settings of a new template and returns them in normal form.
 * @throws InvalidInputError that lists every problem
 */
export function parseTemplate(input: TemplateInput): TemplateSettings {
  const fields = parseFields("the new template", TEMPLATE_FIELDS, SCHEMAS, input, true);
  const settings = { ...TEMPLATE_DEFAULTS, ...fields } as TemplateSettings;
  hideEnv(settings.env, [settings.name, settings.imageName]);
  return settings;
}

/** Changes in normal form. */
export type ParsedChanges = Partial<Omit<TemplateSettings, "env">> & Pick<TemplateChanges, "env">;

/**
 * Checks changes and returns them in normal form.
 * @throws InvalidInputError that lists every problem
 */
export function parseTemplateChanges(id: string, changes: TemplateChanges): ParsedChanges {
  return parseFields(`the change of template ${id}`, TEMPLATE_FIELDS, CHANGE_SCHEMAS, changes, false);
}
