import { z } from "zod";
import { type Field, fieldsAfter, type Stored } from "./fieldTable";
import { type Shape, TEXT, TEXTS } from "./shapes";
import { convertedProperty } from "./v2Form";

/** An environment variable of a template. */
export interface EnvironmentVariable {
  /** Name of the variable. */
  readonly key: string;
  /** Value of the variable. */
  readonly value: string;
}

/**
 * A field of a template that its workers run with. An endpoint with its own container has it too.
 */
export interface ContainerField<Value, Given, Own> extends Field<Value, Given> {
  /** The property of REST v2. It holds the value of a container. */
  readonly v2Name: string;
  /** Returns the value in a container. */
  readonly toContainer: (value: Value) => Own;
  /** Returns the value in a template. */
  readonly fromContainer: (own: Own) => Value;
}

/** Returns a field that GraphQL requires. A seed may leave it out. */
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
 * Returns a field that a save resets if it leaves the field out (assumed: resetting shows which
 * fields a client forgets).
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

/** A seed may also have the variables as a map. */
const seededVariables = z.preprocess((given) => {
  const isMap = typeof given === "object" && given !== null && !Array.isArray(given);
  return isMap ? Object.entries(given).map(([key, value]) => ({ key, value })) : given;
}, variables);

/**
 * The fields of a template that reach its workers. A change to one of them is a new release of
 * every endpoint with the template. An endpoint that REST v2 gave its own container also has them.
 */
export const CONTAINER_FIELDS = {
  /** Image with its tag. */
  imageName: inContainer("image", TEXT, reset("String", z.string(), "")),
  /**
   * Start command: a command line, JSON with `cmd` and `entrypoint`, or `""` for that of the image.
   */
  dockerArgs: inContainer("args", TEXT, required("String!", z.string(), "")),
  /** Size of the container disk in GB, whole. */
  containerDiskInGb: inContainer("disk", { type: "integer", minimum: 1 }, required("Int!", z.int(), 20)),
  /** Environment variables: in a template a list, as they were sent. */
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
  /** Exposed ports, each `<port>/http` or `<port>/tcp`: in a template a comma-separated list. */
  ports: convertedInContainer(
    "ports",
    TEXTS,
    reset("String", z.string(), ""),
    (list): readonly string[] => list.split(",").filter((port) => port !== ""),
    (ports) => ports.join(","),
  ),
  /**
   * Id of the registry credential that pulls the image; `null` for none, which a client may also
   * send as `""`.
   */
  containerRegistryAuthId: inContainer(
    "registry",
    { ...TEXT, nullable: true },
    reset<string | null>("String", z.string().nullable(), null, { store: (given) => given || null }),
  ),
};

type Table = typeof CONTAINER_FIELDS;
type Own<F> = F extends ContainerField<infer _V, infer _G, infer O> ? O : never;

/**
 * The container of an endpoint that REST v2 gave its own. Changes to a template no longer reach it.
 */
export interface EndpointContainer extends Readonly<{ [K in keyof Table]: Own<Table[K]> }> {}

const rows = Object.entries(CONTAINER_FIELDS) as [
  string,
  Pick<ContainerField<unknown, unknown, unknown>, "v2Name" | "toContainer" | "fromContainer">,
][];

/** Returns the container of a template. */
export function containerOfTemplate(template: Stored<Table>): EndpointContainer {
  const values: Readonly<Record<string, unknown>> = template;
  return fromRows((name, { toContainer }) => toContainer(values[name])) as unknown as EndpointContainer;
}

/** Returns the fields of a template with a container. */
export function templateOfContainer(container: EndpointContainer): Stored<Table> {
  const values: Readonly<Record<string, unknown>> = { ...container };
  return fromRows((name, { fromContainer }) => fromContainer(values[name])) as unknown as Stored<Table>;
}

/** Returns the fields of a container that a body of REST v2 sets. */
export function containerOfBody(body: object): Partial<EndpointContainer> {
  const values: Readonly<Record<string, unknown>> = { ...body };
  return fromRows((_, { v2Name }) => values[v2Name]);
}

/** Returns a container as REST v2 shows it. */
export function shownContainer(container: EndpointContainer): object {
  const values: Readonly<Record<string, unknown>> = { ...container };
  return Object.fromEntries(rows.map(([name, { v2Name }]) => [v2Name, values[name]]));
}

/** The container of an endpoint for which no field is set. */
export const EMPTY_CONTAINER = containerOfTemplate(fieldsAfter(CONTAINER_FIELDS, undefined, {}, "contract"));

/** Returns `true` if the change of a template reaches the workers. */
export function reachesWorkers(before: Stored<Table>, after: Stored<Table>): boolean {
  return JSON.stringify(containerOfTemplate(before)) !== JSON.stringify(containerOfTemplate(after));
}

/** Returns an object with the value of each row. One that is `undefined` is left out. */
function fromRows(read: (name: string, row: (typeof rows)[number][1]) => unknown): object {
  return Object.fromEntries(
    rows.map(([name, row]) => [name, read(name, row)]).filter(([, value]) => value !== undefined),
  );
}
