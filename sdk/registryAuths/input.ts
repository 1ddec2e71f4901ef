import type { InputProblem } from "../errors";
import { checkFields, fieldSchemas, parseFields } from "../records/input";
import { hideJobSecret } from "../secret";
import { REGISTRY_AUTH_FIELDS, type RegistryAuthInput, type RegistryLogin } from "./registryAuth";

/** The beginning of messages about a change over an interface that cannot make it. */
export const FIXED_LOGIN = "REST v2 cannot change the user or the password of a registry credential";

/** How to get another user or password there. */
export const ANOTHER_LOGIN =
  `${FIXED_LOGIN}. Nothing was changed. Give the credential another name: a new one is then created, and the old one is ` +
  "deleted when nothing uses it";

const SCHEMAS = fieldSchemas(REGISTRY_AUTH_FIELDS);

/** Returns each valid field in normal form, and the problems with the others. */
export function checkRegistryAuthFields(input: Readonly<Record<string, unknown>>): {
  fields: Record<string, unknown>;
  problems: InputProblem[];
} {
  if (typeof input.password === "string") hideJobSecret(input.password);
  return checkFields(SCHEMAS, input);
}

/**
 * Checks the settings of a new credential, and hides its password in all messages.
 * @throws InvalidInputError that lists every problem
 */
export function parseRegistryAuth(input: RegistryAuthInput): RegistryAuthInput {
  if (typeof input.password === "string") hideJobSecret(input.password);
  return parseFields(
    "the new registry credential",
    REGISTRY_AUTH_FIELDS,
    SCHEMAS,
    input,
    true,
  ) as unknown as RegistryAuthInput;
}

/**
 * Checks a new user and password, and hides the password in all messages.
 * @throws InvalidInputError that lists every problem
 */
export function parseRegistryLogin(id: string, { username, password }: RegistryLogin): RegistryLogin {
  if (typeof password === "string") hideJobSecret(password);
  const { name: _fixed, ...table } = REGISTRY_AUTH_FIELDS;
  const what = `the change of registry credential ${id}`;
  return parseFields(what, table, SCHEMAS, { username, password }, true) as unknown as RegistryLogin;
}
