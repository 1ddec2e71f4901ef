import type { ServiceName } from "../contract/limits";

// Programs load this file when they start, so it imports no library.

/** The declaration of one field that can be set. */
export interface FieldOf<Type extends string, Value> {
  /** The type, which decides the schemas of inputs and responses. */
  readonly type: Type;
  /** Completes "must be …" in messages. */
  readonly mustBe: string;
  /** `true` if the value is a comma list, for which inputs may hold a list. */
  readonly isList?: true;
  /** Values of an enum that inputs may hold. */
  readonly words?: readonly string[];
  /** Smallest value of a number. @default 0 */
  readonly min?: number;
  /** Largest value of a number. @default the largest integer that GraphQL can carry */
  readonly max?: number;
  /** Brings equal values into one form. */
  readonly normalize?: (value: Value) => Value;
  /** The value that `null` sets, and that a field gets that is removed from the program. Without it the field is required. */
  readonly default?: Value;
  /** `true` if a response without the field is not a record of this kind. Otherwise absent is the default, or empty. */
  readonly isInEveryRecord?: true;
  /** The selection in GraphQL. @default the name of the field; `""` for a field that the service does not return */
  readonly selection?: string;
  /** Returns the value to send, where it differs. `service` is the named service, if any. */
  readonly toService?: (value: Value, service: ServiceName | undefined) => unknown;
  /** `true` if GraphQL declares the field as an enum, which is written without quotes. */
  readonly isGraphqlEnum?: true;
  /** The only named service that has the field. Without it, every service has the field. */
  readonly onlyAt?: ServiceName;
}

/**
 * A field of the service that the client does not manage. A save sends it as it was read, because a save may reset what
 * is left out.
 */
export interface KeptField {
  /** The selection in GraphQL. @default the name of the field */
  readonly selection?: string;
  /** `true` if GraphQL declares the field, or the elements of its list, as an enum. */
  readonly isGraphqlEnum?: true;
  /** `true` if the input does not take the field. */
  readonly isReadOnly?: true;
  /** `true` for a field that holds secrets. It is read only right before a save, and never kept. */
  readonly isSecret?: true;
  /** `true` for a field that the service may not have. It is left out once the service refuses it by name. */
  readonly isUncertain?: true;
}

/** The kept fields of one kind of record, by name. */
export type KeptTable = Readonly<Record<string, KeptField>>;

/** A field of any type, for code that treats all fields alike. */
export type AnyField = FieldOf<string, unknown>;

/** All fields of one kind of record that can be set, by name. State numbers them by their place: append new ones. */
export type FieldTable = Readonly<Record<string, AnyField>>;

type RequiredName<Input> = {
  [K in keyof Input]-?: undefined extends Input[K] ? never : K;
}[keyof Input];

/** The table of an input's fields. Fields that the input may leave out have a default, and no others. */
export type TableOf<Input, Settings extends { readonly [K in keyof Input]-?: unknown }, Type extends string> = {
  readonly [K in RequiredName<Input>]: FieldOf<Type, Settings[K]> & { readonly default?: never };
} & {
  readonly [K in Exclude<keyof Input, RequiredName<Input>>]-?: FieldOf<Type, Settings[K]> & {
    readonly default: Settings[K];
  };
};

/** Returns the names of the fields that every record must have. */
export function requiredFields(table: FieldTable): string[] {
  return Object.keys(table).filter((field) => table[field]?.default === undefined);
}

/** Returns the names of the fields that are comma lists. */
export function listFields(table: FieldTable): string[] {
  return Object.keys(table).filter((field) => table[field]?.isList);
}

/** Returns the default of each optional field, in normal form. */
export function defaultsOf(table: FieldTable): Record<string, unknown> {
  const optional = Object.entries(table).filter(([, field]) => field.default !== undefined);
  return Object.fromEntries(optional.map(([name, field]) => [name, field.default]));
}
