import { z } from "zod";
import type { Profile } from "./fidelity";
import type { Shape } from "./shapes";

/** How REST v2 represents a field. */
export interface V2Form<Value, Given> {
  /** The body properties that contain the field, by path, such as `workers.min`. */
  readonly properties: Readonly<Record<string, Shape>>;
  /**
   * Returns the value that a body sets, or `undefined` if it sets none. `at` returns the property
   * at a path.
   */
  readonly read: (at: <T>(path: string) => T | undefined) => Given | undefined;
  /**
   * Returns the properties that show the value, by path. Properties that are `undefined` are
   * omitted. `record` contains all fields.
   * @default REST v2 does not show the field
   */
  readonly show?:
    | ((value: Value, record: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>)
    | undefined;
  /** The value of a new record if the body sets none. @default same as in GraphQL */
  readonly initial?: Given | undefined;
}

/** How GraphQL and REST v2 represent a field, and what is stored. */
interface FieldForm<Value, Given> {
  /** The GraphQL type in the record; empty if GraphQL does not show the field. */
  readonly output: string;
  /** The GraphQL type in the input. A non-null type with a default rejects an explicit `null`. */
  readonly input: string;
  /** The GraphQL types in the observed profile, if they are different. */
  readonly observed?: { readonly output: string; readonly input: string };
  /** Returns the value to store. `current` is `undefined` for a new record. */
  readonly store: (given: Given, current: Value | undefined, profile: Profile) => Value;
  /** The only profile whose GraphQL schema contains the field. @default both profiles contain it */
  readonly onlyIn?: Profile;
  /** How REST v2 represents the field. @default REST v2 does not have it */
  readonly v2?: V2Form<Value, Given> | undefined;
}

/** The declaration of a field that clients can set. */
export interface Field<Value, Given> extends FieldForm<Value, Given> {
  /** The field's schema in seeds and in changes over HTTP. */
  readonly schema: z.ZodType<Given>;
  /** The schema of the stored value in a data file. */
  readonly stored: z.ZodType<Value>;
}

/** Declares a string that every input must contain. `output` is its GraphQL type in the record. */
export function requiredString(
  output: string,
  v2: V2Form<string, string>,
  store: Field<string, string>["store"] = (given) => given,
): Field<string, string> {
  return { output, input: "String!", schema: z.string(), stored: z.string(), store, v2 };
}

/** A table of fields, by name. */
export type FieldTable = Readonly<Record<string, object>>;

type Value<F> = F extends FieldForm<infer V, infer _> ? V : never;
type Given<F> = F extends FieldForm<infer _, infer G> ? G : never;
type RequiredName<T> = { [K in keyof T]: undefined extends Given<T[K]> ? never : K }[keyof T];

/** A table's fields as the service stores them. */
export type Stored<T extends FieldTable> = { -readonly [K in keyof T]: Value<T[K]> };

/** The fields that an input must contain. */
export type RequiredInput<T extends FieldTable> = { readonly [K in keyof Pick<T, RequiredName<T>>]: Given<T[K]> };

/** The fields that an input may omit. */
export type OptionalInput<T extends FieldTable> = { readonly [K in keyof Omit<T, RequiredName<T>>]?: Given<T[K]> };

/** The fields of an input. */
export type Input<T extends FieldTable> = RequiredInput<T> & OptionalInput<T>;

/** Returns a record's fields after `input` was saved. `current` is `undefined` for a new record. */
export function fieldsAfter<T extends FieldTable>(
  table: T,
  current: Stored<T> | undefined,
  input: Input<T>,
  profile: Profile,
): Stored<T> {
  const given = input as Readonly<Record<string, unknown>>;
  const before = current as Readonly<Record<string, unknown>> | undefined;
  const values = entriesOf(table).map(([name, { store }]) => [name, store(given[name], before?.[name], profile)]);
  return Object.fromEntries(values) as Stored<T>;
}

/** Returns the GraphQL schema declarations of all fields, for either the record or the input. */
export function graphqlFields(table: FieldTable, side: "output" | "input", profile: Profile): string {
  const typesOf = (field: Field<unknown, unknown>) => (profile === "observed" ? (field.observed ?? field) : field);
  const declared = entriesOf(table).filter(([, { onlyIn = profile }]) => onlyIn === profile);
  const types = declared.map(([name, field]) => [name, typesOf(field)[side]]).filter(([, type]) => type !== "");
  return types.map(([name, type]) => `${name}: ${type}`).join(" ");
}

/** Returns the schema of a record to create. It may contain the record's id. */
export function seedSchemaOf<Seed>(table: FieldTable): z.ZodType<Seed> {
  return z.strictObject({ id: z.string().min(1).optional(), ...schemasOf(table) }) as z.ZodType as z.ZodType<Seed>;
}

/** Returns the schema of a change to a record. */
export function patchSchemaOf<T extends FieldTable>(table: T): z.ZodType<Partial<Stored<T>>> {
  return z.strictObject(schemasOf(table)).partial() as z.ZodType as z.ZodType<Partial<Stored<T>>>;
}

/** Returns the schemas of the stored fields, for data files. */
export function storedSchemasOf(table: FieldTable): Record<string, z.ZodType> {
  return Object.fromEntries(entriesOf(table).map(([name, { stored }]) => [name, stored]));
}

function schemasOf(table: FieldTable): Record<string, z.ZodType> {
  return Object.fromEntries(entriesOf(table).map(([name, { schema }]) => [name, schema]));
}

function entriesOf(table: FieldTable): [string, Field<unknown, unknown>][] {
  return Object.entries(table) as [string, Field<unknown, unknown>][];
}
