import * as z from "zod";
import type { InputProblem } from "../errors";
import { checkFields, describe, type FieldSchemas, fieldSchemas, must, parseFields } from "../records/input";
import { hideJobSecret } from "../secret";
import { looksLikeCredential, MAX_ENV_VARIABLES, normalizePorts, TEMPLATE_DEFAULTS, TEMPLATE_FIELDS } from "./fields";
import type { TemplateChanges, TemplateInput, TemplateSettings } from "./record";

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PORT = /^\d+\/(http|tcp)$/;

/**
 * Shorter values are not hidden if their variables do not look like credentials: hiding them would
 * make messages unreadable.
 */
const SHORTEST_HIDDEN_VALUE = 8;

const ENV_OF_NEW = envSchema(z.string());

const SCHEMAS: FieldSchemas = fieldSchemas(TEMPLATE_FIELDS, { env: () => ENV_OF_NEW, ports: portsSchema });

const CHANGE_SCHEMAS: FieldSchemas = { ...SCHEMAS, env: envSchema(z.string().nullable()).nullable() };

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

/** Returns the schema of an environment. Its messages show no values. */
function envSchema<T extends z.ZodType>(value: T) {
  const message = "must be an object of variables, whose values are strings";
  return z.custom<Record<string, z.infer<T>>>().superRefine((env: unknown, context) => {
    const add = (text: string) => context.addIssue({ code: "custom", message: text });
    if (typeof env !== "object" || env === null || Array.isArray(env)) return add(message);
    const entries = Object.entries(env);
    for (const [name, each] of entries) {
      if (!VARIABLE_NAME.test(name)) {
        add(
          `has the variable ${describe(name)}: a name has letters, digits and underscores, and does not begin with a digit`,
        );
      }
      if (!value.safeParse(each).success) add(`has the variable ${describe(name)}, whose value is not a string`);
    }
    if (entries.length > MAX_ENV_VARIABLES) {
      add(`has ${entries.length} variables, more than the service allows (${MAX_ENV_VARIABLES})`);
    }
  });
}

function portsSchema({ mustBe }: { readonly mustBe: string }): z.ZodType {
  return z
    .union([z.string(), z.array(z.string())], must(mustBe))
    .transform(normalizePorts)
    .superRefine((ports, context) => {
      const wrong = ports.split(",").filter((port) => port !== "" && !PORT.test(port));
      for (const port of wrong) {
        context.addIssue({ code: "custom", message: `${describe(port)} is not a port such as 8000/http or 22/tcp` });
      }
    });
}

/** Hides the values of variables in all messages, which may quote what the client sent. */
export function hideEnv(env: Readonly<Record<string, string | null>>, shown: readonly string[]): void {
  for (const [name, value] of Object.entries(env)) {
    if (value === null || shown.some((text) => text.includes(value))) continue;
    if (looksLikeCredential(name) || value.length >= SHORTEST_HIDDEN_VALUE) hideJobSecret(value);
  }
}
