import { z } from "zod";
import { type Field, fieldsAfter, type Stored } from "./fieldTable";
import { type Shape, TEXT, TEXTS } from "./shapes";
import { convertedProperty } from "./v2Form";

/** An environment variable of a template. */
export interface EnvironmentVariable {
  /** The name of the variable. */
  readonly key: string;
  /** The value of the variable. */
  readonly value: string;
}

/**
 * A template field that affects workers. An endpoint with its own container has these fields too.
 */
export interface ContainerField<Value, Given, Own> extends Field<Value, Given> {
  /** The REST v2 property with this value of a container. */
  readonly v2Name: string;
  /** Converts a template's value to a container's value. */
  readonly toContainer: (value: Value) => Own;
  /** Converts a container's value to a template's value. */
  readonly fromContainer: (own: Own) => Value;
}

/** Declares a field that GraphQL requires. A seed may omit it. */
export function required<Value>(type: string, schema: z.ZodType<Value>, value: Value): Field<Value, Value | undefined> {
  return {
    output: type.replaceAll("Input", "").replace(/!$/, ""),
    input: type,
    schema: schema.optional(),
    stored: schema,
    store: (given) => given ?? value,
  };
}

type Optional<Value> = Field<Value, Value | null | undefined>;

/**
 * Declares a field that a save resets if it is omitted (assumed: resetting it reveals which fields
 * a client forgets).
 */
export function reset<Value>(
  type: string,
  schema: z.ZodType<Value>,
  value: Value,
  more: Partial<Optional<Value>> = {},
): Optional<Value> {
  return {
    output: type.replace("Input", ""),
    input: type,
    schema: schema.nullish(),
    stored: schema,
    store: (given) => given ?? value,
    ...more,
  };
}

function inContainer<Value extends Given, Given>(v2Name: string, shape: Shape, field: Field<Value, Given>) {
  const same = (value: Value) => value;
  return convertedInContainer(v2Name, shape, field, same, same);
}

function convertedInContainer<Value extends Given, Given, Own>(
  v2Name: string,
  shape: Shape,
  field: Field<Value, Given>,
  toContainer: (value: Value) => Own,
  fromContainer: (own: Own) => Value,
): ContainerField<Value, Given, Own> {
  const v2 = convertedProperty(v2Name, shape, fromContainer, toContainer);
  return { ...field, v2Name, toContainer, fromContainer, v2 };
}

const variables = z.array(z.strictObject({ key: z.string().min(1), value: z.string() }));

/** A seed may also contain the variables as a map. */
const seededVariables = z.preprocess((given) => {
  const isMap = typeof given === "object" && given !== null && !Array.isArray(given);
  return isMap ? Object.entries(given).map(([key, value]) => ({ key, value })) : given;
}, variables);

/**
 * The template fields that affect workers. Changing one creates a release of every endpoint that
 * uses the template. An endpoint whose container was set over REST v2 has these fields as well.
 */
export const CONTAINER_FIELDS = {
  /** The image, with its tag. */
  imageName: inContainer("image", TEXT, reset("String", z.string(), "")),
  /**
   * The start command: a command line, JSON with `cmd` and `entrypoint`, or `""` to use the image's
   * command.
   */
  dockerArgs: inContainer("args", TEXT, required("String!", z.string(), "")),
  /** The words of the command, in exec form; `[]` to use the image's. REST v2 only. */
  cmd: inContainer("cmd", TEXTS, reset<readonly string[]>("", z.array(z.string()), [])),
  /** The words of the entry point, in exec form; `[]` to use the image's. REST v2 only. */
  entrypoint: inContainer("entrypoint", TEXTS, reset<readonly string[]>("", z.array(z.string()), [])),
  /** The size of the container disk in GB (integer). */
  containerDiskInGb: inContainer("disk", { type: "integer", minimum: 1 }, required("Int!", z.int(), 20)),
  /** Environment variables. A template stores them as a list, as they were sent. */
  env: convertedInContainer(
    "env",
    { type: "object", values: TEXT },
    {
      ...required<readonly EnvironmentVariable[]>("[EnvironmentVariableInput]!", variables, []),
      schema: seededVariables.optional(),
    },
    (list): Readonly<Record<string, string>> => Object.fromEntries(list.map(({ key, value }) => [key, value])),
    (map) => Object.entries(map).map(([key, value]) => ({ key, value })),
  ),
  /**
   * Exposed ports, each as `<port>/http` or `<port>/tcp`. A template stores them as a
   * comma-separated list.
   */
  ports: convertedInContainer(
    "ports",
    TEXTS,
    reset("String", z.string(), ""),
    (list): readonly string[] => list.split(",").filter((port) => port !== ""),
    (ports) => ports.join(","),
  ),
  /**
   * The id of the registry credential for pulling the image. `null` means none; clients may also
   * send `""`.
   */
  containerRegistryAuthId: inContainer(
    "registry",
    { ...TEXT, nullable: true },
    reset<string | null>("String", z.string().nullable(), null, { store: (given) => given || null }),
  ),
};

type Table = typeof CONTAINER_FIELDS;
type Own<F> = F extends ContainerField<infer _V, infer _G, infer O> ? O : never;

/** An endpoint's own container, set over REST v2. Changes to a template no longer affect it. */
export interface EndpointContainer extends Readonly<{ [K in keyof Table]: Own<Table[K]> }> {}

const rows = Object.entries(CONTAINER_FIELDS) as [
  string,
  Pick<ContainerField<unknown, unknown, unknown>, "v2Name" | "toContainer" | "fromContainer">,
][];

/** Returns a template's container. */
export function containerOfTemplate(template: Stored<Table>): EndpointContainer {
  const values: Readonly<Record<string, unknown>> = template;
  return fromRows((name, { toContainer }) => toContainer(values[name])) as unknown as EndpointContainer;
}

/** Returns the template fields for a container. */
export function templateOfContainer(container: EndpointContainer): Stored<Table> {
  const values: Readonly<Record<string, unknown>> = { ...container };
  return fromRows((name, { fromContainer }) => fromContainer(values[name])) as unknown as Stored<Table>;
}

/** Returns the container fields that a REST v2 request body sets. */
export function containerOfBody(body: object): Partial<EndpointContainer> {
  const values: Readonly<Record<string, unknown>> = { ...body };
  return fromRows((_, { v2Name }) => values[v2Name]);
}

/** Returns a container in the form of REST v2. */
export function shownContainer(container: EndpointContainer): object {
  const values: Readonly<Record<string, unknown>> = { ...container };
  return Object.fromEntries(rows.map(([name, { v2Name }]) => [v2Name, values[name]]));
}

/** A container with no fields set. */
export const EMPTY_CONTAINER = containerOfTemplate(fieldsAfter(CONTAINER_FIELDS, undefined, {}, "contract"));

/** Returns `true` if a template change affects workers. */
export function reachesWorkers(before: Stored<Table>, after: Stored<Table>): boolean {
  return JSON.stringify(containerOfTemplate(before)) !== JSON.stringify(containerOfTemplate(after));
}

/** Returns an object with one value per row, omitting `undefined` values. */
function fromRows(read: (name: string, row: (typeof rows)[number][1]) => unknown): object {
  return Object.fromEntries(
    rows.map(([name, row]) => [name, read(name, row)]).filter(([, value]) => value !== undefined),
  );
}
