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
  /** Description; `""` if it has none. */
  readonly description: string;
  /** Time of the creation, as ISO 8601; `""` if the service does not show it. */
  readonly createdAt: string;
  /** Time of the last write of the value, as ISO 8601; that of the creation before any other. */
  readonly valueLastUpdatedAt: string;
}
