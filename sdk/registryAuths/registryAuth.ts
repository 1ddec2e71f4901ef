import { type FieldTable, NEVER_CHANGES, type ShownRecord, type TableOf } from "../records/fields";
import { kindOf } from "../records/kind";

// Programs load this file on startup, so it must not import any libraries.

/** The settings for creating a registry credential. */
export interface RegistryAuthInput {
  /** The name of the credential. It must be unique in the account and cannot be changed. */
  readonly name: string;
  /** The user name at the registry. It is always encrypted in a program's state. */
  readonly username: string;
  /**
   * The user's password or token. It never appears in errors or logs, the service never returns it,
   * and it is always encrypted in a program's state. The credential keeps its id when the password
   * changes, so templates need no change. Over REST v2, changing the password on the resource
   * replaces the credential.
   */
  readonly password: string;
}

/** The new user name and password of a registry credential. */
export type RegistryLogin = Pick<RegistryAuthInput, "username" | "password">;

/**
 * A registry credential as the service returns it, which never includes the user name or the
 * password.
 */
export interface RegistryAuth extends ShownRecord {
  /** The id that the service assigned to the credential. */
  readonly id: string;
  /** The name of the credential. */
  readonly name: string;
}

export const REGISTRY_AUTH = kindOf("registry credential", { hasUniqueNames: true });

const TABLE: TableOf<RegistryAuthInput, RegistryAuthInput, "text"> = {
  name: { type: "text", mustBe: "a name that is not empty", isInEveryRecord: true, ...NEVER_CHANGES, v2: "name" },
  username: { type: "text", mustBe: "a user of the registry", selection: "", v2: "username" },
  password: { type: "text", mustBe: "the password or token of the user", selection: "", v2: "password" },
};

/** All settable fields of a registry credential, for code that treats all fields alike. */
export const REGISTRY_AUTH_FIELDS: FieldTable = TABLE;
