/**
 * The shape of a JSON value, using the parts of JSON Schema that the facts need. Objects reject
 * unknown properties.
 */
export interface Shape {
  readonly type?: "string" | "integer" | "number" | "boolean" | "array" | "object";
  /** `true` to also accept `null`. */
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly minProperties?: number;
  /** A regular expression that a string must match. */
  readonly pattern?: string;
  /** The shape of the elements of an array. */
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  /** The shape of a map's values. Its keys can be anything. */
  readonly values?: Shape;
  /** The value must match at least one of these shapes. */
  readonly oneOf?: readonly Shape[];
  /** Properties that require other properties. */
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
}

export const TEXT: Shape = { type: "string" };
/** A string that is not empty. */
export const NAME: Shape = { type: "string", minLength: 1 };
export const FLAG: Shape = { type: "boolean" };
export const TEXTS: Shape = { type: "array", items: TEXT };
export const CUDA_VERSION: Shape = { type: "string", pattern: "^\\d+\\.\\d+$" };
export const CUDA_VERSIONS: Shape = { type: "array", items: CUDA_VERSION };

type Properties = Readonly<Record<string, unknown>>;

/** Returns a value's problems in the service's wording: `$.gpu: missing property 'pools'`. */
export function problemsOf(shape: Shape, value: unknown, path = "$"): string[] {
  if (value === null && shape.nullable) return [];
  if (shape.oneOf) return shape.oneOf.some((one) => problemsOf(one, value).length === 0) ? [] : [`${path}: no variant`];
  if (shape.type !== undefined && !hasType(shape.type, value)) return [`${path}: must be of type ${shape.type}`];
  if (typeof value === "string") return problemsOfText(shape, value).map((problem) => `${path}: ${problem}`);
  if (typeof value === "number") return problemsOfNumber(shape, value).map((problem) => `${path}: ${problem}`);
  if (Array.isArray(value)) {
    const { items, minItems = 0 } = shape;
    if (value.length < minItems) return [`${path}: needs at least ${minItems} items`];
    return items ? value.flatMap((item, index) => problemsOf(items, item, `${path}[${index}]`)) : [];
  }
  return typeof value === "object" && value !== null ? problemsOfObject(shape, value as Properties, path) : [];
}

function hasType(type: Shape["type"], value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function problemsOfText({ enum: words, minLength = 0, pattern }: Shape, value: string): string[] {
  if (words && !words.includes(value)) return [`must be one of ${words.join(", ")}`];
  if (value.length < minLength) return [`needs at least ${minLength} characters`];
  return pattern !== undefined && !new RegExp(pattern).test(value) ? [`must match ${pattern}`] : [];
}

function problemsOfNumber({ minimum = -Infinity, maximum = Infinity }: Shape, value: number): string[] {
  if (value < minimum) return [`must be at least ${minimum}`];
  return value > maximum ? [`must be at most ${maximum}`] : [];
}

function problemsOfObject(
  { properties = {}, required = [], values, dependentRequired = {}, minProperties = 0 }: Shape,
  value: Properties,
  path: string,
): string[] {
  if (values) return Object.entries(value).flatMap(([name, each]) => problemsOf(values, each, `${path}.${name}`));
  const given = Object.keys(value);
  const needed = [...required, ...given.flatMap((name) => dependentRequired[name] ?? [])];
  const missing = [...new Set(needed)].filter((name) => value[name] === undefined);
  const unknown = given.filter((name) => !Object.hasOwn(properties, name));
  return [
    ...(given.length < minProperties ? [`${path}: needs at least ${minProperties} properties`] : []),
    ...missing.map((name) => `${path}: missing property '${name}'`),
    ...unknown.map((name) => `${path}: additional properties '${name}' not allowed`),
    ...given.flatMap((name) => problemsOf(properties[name] ?? {}, value[name], `${path}.${name}`)),
  ];
}
