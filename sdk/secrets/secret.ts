import { type FieldTable, NEVER_CHANGES, type TableOf } from "../records/fields";
import { kindOf } from "../records/kind";

// Programs load this file on startup, so it must not import any libraries.

/** The settings to create a secret with. */
export interface SecretInput {
  /**
   * Name of the secret: 1 to 191 letters, digits and `_ . - /`. It begins with a letter or `_`, and
   * not with `RUNPOD`. Unique in the account, without regard to case. It cannot be changed.
   */
  readonly name: string;
  /**
   * Value of the secret: at least 1 character, less than 16 MiB. The service never returns it, and
   * no error or log shows it. Workers get a changed value when they next start.
   */
  readonly value: string;
  /**
   * Description, at most 65,535 bytes.
   * @default none
   */
  readonly description?: string | null | undefined;
}

/** The settings of a new secret in normal form. */
export interface SecretSettings {
  readonly name: string;
  readonly value: string;
  readonly description: string;
}

/** Changes of a secret. What is left out stays as it is. */
export interface SecretChanges extends Partial<Omit<SecretInput, "name">> {}

/** A secret as the service shows it, which never includes the value. */
export interface SecretRecord {
  /** Identifier that the service gave the secret. */
  readonly id: string;
  /** Name of the secret. */
  readonly name: string;
  /** Description; `""` if there is none. */
  readonly description: string;
  /** Time of the creation, as ISO 8601; `""` if the service does not show it. */
  readonly createdAt: string;
  /** Time of the last write of the value, as ISO 8601; that of the creation before any other. */
  readonly valueLastUpdatedAt: string;
}

/** The most characters of a name. */
const LONGEST_NAME = 191;
/** The shape of a name. The service keeps names that begin with `RUNPOD` for itself. */
const NAME = new RegExp(`^(?!RUNPOD)[a-zA-Z_][a-zA-Z0-9_.\\-/]{0,${LONGEST_NAME - 1}}$`, "i");

/** The size that a value must be below, in bytes. */
export const VALUE_BELOW_BYTES = 16 * 1024 * 1024;

/** The largest description, in bytes. */
export const MOST_DESCRIPTION_BYTES = 65_535;

export const SECRET = kindOf("secret", { hasUniqueNames: true, ignoresCase: true });

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
