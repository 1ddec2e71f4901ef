import { patchSchemaOf, type RequiredInput, requiredString, type Stored, seedSchemaOf } from "../model/fieldTable";
import { NAME } from "../model/shapes";
import { property, writeOnlyProperty } from "../model/v2Form";

/** All fields of a registry credential that clients can set. GraphQL only shows the name. */
export const REGISTRY_AUTH_FIELDS = {
  /** The name, which is unique in the account and cannot be changed. */
  name: requiredString("String", property("name", NAME)),
  /** The user name at the registry. Never shown. */
  username: requiredString("", writeOnlyProperty("username", NAME)),
  /** The password at the registry. Never shown. */
  password: requiredString("", writeOnlyProperty("password", NAME)),
};

const { username, password } = REGISTRY_AUTH_FIELDS;
/** The fields that `updateRegistryAuth` accepts. */
export const CREDENTIAL_FIELDS = { username, password };

type Table = typeof REGISTRY_AUTH_FIELDS;

/** The fields of a registry credential that clients can set. */
export interface RegistryAuthFields extends Stored<Table> {}

/** A registry credential as the emulator shows it. */
export interface RegistryAuthRecord {
  /** Identifier, assigned when the credential was created. */
  readonly id: string;
  /** Name, unique in the account. */
  name: string;
}

/** A registry credential as the emulator stores it. A digest is enough to tell passwords apart. */
export interface StoredRegistryAuth extends RegistryAuthRecord {
  /** Digest of the user name and the password. */
  digest: string;
}

/** The `input` of `saveRegistryAuth`. */
export interface RegistryAuthInput extends RequiredInput<Table> {}

/** The `input` of `updateRegistryAuth`. */
export interface RegistryAuthChange extends RequiredInput<typeof CREDENTIAL_FIELDS> {
  readonly id: string;
}

/** A registry credential to create. */
export interface RegistryAuthSeed extends RegistryAuthInput {
  /** Id of the new credential. @default random */
  readonly id?: string | null;
}

/** The schema of a credential to create. */
export const registryAuthSeedSchema = seedSchemaOf<RegistryAuthSeed>(REGISTRY_AUTH_FIELDS);
/** The schema of a change to a credential. */
export const registryAuthPatchSchema = patchSchemaOf(REGISTRY_AUTH_FIELDS);
