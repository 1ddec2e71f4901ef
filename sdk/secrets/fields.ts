import { type FieldTable, NEVER_CHANGES, type TableOf } from "../records/fields";
import type { SecretInput, SecretSettings } from "./record";

// Programs load this file when they start, so it imports no library.

/** The most characters of a name. */
const LONGEST_NAME = 191;
/** The shape of a name. The service keeps names that begin with `RUNPOD` for itself. */
const NAME = new RegExp(`^(?!RUNPOD)[a-zA-Z_][a-zA-Z0-9_.\\-/]{0,${LONGEST_NAME - 1}}$`, "i");

/** The size that a value must be below, in bytes. */
export const VALUE_BELOW_BYTES = 16 * 1024 * 1024;

/** The largest description, in bytes. */
export const MOST_DESCRIPTION_BYTES = 65_535;

const TABLE: TableOf<SecretInput, SecretSettings, "secret name" | "secret value" | "secret description"> = {
  name: {
    type: "secret name",
    mustBe: `a name of 1 to ${LONGEST_NAME} letters, digits and _ . - / that begins with a letter or _, and not with RUNPOD`,
    pattern: NAME,
    isInEveryRecord: true,
    ...NEVER_CHANGES,
    v2: "name",
  },
  value: { type: "secret value", mustBe: "at least 1 character and less than 16 MiB", selection: "", v2: "value" },
  description: {
    type: "secret description",
    mustBe: "a text of at most 65,535 bytes",
    default: "",
    v2: "description",
  },
};

/** All fields of a secret that can be set, for code that treats all fields alike. */
export const SECRET_FIELDS: FieldTable = TABLE;

/** Returns `true` if the service accepts the name of a secret. */
export function isSecretName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the text that a worker's variable replaces with a secret's value. */
export function referenceTo(name: string): string {
  return `{{ RUNPOD_SECRET_${name} }}`;
}

/** Returns `true` if the value of a variable names this secret. */
export function refersTo(name: string, text: string): boolean {
  return [...text.matchAll(REFERENCE)].some((match) => match[1] === name);
}

/** Returns `true` if the value of a variable names any secret. */
export function holdsReference(text: string): boolean {
  return text.match(REFERENCE) !== null;
}

/** A reference, with the secret's name as its group. */
const REFERENCE = /\{\{\s*RUNPOD_SECRET_([\w.\-/]+)\s*\}\}/g;
