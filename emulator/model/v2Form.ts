import type { FieldTable, Input, Stored, V2Form } from "./fieldTable";
import type { Shape } from "./shapes";

type Properties = Readonly<Record<string, unknown>>;

/** Returns the form of a field that REST v2 stores in one property with the same values. */
export function property<Value>(path: string, shape: Shape, initial?: Value): V2Form<Value, Value> {
  const form = convertedProperty<Value, Value>(
    path,
    shape,
    (sent) => sent,
    (value) => value,
  );
  return { ...form, initial };
}

/** Returns the form of a field that REST v2 stores in one property with different values. */
export function convertedProperty<Value, Sent>(
  path: string,
  shape: Shape,
  read: (sent: Sent) => Value,
  show: (value: Value) => unknown,
): V2Form<Value, Value> {
  return {
    properties: { [path]: shape },
    read(at) {
      const sent = at<Sent>(path);
      return sent === undefined ? undefined : read(sent);
    },
    show: (value) => ({ [path]: show(value) }),
  };
}

/** Returns the form of a field that REST v2 accepts, but never shows. */
export function writeOnlyProperty<Value>(path: string, shape: Shape): V2Form<Value, Value> {
  return { ...property<Value>(path, shape), show: undefined };
}

/** Returns the shapes of the properties that contain a table's fields. */
export function v2Properties(table: FieldTable): Readonly<Record<string, Shape>> {
  return shapesOf(formsOf(table));
}

/** Returns the names of the top-level properties that show the fields of a table. */
export function v2Shown(table: FieldTable): string[] {
  return Object.keys(shapesOf(formsOf(table).filter(([, { show }]) => show)));
}

function shapesOf(forms: readonly [string, V2Form<unknown, unknown>][]): Readonly<Record<string, Shape>> {
  const shapes: Record<string, Shape> = {};
  for (const [path, shape] of forms.flatMap(([, { properties }]) => Object.entries(properties))) {
    const [first, second] = segmentsOf(path);
    if (second === undefined) shapes[first] = shape;
    else shapes[first] = { type: "object", properties: { ...shapes[first]?.properties, [second]: shape } };
  }
  return shapes;
}

/**
 * Returns the input for a new record. The body's shape must have been validated, so that nothing is
 * missing.
 */
export function createdByBody<T extends FieldTable>(table: T, body: object): Input<T> {
  const initial = formsOf(table).filter(([, form]) => form.initial !== undefined);
  const defaults = Object.fromEntries(initial.map(([name, form]) => [name, form.initial]));
  return { ...defaults, ...changedByBody(table, body) } as Input<T>;
}

/** Returns the fields that a body sets. The body's shape must have been validated. */
export function changedByBody<T extends FieldTable>(table: T, body: object): Partial<Input<T>> {
  const read = formsOf(table).map(([name, form]) => [name, form.read(<V>(path: string) => valueAt<V>(body, path))]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as Partial<Input<T>>;
}

/** Returns a record's fields in the form of REST v2. */
export function shownByV2<T extends FieldTable>(table: T, record: Stored<T>): Record<string, unknown> {
  const values: Properties = record;
  const shown: Record<string, unknown> = {};
  for (const [name, form] of formsOf(table)) {
    for (const [path, value] of Object.entries(form.show?.(values[name], values) ?? {})) {
      const [first, second] = segmentsOf(path);
      if (value === undefined) continue;
      if (second === undefined) shown[first] = value;
      else shown[first] = { ...(shown[first] as object | undefined), [second]: value };
    }
  }
  return shown;
}

function formsOf(table: FieldTable): [string, V2Form<unknown, unknown>][] {
  const fields = Object.entries(table) as [string, { readonly v2?: V2Form<unknown, unknown> }][];
  return fields.flatMap(([name, { v2 }]) => (v2 ? [[name, v2]] : []));
}

function valueAt<T>(body: object, path: string): T | undefined {
  const [first, second] = segmentsOf(path);
  const outer = (body as Properties)[first];
  return (second === undefined ? outer : (outer as Properties | undefined)?.[second]) as T | undefined;
}

/** A path has one or two segments. */
function segmentsOf(path: string): [string, string?] {
  const [first = "", second] = path.split(".");
  return second === undefined ? [first] : [first, second];
}
