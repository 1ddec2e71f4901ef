import * as z from "zod";
import { InvalidInputError } from "../errors/errors";
import { describe, inputChecks, must, type TypeSchema } from "../records/input";
import {
  MOST_DESCRIPTION_BYTES,
  SECRET,
  SECRET_FIELDS,
  type SecretChanges,
  type SecretInput,
  type SecretSettings,
  VALUE_BELOW_BYTES,
} from "./secret";

const TYPES = {
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
} satisfies Readonly<Record<string, TypeSchema>>;

const CHECKS = inputChecks<SecretInput, SecretSettings, SecretChanges, Partial<SecretSettings>>(SECRET, SECRET_FIELDS, {
  types: TYPES,
  hidden: "value",
});

/** Validates the settings and changes of a secret, and hides the value in all messages. */
export const SECRET_CHECKS: typeof CHECKS = {
  ...CHECKS,
  parseChanges(id, { value, description }) {
    if (value !== undefined || description !== undefined) return CHECKS.parseChanges(id, { value, description });
    const problems = [{ property: "value", message: "is required, or description" }];
    throw new InvalidInputError(`the change of ${SECRET.noun} ${id}`, problems);
  },
};
