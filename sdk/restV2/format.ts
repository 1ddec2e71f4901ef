import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import {
  type AnyField,
  type FieldTable,
  isEmptied,
  type OutputOnlyField,
  type ShownRecord,
  unsetValue,
  unshownIn,
  unshownProperty,
  type V2Field,
} from "../records/fields";

/** The schemas of container fields whose values are not strings. */
export const V2_TYPES = { env: z.record(z.string(), z.string()) };

/** Settings by name. */
type Settings = Readonly<Record<string, unknown>>;

/**
 * Returns how REST v2 writes and reads a field, or `undefined` if REST v2 does not have the field.
 */
function v2Of({ v2 }: AnyField): V2Field<unknown> | undefined {
  return typeof v2 === "string" ? { path: v2 } : (v2 ?? undefined);
}

/** Returns the fields that records show. Other fields, such as passwords, are only written. */
function shownFields(table: FieldTable): [string, AnyField][] {
  return Object.entries(table).filter(([, field]) => field.selection !== "" || v2Of(field)?.read !== undefined);
}

/**
 * Returns the schema of a record in a REST v2 response. Fields that the response does not show are
 * set to their default, or are empty. `types` are the schemas of types whose values are neither
 * strings nor numbers.
 */
export function v2RecordSchema<T>(
  table: FieldTable,
  outputOnly: Readonly<Record<string, OutputOnlyField>>,
  types: Readonly<Record<string, z.ZodType>> = {},
): z.ZodType<T> {
  const places = new Map<string, z.ZodType>();
  for (const { v2, schema } of Object.values(outputOnly)) if (v2 !== null) places.set(v2, schema);
  for (const [, field] of shownFields(table)) {
    const v2 = v2Of(field);
    if (!v2 || v2.isHidden) continue;
    const schema = types[field.type] ?? valueSchema(field, v2);
    const isOptional = !(field.isInEveryRecord || v2.isInEveryRecord);
    for (const path of [v2.path, v2.otherPath]) if (path) places.set(path, isOptional ? schema.nullish() : schema);
  }
  return objectSchema([...places]).transform((body) => {
    const outputs = Object.entries(outputOnly).map(([name, { v2, schema }]) => {
      return [name, v2 === null ? schema.parse(undefined) : valueAt(body, v2)] as const;
    });
    const settings = Object.fromEntries(
      shownFields(table).flatMap(([name, field]) => {
        const value = readField(field, body);
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
    const unshown = unshownIn(table, settings, (_, field) => isShown(field, settings, body));
    return {
      ...Object.fromEntries(outputs.filter(([, value]) => value !== undefined)),
      ...settings,
      ...unshownProperty(unshown),
    };
  }) as unknown as z.ZodType<T>;
}

/** Returns `true` if the response shows the field, or if records with these settings cannot. */
function isShown(field: AnyField, settings: Settings, body: unknown): boolean {
  const v2 = v2Of(field);
  if (!v2 || v2.isHidden || (field.selection === "" && !v2.read) || pathOf(field, v2, settings) === undefined)
    return true;
  const [found, other] = [v2.path, v2.otherPath].map((path) => path && (valueAt(body, path) ?? undefined));
  const shown = found ?? other;
  return shown !== undefined && !isEmptied(field, shown) && (!v2.read || v2.read(found, other) !== undefined);
}

function valueSchema({ type, isList }: AnyField, v2: V2Field<unknown>): z.ZodType {
  if (isList || v2.isList) return z.array(z.string());
  return type.endsWith("number") ? z.number() : z.string();
}

/** Returns the schema of an object that has values at these paths. */
function objectSchema(places: readonly (readonly [string, z.ZodType])[]): z.ZodType {
  const shape: Record<string, z.ZodType> = {};
  const nested = new Map<string, [string, z.ZodType][]>();
  for (const [path, schema] of places) {
    const [head = "", ...rest] = path.split(".");
    if (rest.length === 0) shape[head] = schema;
    else nested.set(head, [...(nested.get(head) ?? []), [rest.join("."), schema]]);
  }
  for (const [head, parts] of nested) shape[head] = objectSchema(parts);
  const schema = z.looseObject(shape);
  // If none of an object's fields is in every record, the object may also be missing as a whole.
  const isOptional = Object.values(shape).every((each) => each.safeParse(undefined).success);
  return isOptional && Object.keys(shape).length > 0 ? schema.nullish() : schema;
}

function readField(field: AnyField, body: unknown): unknown {
  const v2 = v2Of(field);
  if (!v2 || v2.isHidden) return unsetValue(field) ?? "";
  return settingOf(field, v2, valueAt(body, v2.path), v2.otherPath && valueAt(body, v2.otherPath));
}

/** Returns a field's value in normal form, from the values at its `path` and `otherPath`. */
function settingOf(field: AnyField, v2: V2Field<unknown>, found: unknown, other: unknown): unknown {
  const { normalize = (same) => same } = field;
  const sent = (v2.read ? v2.read(found, other) : (found ?? other)) ?? unsetValue(field) ?? "";
  return normalize(Array.isArray(sent) ? sent.join(",") : sent);
}

/**
 * Returns the settings that a response shows. A value of an unexpected type counts as missing. For
 * `types`, see `v2RecordSchema`.
 */
export function settingsInV2(
  table: FieldTable,
  body: unknown,
  types: Readonly<Record<string, z.ZodType>>,
): Record<string, unknown> {
  const settings = shownFields(table).flatMap(([name, field]) => {
    const v2 = v2Of(field);
    if (!v2 || v2.isHidden) return [];
    const schema = (types[field.type] ?? valueSchema(field, v2)).nullish().catch(undefined);
    const at = (path: string | undefined) => (path === undefined ? undefined : schema.parse(valueAt(body, path)));
    const [found, other] = [at(v2.path), at(v2.otherPath)];
    return found == null && other == null ? [] : [[name, settingOf(field, v2, found, other)] as const];
  });
  return Object.fromEntries(settings);
}

function valueAt(body: unknown, path: string): unknown {
  const step = (part: unknown, key: string) =>
    typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined;
  return path.split(".").reduce(step, body);
}

/**
 * Returns the settings that a change would reset, because it sends them as part of a whole or of a
 * map that the response did not show.
 */
export function resetInV2(table: FieldTable, before: ShownRecord, changes: object): string[] {
  const { unshown = [] } = before;
  const isNeeded = (name: string) => {
    const value = Object.entries(changes).find(([each]) => each === name)?.[1];
    return table[name]?.type === "env" ? value != null : value === undefined;
  };
  const given = Object.fromEntries(Object.entries(changes).filter(([name]) => table[name]?.type !== "env"));
  const sent = [...changedInV2(table, before, given), ...("env" in changes ? ["env"] : [])];
  return sent.filter((name) => unshown.includes(name) && isNeeded(name));
}

/** Returns the settings of a record that REST v2 does not show. */
export function hiddenInV2(table: FieldTable, record: object): string[] {
  const isHidden = (field: AnyField) => {
    const v2 = v2Of(field);
    return !v2 || v2.isHidden || pathOf(field, v2, { ...record }) === undefined;
  };
  return shownFields(table).flatMap(([name, field]) => (isHidden(field) ? [name] : []));
}

/**
 * Returns the path of a field in the body, given these settings, or `undefined` if the field cannot
 * be sent together with them.
 */
function pathOf({ lackedBy }: AnyField, v2: V2Field<unknown>, settings: Settings): string | undefined {
  if (lackedBy?.(settings)) return undefined;
  return v2.pathWith ? v2.pathWith(settings) : v2.path;
}

/** Returns the body that sets these fields. */
export function v2Body(
  table: FieldTable,
  settings: object,
  fields: readonly string[] = Object.keys(table),
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const all: Settings = { ...settings };
  for (const name of fields) {
    const field = table[name];
    const v2 = field && v2Of(field);
    const path = v2 && pathOf(field, v2, all);
    if (path === undefined || all[name] === undefined) continue;
    const parts = v2?.write?.(all[name]) ?? { [path]: written(all[name], field?.isList || v2?.isList) };
    for (const [place, value] of Object.entries(parts)) putAt(body, place, value);
  }
  return body;
}

function written(value: unknown, isList: boolean | undefined): unknown {
  if (!isList) return value;
  const parts = String(value).split(",");
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function putAt(body: Record<string, unknown>, path: string, value: unknown): void {
  if (value === undefined) return;
  const [head = "", ...rest] = path.split(".");
  if (rest.length === 0) body[head] = value;
  else {
    const part = { ...z.record(z.string(), z.unknown()).safeParse(body[head]).data };
    putAt(part, rest.join("."), value);
    body[head] = part;
  }
}

/**
 * Returns the fields that a change must send: the fields that differ or that the response did not
 * show, and the other fields of any object that is sent as a whole.
 */
export function changedInV2(table: FieldTable, before: ShownRecord, changes: object): string[] {
  const { unshown = [] } = before;
  const [was, wanted]: Settings[] = [{ ...before }, { ...changes }];
  const after = { ...was, ...wanted };
  const differs = ([name, field]: [string, AnyField]) => {
    const v2 = v2Of(field);
    if (!v2 || wanted?.[name] === undefined) return false;
    const isOpen = unshown.includes(name) || pathOf(field, v2, was ?? {}) === undefined;
    return isOpen || !isDeepStrictEqual(was?.[name], after[name]);
  };
  const wholeOf = (field: AnyField) => {
    const v2 = v2Of(field);
    return v2?.isPartOfWhole ? v2.path.split(".")[0] : undefined;
  };
  const wholes = new Set(Object.entries(table).flatMap((row) => (differs(row) && wholeOf(row[1])) || []));
  const isSent = (row: [string, AnyField]) => differs(row) || wholes.has(wholeOf(row[1]) ?? "");
  return Object.entries(table).flatMap((row) => (isSent(row) ? [row[0]] : []));
}
