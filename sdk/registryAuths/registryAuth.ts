import { type FieldTable, NEVER_CHANGES, type TableOf } from "../records/fields";
import { kindOf } from "../records/kind";

// Programs load this file on startup, so it must not import any libraries.

/** The settings to create a registry credential with. */
export interface RegistryAuthInput {
  /** Name of the credential. Unique in the account. It cannot be changed. */
  readonly name: string;
  /** User of the registry. A program's state always keeps it as a secret. */
  readonly username: string;
  /**
   * Password or token of the user. No error or log shows it, the service never returns it, and a
   * program's state always keeps it as a secret. A change is made in place, so templates need no
   * change. Over REST v2, a change of the resource replaces the credential.
   */
  readonly password: string;
}

/** The user and the password that replace those of a registry credential. */
export type RegistryLogin = Pick<RegistryAuthInput, "username" | "password">;

/** A registry credential as the service shows it, which never includes the user or the password. */
export interface RegistryAuth {
  /** Identifier that the service gave the credential. */
  readonly id: string;
  /** Name of the credential. */
  readonly name: string;
}

export const REGISTRY_AUTH = kindOf("registry credential", { hasUniqueNames: true });

const TABLE: TableOf<RegistryAuthInput, RegistryAuthInput, "text"> = {
  name: { type: "text", mustBe: "a name, not empty", isInEveryRecord: true, ...NEVER_CHANGES, v2: "name" },
  username: { type: "text", mustBe: "the user of the registry, not empty", selection: "", v2: "username" },
  password: { type: "text", mustBe: "the password or token of the user, not empty", selection: "", v2: "password" },
};

/** All fields of a registry credential that can be set, for code that treats all fields alike. */
export const REGISTRY_AUTH_FIELDS: FieldTable = TABLE;
