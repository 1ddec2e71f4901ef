/** The settings to create a registry credential with. */
export interface RegistryAuthInput {
  /** Name of the credential. Unique in the account, and fixed. */
  readonly name: string;
  /** User of the registry. */
  readonly username: string;
  /** Password or token of the user. No error or log shows it, and the service never returns it. */
  readonly password: string;
}

/** The user and the password that replace those of a registry credential. */
export type RegistryLogin = Pick<RegistryAuthInput, "username" | "password">;

/** A registry credential as the service shows it. It never shows user and password. */
export interface RegistryAuth {
  /** Identifier that the service gave the credential. */
  readonly id: string;
  /** Name of the credential. */
  readonly name: string;
}
