import * as z from "zod";
import { hideJobSecret } from "../errors/secretText";
import { describe, must, type TypeSchema } from "../records/input";
import { looksLikeCredential, MAX_ENV_VARIABLES, normalizePorts } from "./fields";
import type { EnvChanges } from "./record";

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PORT = /^\d+\/(http|tcp)$/;

/**
 * The minimum length of a value to hide. Shorter values are hidden only if their variable looks
 * like a credential, because hiding every short value would make messages unreadable.
 */
const SHORTEST_HIDDEN_VALUE = 8;

const ENV_OF_NEW = envSchema(z.string());

/** The schemas of the field types that only containers have. */
export const CONTAINER_TYPES: Readonly<Record<"env" | "ports", TypeSchema>> = {
  env: () => ENV_OF_NEW,
  ports: portsSchema,
};

/** The schema of `env` in a change, where `null` removes a variable. */
export const ENV_OF_CHANGE: z.ZodType = envSchema(z.string().nullable()).nullable();

/** Returns the schema of an environment. Its messages do not show any values. */
function envSchema<T extends z.ZodType>(value: T) {
  const message = "must be an object of variables, whose values are strings";
  return z.custom<Record<string, z.infer<T>>>().superRefine((env: unknown, context) => {
    const add = (text: string) => context.addIssue({ code: "custom", message: text });
    if (typeof env !== "object" || env === null || Array.isArray(env)) return add(message);
    const entries = Object.entries(env);
    for (const [name, each] of entries) {
      if (!VARIABLE_NAME.test(name)) {
        add(
          `contains the variable ${describe(name)}: a name consists of letters, digits and underscores, and does not begin with a digit`,
        );
      }
      if (!value.safeParse(each).success) add(`contains the variable ${describe(name)}, whose value is not a string`);
    }
    if (entries.length > MAX_ENV_VARIABLES) {
      add(`contains ${entries.length} variables, more than the service allows (${MAX_ENV_VARIABLES})`);
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

/**
 * Hides the values of environment variables in all messages, because messages may quote what the
 * client sent.
 */
export function hideEnv(env: EnvChanges, shown: readonly string[]): void {
  for (const [name, value] of Object.entries(env)) {
    if (value === null || shown.some((text) => text.includes(value))) continue;
    if (looksLikeCredential(name) || value.length >= SHORTEST_HIDDEN_VALUE) hideJobSecret(value);
  }
}

/**
 * Returns the environment with the changes applied: first the changed variables, sorted by name,
 * then the other variables in their previous order.
 */
export function changedEnv(
  before: Readonly<Record<string, string>>,
  changes: EnvChanges | null,
): Readonly<Record<string, string>> {
  if (changes === null) return {};
  const names = Object.keys(changes).sort();
  const set = names.flatMap((name) => (changes[name] === null ? [] : [[name, changes[name]] as const]));
  const others = Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name));
  return Object.fromEntries([...set, ...others] as [string, string][]);
}
