import { referencesIn } from "../containers/references";
import { type FieldTable, NEVER_CHANGES, type ShownRecord, type TableOf } from "../records/fields";
import { kindOf } from "../records/kind";

// Programs load this file on startup, so it must not import any libraries.

/** The settings for creating a secret. */
export interface SecretInput {
  /**
   * The name of the secret: 1 to 191 letters, digits and `_ . - /`. It must begin with a letter or
   * `_`, but not with `RUNPOD`. It must be unique in the account, ignoring case, and cannot be
   * changed.
   */
  readonly name: string;
  /**
   * The value of the secret (at least 1 character, less than 16 MiB). The service never returns it,
   * and it never appears in errors or logs. Workers get a changed value when they next start.
   */
  readonly value: string;
  /**
   * A description of at most 65,535 bytes.
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

/** Changes to a secret. Fields that are left out keep their values. */
export interface SecretChanges extends Partial<Omit<SecretInput, "name">> {}

/** A secret as the service returns it, which never includes the value. */
export interface SecretRecord extends ShownRecord {
  /** The id that the service assigned to the secret. */
  readonly id: string;
  /** The name of the secret. */
  readonly name: string;
  /** The description, or `""` if there is none. */
  readonly description: string;
  /** When the secret was created (ISO 8601), or `""` if the service does not show it. */
  readonly createdAt: string;
  /**
   * When the value was last written (ISO 8601). If the value was never changed, this is when the
   * secret was created.
   */
  readonly valueLastUpdatedAt: string;
  /**
   * `true` if `valueLastUpdatedAt` is when the value or the description was last written, because
   * the service does not show when the value alone was written.
   */
  readonly isTimeOfAnyChange?: true;
}

/** The maximum length of a name, in characters. */
const LONGEST_NAME = 191;
/** The format of a name. The service reserves names that begin with `RUNPOD`. */
const NAME = new RegExp(`^(?!RUNPOD)[a-zA-Z_][a-zA-Z0-9_.\\-/]{0,${LONGEST_NAME - 1}}$`, "i");

/** The size that a value must stay below, in bytes. */
export const VALUE_BELOW_BYTES = 16 * 1024 * 1024;

/** The maximum size of a description, in bytes. */
export const MOST_DESCRIPTION_BYTES = 65_535;

export const SECRET = kindOf("secret", { hasUniqueNames: true, ignoresCase: true });

const TABLE: TableOf<SecretInput, SecretSettings, "secret name" | "secret value" | "secret description"> = {
  name: {
    type: "secret name",
    mustBe: `a name of 1 to ${LONGEST_NAME} letters, digits and _ . - / that begins with a letter or _, but not with RUNPOD`,
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
    isUnsetIfAbsent: true,
    v2: "description",
  },
};

/** All settable fields of a secret, for code that treats all fields alike. */
export const SECRET_FIELDS: FieldTable = TABLE;

/** Returns `true` if the service accepts this name for a secret. */
export function isSecretName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Returns the text that refers to a secret in an environment variable of a worker, and that the
 * service replaces with the secret's value.
 */
export function referenceTo(name: string): string {
  return `{{ RUNPOD_SECRET_${name} }}`;
}

/** Returns `true` if the value of an environment variable refers to this secret. */
export function refersTo(name: string, text: string): boolean {
  return referencesIn(text).includes(name);
}

/** Returns `true` if the value of an environment variable refers to any secret. */
export function holdsReference(text: string): boolean {
  return referencesIn(text).length > 0;
}
