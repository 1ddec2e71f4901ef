import { isDeepStrictEqual } from "node:util";
import type { FieldTable } from "../../sdk/records/fields";
import { type Properties, pick } from "../engine/properties";

/*
 * The outputs record which fields the program manages, because a refresh gets only the outputs.
 * `__managed` is a sorted comma-separated list.
 */

/**
 * Returns the fields of the checked inputs that differ from the resource's last known outputs. A
 * field that is not in the inputs is not managed, so it never counts as different.
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

/** Returns the properties that are fields of the table. */
export function fieldsIn(table: FieldTable, properties: object): Properties {
  return pick({ ...properties }, (name) => Object.hasOwn(table, name));
}

/**
 * Returns the fields that the program manages now but did not manage when the outputs were
 * recorded. Their recorded values may be out of date, because nothing updates a field that is not
 * managed.
 */
export function newlyManagedIn(table: FieldTable, outputs: Properties, inputs: Properties): string[] {
  const recorded = managedFields(table, outputs);
  return recorded ? namesIn(table, inputs).filter((field) => !recorded.includes(field)) : [];
}

/**
 * Returns `true` if the program manages different fields than the outputs record. A refresh reads
 * only the fields that the outputs record.
 */
export function managesOthersIn(table: FieldTable, outputs: Properties, inputs: Properties): boolean {
  const recorded = managedFields(table, outputs);
  return recorded !== undefined && !isDeepStrictEqual(recorded, namesIn(table, inputs));
}

/** Returns the output that records which fields of a table the inputs contain. */
export function managedRecord(table: FieldTable, inputs: Properties): { readonly __managed: string } {
  return { __managed: namesIn(table, inputs).join() };
}

/**
 * Returns the sorted names of the fields that the outputs record as managed, or `undefined` if the
 * outputs have no such record.
 */
export function managedFields(table: FieldTable, { __managed }: Properties): string[] | undefined {
  if (typeof __managed !== "string") return undefined;
  return __managed.split(",").filter((field) => Object.hasOwn(table, field));
}

function namesIn(table: FieldTable, inputs: Properties): string[] {
  return Object.keys(fieldsIn(table, inputs)).sort();
}
