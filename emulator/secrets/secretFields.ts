import { z } from "zod";
import { type Field, patchSchemaOf, requiredString, type Stored, seedSchemaOf } from "../model/fieldTable";
import { type Shape, TEXT } from "../model/shapes";
import { property, writeOnlyProperty } from "../model/v2Form";

const NAME: Shape = {
  type: "string",
  minLength: 1,
  pattern: "^(?![rR][uU][nN][pP][oO][dD])[a-zA-Z_][a-zA-Z0-9_.\\-/]{0,190}$",
};
const VALUE: Shape = { type: "string", minLength: 1 };

const description: Field<string, string | null | undefined> = {
  output: "String",
  input: "String",
  schema: z.string().nullish(),
  stored: z.string(),
  store: (given, current) => given ?? current ?? "",
  v2: property("description", TEXT),
};

/** All fields of a secret that clients can set. The value is never shown. */
export const SECRET_FIELDS = {
  /** The name, which is unique in the account and cannot be changed. */
  name: requiredString("String", property("name", NAME)),
  /** The value that a worker's variable gets when the worker starts. */
  value: requiredString("", writeOnlyProperty("value", VALUE)),
  /** The description; `""` for none. */
  description,
};

const { value } = SECRET_FIELDS;
/** The fields that an update over REST v2 accepts. */
export const CHANGEABLE_SECRET_FIELDS = { value, description };

/** The fields of a secret that clients can set. */
export interface SecretFields extends Stored<typeof SECRET_FIELDS> {}

/** A secret as the emulator shows it. */
export interface EmulatedSecret extends Omit<SecretFields, "value"> {
  /** Identifier, assigned when the secret was created. */
  readonly id: string;
  /** Time of the creation, as ISO 8601. */
  readonly createdAt: string;
  /** When the secret was last changed. */
  updatedAt: string;
  /** When the value was last written. */
  valueLastUpdatedAt: string;
  /** When a worker last received the value; `null` if none has. */
  lastRetrievedAt: string | null;
}

/**
 * A secret as the emulator stores it. The data file contains the value, because workers need it.
 */
export interface StoredSecret extends EmulatedSecret {
  value: string;
}

/** A secret to create. */
export interface SecretSeed {
  /** Id of the new secret. @default random */
  readonly id?: string | null;
  /** Name, unique in the account. */
  readonly name: string;
  /** The value for workers. */
  readonly value: string;
  /** Description. @default none */
  readonly description?: string | null | undefined;
}

/** The schema of a secret to create. */
export const secretSeedSchema = seedSchemaOf<SecretSeed>(SECRET_FIELDS);
/** The schema of a change to a secret. */
export const secretPatchSchema = patchSchemaOf(SECRET_FIELDS);
/** The schema of a secret in a data file. */
export const storedSecretSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  value: z.string(),
  description: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  valueLastUpdatedAt: z.string(),
  lastRetrievedAt: z.string().nullable(),
});
