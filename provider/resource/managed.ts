import { isDeepStrictEqual } from "node:util";
import type { FieldTable } from "../../sdk/records/fields";
import { type Properties, pick } from "../properties";

/**
 * Returns the fields of the checked inputs that differ from the resource's last known outputs. A field that the inputs do
 * not contain is not managed and never differs.
 */
export function changedIn(table: FieldTable, outputs: Properties, inputs: Properties): string[] {
  return Object.keys(table).filter(
    (field) =>
      field in inputs &&
      !isDeepStrictEqual(normalForm(table, field, inputs[field]), normalForm(table, field, outputs[field])),
  );
}

function normalForm(table: FieldTable, field: string, value: unknown): unknown {
  const normalize = table[field]?.normalize;
  return normalize && typeof value === "string" ? normalize(value) : value;
}

/** Returns the fields of a table that the inputs contain: those that the program manages. */
export function managedIn(table: FieldTable, inputs: Properties): Properties {
  return pick(inputs, (name) => Object.hasOwn(table, name));
}

/**
 * Returns the fields that the program manages now, and did not when the outputs were recorded. Their recorded values may
 * be out of date: nothing updates a field that is not managed.
 */
export function newlyManagedIn(table: FieldTable, outputs: Properties, inputs: Properties): string[] {
  if (typeof outputs.__inputs !== "string") return [];
  const recorded = fieldsInRecord(table, outputs.__inputs);
  return Object.keys(table).filter((field) => field in inputs && !recorded.includes(field));
}

/** Returns `true` if the program manages other fields than the outputs record. A refresh reads the recorded ones. */
export function managesOthersIn(table: FieldTable, outputs: Properties, inputs: Properties): boolean {
  return typeof outputs.__inputs === "string" && outputs.__inputs !== managedRecord(table, inputs);
}

/** Returns the record of the managed fields: a hexadecimal number with a bit for each. State holds it, so bits never move. */
export function managedRecord(table: FieldTable, inputs: Properties): string {
  return Object.keys(table)
    .reduce((bits, field, index) => (field in inputs ? bits | (1 << index) : bits), 0)
    .toString(16);
}

/** Returns the fields that a record names. */
export function fieldsInRecord(table: FieldTable, record: unknown): string[] {
  const bits = Number.parseInt(String(record), 16);
  return Object.keys(table).filter((_field, index) => bits & (1 << index));
}
