import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import type { OpenEnum } from "../contract/enums";
import type { ManagementApi, ServiceName } from "../contract/limits";

// Programs load this file on startup, so it must not import any libraries.

/** The beginning of the message about a property that is not a field. */
export const NO_SUCH_PROPERTY = "is not a property";

/** Settings that may be left out. `undefined` means the same as leaving a setting out. */
export type SettingChanges<Settings> = { readonly [K in keyof Settings]?: Settings[K] | undefined };

/** How REST v2 represents a field. */
export interface V2Field<Value> {
  /** The path in a request or response body, such as `image` or `workers.min`. */
  readonly path: string;
  /** An additional path to read the value from. */
  readonly otherPath?: string;
  /**
   * Returns the field's value from the values at `path` and `otherPath`. @default the first value
   * that is set
   */
  read?(found: unknown, other: unknown): unknown;
  /**
   * Returns the path to write, if it depends on other settings. Returns `undefined` if the field
   * cannot be sent together with these settings.
   */
  pathWith?(settings: Readonly<Record<string, unknown>>): string | undefined;
  /**
   * Returns the values to send, by path, if they differ from the field's value. `undefined` values
   * are not sent.
   */
  write?(value: Value): Readonly<Record<string, unknown>>;
  /**
   * `true` if the body contains a list instead of a comma-separated string.
   * @default `isList` of the field
   */
  readonly isList?: true;
  /**
   * `true` if a response without this field is not a record of this kind.
   * @default `isInEveryRecord` of the field
   */
  readonly isInEveryRecord?: true;
  /** `true` if the service does not show the field. */
  readonly isHidden?: true;
  /** `true` if the field is part of an object that is always sent as a whole. */
  readonly isPartOfWhole?: true;
}

/**
 * The normal form of a setting. For a list, this is a comma-separated string. An enum may contain
 * values that the service has added.
 */
type NormalForm<T> = Extract<T, readonly unknown[]> extends never ? Open<NonNullable<T>> : string;
type Open<T> = T extends string ? (string extends T ? string : OpenEnum<T>) : T;

/** The settings of an input in normal form, with every field set. */
export type NormalForms<Input> = { readonly [K in keyof Input]-?: NormalForm<Input[K]> };

/** The declaration of a field that can be set. */
export interface FieldOf<Type extends string, Value> {
  /** The type, which determines the schemas for inputs and responses. */
  readonly type: Type;
  /** The text that follows "must be …" in messages. */
  readonly mustBe: string;
  /** `true` if the value is a comma-separated list. Inputs may then contain an array instead. */
  readonly isList?: true;
  /** The values of an enum that are allowed in inputs. */
  readonly words?: readonly string[];
  /** The pattern of a word, or of each element of a set. */
  readonly pattern?: RegExp;
  /** The minimum value of a number. @default 0 */
  readonly min?: number;
  /** The maximum value of a number. @default the largest integer that GraphQL can carry */
  readonly max?: number;
  /** Converts a value to its normal form, so that values with the same meaning are equal. */
  normalize?(value: Value): Value;
  /**
   * The value used for `null`, and for a field that is removed from the program. A field without a
   * default is required.
   */
  readonly default?: Value;
  /** The value of the field if a record does not have it. @default the value of `default` */
  readonly unset?: Value;
  /**
   * `true` if a response without the field means that the record does not have it. The absence is
   * then a value like any other. A function decides this from the record's other settings.
   * @default a response without the field says nothing about it
   */
  readonly isUnsetIfAbsent?: true | ((settings: Readonly<Record<string, unknown>>) => boolean);
  /** `true` if a create must send the default because the service's own default is different. */
  readonly sendsDefault?: true;
  /**
   * Returns `true` if the service cannot make the change in place, so that it requires a new
   * record.
   * @default no change requires one
   */
  isFixed?(from: Value, to: Value): boolean;
  /** Returns `true` if a record with these settings cannot have the field. @default never */
  lackedBy?(settings: Readonly<Record<string, unknown>>): boolean;
  /**
   * `true` if a response without this field is not a record of this kind. Otherwise, a missing
   * field has its default or is empty.
   */
  readonly isInEveryRecord?: true;
  /**
   * The GraphQL selection.
   * @default the name of the field; `""` for a field that the service does not return
   */
  readonly selection?: string;
  /**
   * `true` if GraphQL uses a list instead of a comma-separated string. If the elements of the list
   * are objects, the name of the property that contains the value.
   */
  readonly graphqlList?: true | string;
  /**
   * Returns the value to send if it differs from the field's value. `service` is the named service,
   * if any.
   */
  toService?(value: Value, service: ServiceName | undefined): unknown;
  /** `true` if GraphQL declares the field as an enum, whose values are written without quotes. */
  readonly isGraphqlEnum?: true;
  /**
   * The only named service that has this field over GraphQL. If not set, every service has the
   * field.
   */
  readonly onlyAt?: ServiceName;
  /**
   * `true` if that service may not have the field. Once the service has rejected the field by name,
   * it is no longer read.
   */
  readonly isUncertain?: true;
  /**
   * The values that only one service has over GraphQL.
   * @default all, if the field has `onlyAt`
   */
  readonly valuesOnlyAt?: { readonly service: ServiceName; includes(value: Value): boolean };
  /**
   * The path in REST v2, or a description of how the field is written and read there. `null` if
   * REST v2 does not have the field.
   */
  readonly v2: string | V2Field<Value> | null;
  /**
   * `true` if a change to the field takes effect only in new workers. @default false: the field is
   * only informational
   */
  readonly needsNewWorkers?: true;
}

/**
 * A field of the service that a save sends back as it was read, because a save may reset fields
 * that are left out. Most of these fields are not settings in the client.
 */
export interface KeptField {
  /** The GraphQL selection. @default the name of the field */
  readonly selection?: string;
  /** `true` if GraphQL declares the field, or the elements of its list, as an enum. */
  readonly isGraphqlEnum?: true;
  /**
   * `true` if the field is a setting. Queries select all settings together, and a change may set
   * the field.
   */
  readonly isSetting?: true;
  /** `true` if the input does not accept the field. */
  readonly isReadOnly?: true;
  /**
   * The properties in the selection. If the service rejects one of these properties, the whole
   * field is left out.
   */
  readonly parts?: readonly string[];
  /**
   * `true` if the field contains secrets. Such a field is read only right before a save, and is not
   * kept in memory afterwards.
   */
  readonly isSecret?: true;
  /**
   * `true` if the service may not have the field. Once the service has rejected the field by name,
   * it is left out.
   */
  readonly isUncertain?: true;
}

/** The kept fields of one kind of record, by name. */
export type KeptTable = Readonly<Record<string, KeptField>>;

/** The kept fields of a record as they were read, except for fields that were `null`. */
export type Kept = Readonly<Record<string, unknown>>;

/** A field that only the service sets. */
export interface OutputOnlyField<Value = unknown> {
  /** The GraphQL selection. */
  readonly selection: string;
  readonly schema: z.ZodType<Value>;
  /** The path in REST v2, or `null` if the field does not exist there. */
  readonly v2: string | null;
}

/** A field of any type, for code that handles all fields in the same way. */
export type AnyField = FieldOf<string, unknown>;

/** All settable fields of one kind of record, by name. */
export type FieldTable = Readonly<Record<string, AnyField>>;

type RequiredName<Input> = {
  [K in keyof Input]-?: undefined extends Input[K] ? never : K;
}[keyof Input];

/**
 * The table of an input's fields. The fields that have a default are exactly those that the input
 * may leave out.
 */
export type TableOf<Input, Settings extends { readonly [K in keyof Input]-?: unknown }, Type extends string> = {
  readonly [K in RequiredName<Input>]: FieldOf<Type, Settings[K]> & { readonly default?: never };
} & {
  readonly [K in Exclude<keyof Input, RequiredName<Input>>]-?: FieldOf<Type, Settings[K]> & {
    readonly default: Settings[K];
  };
};

/** The API that fields are sent over, and the named service, if there is one. */
export interface FieldPlace {
  readonly api: ManagementApi;
  readonly service?: ServiceName | undefined;
}

/** Returns `true` if records have the field over this API. */
export function isPresentAt({ onlyAt, v2 }: AnyField, { api, service }: FieldPlace): boolean {
  return api === "v2" ? v2 !== null : onlyAt === undefined || onlyAt === service;
}

/**
 * Returns the reason why the API does not support this value of a field. Returns `undefined` if the
 * API supports it, if the value is undefined, or if the value is the same as that of an unset
 * field.
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
  const what = valuesOnlyAt ? `is ${value}, which is supported only` : "is supported only";
  const way = field.v2 === null ? "" : ", and over REST v2 (SERVERLESS_GPU_API=v2)";
  return `${what} by the service ${service}${way}`;
}

/** Returns `true` if the API never shows the field. */
export function isHiddenAt({ v2 }: AnyField, api: ManagementApi): boolean {
  return api === "v2" && (v2 === null || (typeof v2 === "object" && v2.isHidden === true));
}

/** Returns the GraphQL selection of a field. */
export function selectionOfField(name: string, { selection, graphqlList }: AnyField): string {
  return selection ?? (typeof graphqlList === "string" ? `${name} { ${graphqlList} }` : name);
}

/** Returns the field's value for a record that does not have it. */
export function unsetValue(field: AnyField): unknown {
  return field.unset ?? field.default;
}

/**
 * Returns the settings about which a response says nothing, because it does not show them.
 * @param settings the settings of the record, in which these settings have their unset value
 * @param isShown returns `true` if the response shows the setting, or cannot show it
 */
export function unshownIn(
  table: FieldTable,
  settings: Readonly<Record<string, unknown>>,
  isShown: (name: string, field: AnyField) => boolean,
): string[] {
  const isUnset = ({ isUnsetIfAbsent: isUnset, lackedBy }: AnyField) =>
    (typeof isUnset === "function" ? isUnset(settings) : isUnset === true) || lackedBy?.(settings) === true;
  return Object.keys(table).filter((name) => {
    const field = table[name];
    return field !== undefined && !isShown(name, field) && !isUnset(field);
  });
}

/** Returns `true` for an empty string in place of a value that every record must have. */
export function isEmptied(field: AnyField, value: unknown): boolean {
  return value === "" && field.default === undefined;
}

/** The information about its response that every record contains. */
export interface ShownRecord {
  /**
   * The settings that the response did not show, so that it says nothing about them. In the record,
   * they have the values that you passed as `known`, or else their default.
   * @default the response showed all settings
   * @internal
   */
  readonly unshown?: readonly string[] | undefined;
}

/** Returns the property of a record that names the settings that its response did not show. */
export function unshownProperty(unshown: readonly string[]): ShownRecord {
  return unshown.length === 0 ? {} : { unshown };
}

/** The rule for a field that the service can never change. */
export const NEVER_CHANGES = { isFixed: (from: unknown, to: unknown) => from !== to };

/** Returns the fields of a change that require a new record. */
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

/** Returns the names of the fields whose changes take effect only in new workers. */
export function workerFields(table: FieldTable): string[] {
  return Object.keys(table).filter((field) => table[field]?.needsNewWorkers);
}
