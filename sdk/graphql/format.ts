import * as z from "zod";
import type { ServiceName } from "../contract/limits";
import {
  type AnyField,
  type FieldTable,
  isEmptied,
  type OutputOnlyField,
  selectionOfField,
  unsetValue,
  unshownIn,
  unshownProperty,
} from "../records/fields";
import { EnumValue, type Literal } from "./transport";

/**
 * Returns the fields of a record as a GraphQL selection. `fields` contains the fields that the
 * service supports.
 */
export function selectionOf(
  table: FieldTable,
  outputOnly: Readonly<Record<string, OutputOnlyField>>,
  fields: readonly string[] = Object.keys(table),
): string {
  const settable = fields.map((name) => {
    const field = table[name];
    return field ? selectionOfField(name, field) : name;
  });
  return [...Object.values(outputOnly).map(({ selection }) => selection), ...settable]
    .filter((selection) => selection !== "")
    .join(" ");
}

/**
 * Returns the schema of a record in a response. Unknown fields that the service adds are kept.
 * `types` contains the schemas of types whose values are neither strings nor numbers, and `fields`
 * the fields that the request asks for.
 */
export function recordSchema<T>(
  table: FieldTable,
  outputOnly: Readonly<Record<string, OutputOnlyField>>,
  types: Readonly<Record<string, z.ZodType>> = {},
  fields: readonly string[] = Object.keys(table),
): z.ZodType<T> {
  const settable = Object.entries(table).filter(([, { selection }]) => selection !== "");
  const schema = z.looseObject({
    ...Object.fromEntries(settable.map(([name, field]) => [name, types[field.type] ?? settingSchema(field)])),
    ...Object.fromEntries(Object.entries(outputOnly).map(([field, { schema }]) => [field, schema])),
  });
  const asked = new Set(settable.flatMap(([name]) => (fields.includes(name) ? [name] : [])));
  const noteUnshown = (response: unknown) => {
    if (typeof response !== "object" || response === null) return response;
    const body: Readonly<Record<string, unknown>> = { ...response };
    const unshown = unshownIn(table, body, (name, field) => !asked.has(name) || isShown(field, body[name]));
    return { ...body, ...unshownProperty(unshown) };
  };
  return z.preprocess(noteUnshown, schema) as unknown as z.ZodType<T>;
}

function isShown(field: AnyField, value: unknown): boolean {
  return value !== undefined && value !== null && !isEmptied(field, value);
}

/** Returns the settings that a response shows. A value of an unexpected type counts as missing. */
export function settingsIn(table: FieldTable, body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = Object.entries(table).filter(([name]) => body[name] != null);
  return Object.fromEntries(
    shown.map(([name, field]) => [name, settingSchema(field).catch(undefined).parse(body[name])]),
  );
}

function settingSchema(field: AnyField): z.ZodType {
  const { type, isInEveryRecord, graphqlList, normalize = (same) => same } = field;
  if (graphqlList !== undefined) {
    return listSchema(graphqlList).transform((values) => normalize(values?.join(",") ?? unsetValue(field)));
  }
  const schema: z.ZodType = type.endsWith("number") ? z.number() : z.string();
  if (isInEveryRecord) return schema.transform(normalize);
  return schema.nullish().transform((value) => normalize(value ?? unsetValue(field) ?? ""));
}

function listSchema(property: true | string) {
  if (property === true) return z.array(z.string()).nullish();
  return z.array(z.looseObject({ [property]: z.string() }).transform((each) => String(each[property]))).nullish();
}

/** Returns settable fields as the input of a mutation. */
export function toInput(
  table: FieldTable,
  settings: Readonly<Record<string, unknown>>,
  service?: ServiceName,
): Record<string, Literal | undefined> {
  const given = Object.entries(table).filter(([name]) => settings[name] !== undefined);
  return Object.fromEntries(
    given.map(([name, { toService, isGraphqlEnum, graphqlList }]) => {
      const value = (toService ? toService(settings[name], service) : settings[name]) as Literal;
      if (graphqlList !== undefined) return [name, listLiteral(String(value), graphqlList)];
      return [name, isGraphqlEnum && typeof value === "string" ? new EnumValue(value) : value];
    }),
  );
}

function listLiteral(commaList: string, property: true | string): Literal {
  const elements = commaList.split(",").filter((each) => each !== "");
  return property === true ? elements : elements.map((each) => ({ [property]: each }));
}
