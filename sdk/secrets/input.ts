import * as z from "zod";
import { type InputProblem, InvalidInputError } from "../errors";
import { checkFields, describe, fieldSchemas, must, parseFields } from "../records/input";
import { hideJobSecret } from "../secret";
import {
  MOST_DESCRIPTION_BYTES,
  SECRET_FIELDS,
  type SecretChanges,
  type SecretInput,
  type SecretSettings,
  VALUE_BELOW_BYTES,
} from "./secret";

const SCHEMAS = fieldSchemas(SECRET_FIELDS, {
  "secret name": ({ mustBe, pattern = /./ }) => z.string(must(mustBe)).regex(pattern, must(mustBe)),
  // The message never shows the value.
  "secret value": ({ mustBe }) => {
    const message = `must be ${mustBe}`;
    const isAllowed = (value: string) => value !== "" && Buffer.byteLength(value) < VALUE_BELOW_BYTES;
    return z.string(message).refine(isAllowed, message);
  },
  "secret description": ({ mustBe }) =>
    z.string(must(mustBe)).refine((text) => Buffer.byteLength(text) <= MOST_DESCRIPTION_BYTES, {
      error: ({ input }) => `must be ${mustBe}; it is ${describe(input)}`,
    }),
});

/** Returns each valid field in normal form, and the problems with the others. */
export function checkSecretFields(input: Readonly<Record<string, unknown>>): {
  fields: Record<string, unknown>;
  problems: InputProblem[];
} {
  hideValue(input.value);
  return checkFields(SCHEMAS, input);
}

/**
 * Checks the settings of a new secret, and hides its value in all messages.
 * @throws InvalidInputError that lists every problem
 */
export function parseSecret(input: SecretInput): SecretSettings {
  hideValue(input.value);
  const fields = parseFields("the new secret", SECRET_FIELDS, SCHEMAS, input, true);
  return { description: "", ...fields } as SecretSettings;
}

/**
 * Checks changes, and hides a new value in all messages.
 * @throws InvalidInputError that lists every problem, or says that there are no changes
 */
export function parseSecretChanges(id: string, { value, description }: SecretChanges): Partial<SecretSettings> {
  hideValue(value);
  const what = `the change of secret ${id}`;
  if (value === undefined && description === undefined) {
    throw new InvalidInputError(what, [{ property: "value", message: "is required, or description" }]);
  }
  const { name: _fixed, ...table } = SECRET_FIELDS;
  return parseFields(what, table, SCHEMAS, { value, description }, false);
}

function hideValue(value: unknown): void {
  if (typeof value === "string") hideJobSecret(value);
}
