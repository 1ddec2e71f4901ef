import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import type { OpenEnum } from "../contract/enums";
import type { ManagementApi, ServiceName } from "../contract/limits";

// Programs load this file on startup, so it must not import any libraries.

/** How the problem of a property begins that no field has. */
export const NO_SUCH_PROPERTY = "is not a property";

/** Settings that may be left out, or be `undefined`, which means the same. */
export type SettingChanges<Settings> = { readonly [K in keyof Settings]?: Settings[K] | undefined };

/** How REST v2 represents a field. */
export interface V2Field<Value> {
  /** The path in a body, such as `image` or `workers.min`. */
  readonly path: string;
  /** Another path from which the value is read. */
  readonly otherPath?: string;
  /**
   * Returns the field's value from the values at `path` and `otherPath`. @default the first one
   * that is set
   */
  read?(found: unknown, other: unknown): unknown;
  /**
   * Returns the path to write if it depends on other settings; `undefined` if the body cannot hold
   * the field with them.
   */
  pathWith?(settings: Readonly<Record<string, unknown>>): string | undefined;
  /**
   * Returns the values to send by path, if they differ from the field's value. `undefined` is not
   * sent.
   */
  write?(value: Value): Readonly<Record<string, unknown>>;
  /**
   * `true` if the body holds a list instead of a comma-separated string.
   * @default that of the field
   */
  readonly isList?: true;
  /**
   * `true` if a response without the field is not a record of this kind.
   * @default that of the field
   */
  readonly isInEveryRecord?: true;
  /** `true` if the service does not show the field. */
  readonly isHidden?: true;
  /** `true` for a part of an object that is sent as a whole. */
  readonly isPartOfWhole?: true;
}

/**
 * The normal form of a setting: a comma-separated list for a list. An enum may hold words that the
 * service has added.
 */
type NormalForm<T> = Extract<T, readonly unknown[]> extends never ? Open<NonNullable<T>> : string;
type Open<T> = T extends string ? (string extends T ? string : OpenEnum<T>) : T;

/** The settings of an input in normal form. Every field is set. */
export type NormalForms<Input> = { readonly [K in keyof Input]-?: NormalForm<Input[K]> };

/** The declaration of one field that can be set. */
export interface FieldOf<Type extends string, Value> {
  /** The type, which decides the schemas of inputs and responses. */
  readonly type: Type;
  /** Completes "must be …" in messages. */
  readonly mustBe: string;
  /** `true` if the value is a comma-separated list, for which inputs may hold a list. */
  readonly isList?: true;
  /** Values of an enum that inputs may hold. */
  readonly words?: readonly string[];
  /** The shape of a word, or of each element of a set. */
  readonly pattern?: RegExp;
  /** Smallest value of a number. @default 0 */
  readonly min?: number;
  /** Largest value of a number. @default the largest integer that GraphQL can carry */
  readonly max?: number;
  /** Brings equal values into one form. */
  normalize?(value: Value): Value;
  /**
   * The value that `null` sets, and that a field gets that is removed from the program. Without it
   * the field is required.
   */
  readonly default?: Value;
  /** The value of a record that shows none. @default that of `default` */
  readonly unset?: Value;
  /** `true` if a create sends the default, because the service has another one. */
  readonly sendsDefault?: true;
  /** Returns `true` for a change that requires a new record. @default no change does */
  isFixed?(from: Value, to: Value): boolean;
  /** Returns `true` if a record with these settings cannot have the field. @default never */
  lackedBy?(settings: Readonly<Record<string, unknown>>): boolean;
  /**
   * `true` if a response without the field is not a record of this kind. Otherwise absent is the
   * default, or empty.
   */
  readonly isInEveryRecord?: true;
  /**
   * The selection in GraphQL.
   * @default the name of the field; `""` for a field that the service does not return
   */
  readonly selection?: string;
  /**
   * `true` if GraphQL has a list, and not a comma-separated list. The name of a property if the
   * elements are objects.
   */
  readonly graphqlList?: true | string;
  /**
   * Returns the value to send, if it differs from the field's value. `service` is the named
   * service, if any.
   */
  toService?(value: Value, service: ServiceName | undefined): unknown;
  /** `true` if GraphQL declares the field as an enum, which is written without quotes. */
  readonly isGraphqlEnum?: true;
  /**
   * The only named service that has the field over GraphQL. Without it, every service has the
   * field.
   */
  readonly onlyAt?: ServiceName;
  /**
   * The values that, over GraphQL, only one service has.
   * @default all, if the field has `onlyAt`
   */
  readonly valuesOnlyAt?: { readonly service: ServiceName; includes(value: Value): boolean };
  /**
   * The path in REST v2, or how it is written and read there. `null` if REST v2 does not have the
   * field.
   */
  readonly v2: string | V2Field<Value> | null;
  /** `true` if a change needs new workers. @default false: the field is for people */
  readonly needsNewWorkers?: true;
}

/**
 * A field of the service that a save sends as it was read, because a save may reset what is left
 * out. Most of these fields are not settings in the client.
 */
export interface KeptField {
  /** The selection in GraphQL. @default the name of the field */
  readonly selection?: string;
  /** `true` if GraphQL declares the field, or the elements of its list, as an enum. */
  readonly isGraphqlEnum?: true;
  /** `true` for a setting, which is selected with the others. A change may also set it. */
  readonly isSetting?: true;
  /** `true` if the input does not take the field. */
  readonly isReadOnly?: true;
  /**
   * Properties in the selection. If the service refuses one of them, the field is left out as well.
   */
  readonly parts?: readonly string[];
  /** `true` for a field that holds secrets. It is read only right before a save, and never kept. */
  readonly isSecret?: true;
  /**
   * `true` for a field that the service may not have. It is left out once the service refuses it by
   * name.
   */
  readonly isUncertain?: true;
}

/** The kept fields of one kind of record, by name. */
export type KeptTable = Readonly<Record<string, KeptField>>;

/** The kept fields of one record as they were read. A field that reads `null` is not among them. */
export type Kept = Readonly<Record<string, unknown>>;

/** A field that only the service sets. */
export interface OutputOnlyField<Value = unknown> {
  /** The selection in GraphQL. */
  readonly selection: string;
  readonly schema: z.ZodType<Value>;
  /** The path in REST v2; `null` if it does not have the field. */
  readonly v2: string | null;
}

/** A field of any type, for code that treats all fields alike. */
export type AnyField = FieldOf<string, unknown>;

/** All fields of one kind of record that can be set, by name. */
export type FieldTable = Readonly<Record<string, AnyField>>;

type RequiredName<Input> = {
  [K in keyof Input]-?: undefined extends Input[K] ? never : K;
}[keyof Input];

/**
 * The table of an input's fields. Fields that the input may leave out have a default, and no
 * others.
 */
export type TableOf<Input, Settings extends { readonly [K in keyof Input]-?: unknown }, Type extends string> = {
  readonly [K in RequiredName<Input>]: FieldOf<Type, Settings[K]> & { readonly default?: never };
} & {
  readonly [K in Exclude<keyof Input, RequiredName<Input>>]-?: FieldOf<Type, Settings[K]> & {
    readonly default: Settings[K];
  };
};

/** The interface that fields are sent over, and the named service, if there is one. */
export interface FieldPlace {
  readonly api: ManagementApi;
  readonly service?: ServiceName | undefined;
}

/** Returns `true` if records have the field over this interface. */
export function isPresentAt({ onlyAt, v2 }: AnyField, { api, service }: FieldPlace): boolean {
  return api === "v2" ? v2 !== null : onlyAt === undefined || onlyAt === service;
}

/**
 * Returns the reason why the interface cannot have this value of a field; `undefined` if it can, or
 * if the value says nothing.
 */
export function lackedAt(field: AnyField, value: unknown, place: FieldPlace): string | undefined {
  if (value === undefined || isDeepStrictEqual(value, unsetValue(field))) return undefined;
  if (place.api === "v2") {
    return field.v2 === null
      ? "cannot be set over REST v2: remove it, or use GraphQL (SERVERLESS_GPU_API=graphql)"
      : undefined;
  }
  const { onlyAt, valuesOnlyAt } = field;
  const service = valuesOnlyAt ? valuesOnlyAt.includes(value) && valuesOnlyAt.service : onlyAt;
  if (!service || service === place.service) return undefined;
  const what = valuesOnlyAt ? `is ${value}, which exists only` : "exists only";
  const way = field.v2 === null ? "" : ", and over REST v2 (SERVERLESS_GPU_API=v2)";
  return `${what} at the service ${service}${way}`;
}

/** Returns the selection of a field in GraphQL. */
export function selectionOfField(name: string, { selection, graphqlList }: AnyField): string {
  return selection ?? (typeof graphqlList === "string" ? `${name} { ${graphqlList} }` : name);
}

/** Returns the value of a record that shows none. */
export function unsetValue(field: AnyField): unknown {
  return field.unset ?? field.default;
}

/** The rule of a field that the service cannot change. */
export const NEVER_CHANGES = { isFixed: (from: unknown, to: unknown) => from !== to };

/** Returns the fields of a change that need another record. */
export function fixedIn(table: FieldTable, before: object, changes: object): string[] {
  const [was, wanted]: Readonly<Record<string, unknown>>[] = [{ ...before }, { ...changes }];
  return Object.keys(table).filter((name) => {
    const [from, to] = [was?.[name], wanted?.[name]];
    return from !== undefined && to !== undefined && (table[name]?.isFixed?.(from, to) ?? false);
  });
}

/** Returns the names of the fields that every record must have. */
export function requiredFields(table: FieldTable): string[] {
  return Object.keys(table).filter((field) => table[field]?.default === undefined);
}

/** Returns the names of the fields that are comma-separated lists. */
export function listFields(table: FieldTable): string[] {
  return Object.keys(table).filter((field) => table[field]?.isList);
}

/** Returns the default of each optional field, in normal form. */
export function defaultsOf(table: FieldTable): Record<string, unknown> {
  const optional = Object.entries(table).filter(([, field]) => field.default !== undefined);
  return Object.fromEntries(optional.map(([name, field]) => [name, field.default]));
}

/** Returns the names of the fields whose change needs new workers. */
export function workerFields(table: FieldTable): string[] {
  return Object.keys(table).filter((field) => table[field]?.needsNewWorkers);
}
