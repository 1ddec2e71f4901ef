import { z } from "zod";
import { FLASH_BOOT_NAME_SUFFIX, SAVE_ENDPOINT_DEFAULTS, UNSET_ENDPOINT_FIELDS } from "../../sdk/contract/limits";
import type { Profile } from "./fidelity";

/** The declaration of one field that clients can set. */
interface Field<Value, Given> {
  /** The GraphQL type in the endpoint record. */
  readonly output: string;
  /** The GraphQL type in the input of `saveEndpoint`. A non-null type with a default refuses an explicit `null`. */
  readonly input: string;
  /** The schema of the field in seeds and in changes over HTTP. */
  readonly schema: z.ZodType<Given>;
  /** The schema of the stored value in a data file. */
  readonly stored: z.ZodType<Value>;
  /** Returns the value to store. `current` is `undefined` for a new endpoint. */
  readonly store: (given: Given, current: Value | undefined, profile: Profile) => Value;
  /** The only profile whose GraphQL schema has the field. @default both have it */
  readonly onlyIn?: Profile;
}

/** A string that every save must hold. */
function required(store: Field<string, string>["store"] = (given) => given): Field<string, string> {
  return { output: "String!", input: "String!", schema: z.string(), stored: z.string(), store };
}

/** A number that every save sets to the default if it is left out. */
function reset(
  type: "Int" | "Float",
  value: number,
  schema: z.ZodType<number> = z.number(),
  stored = schema,
): Field<number, number | undefined> {
  const store = (given: number | undefined) => given ?? value;
  return { output: `${type}!`, input: `${type}! = ${value}`, schema: schema.optional(), stored, store };
}

/** A field that keeps its value if a save leaves it out. `store` tells `undefined` from `null`. */
function kept<Value, Given>(
  output: string,
  schema: z.ZodType<Given>,
  stored: z.ZodType<Value>,
  store: Field<Value, Given | null | undefined>["store"],
): Field<Value, Given | null | undefined> {
  return { output, input: output.replace("!", ""), schema: schema.nullish(), stored, store };
}

const SCALER_TYPE = z.enum(["QUEUE_DELAY", "REQUEST_COUNT"]);

/** All fields that clients can set. Types, GraphQL schema, seeds, data file and `saveEndpoint` follow this table. */
export const ENDPOINT_FIELDS = {
  /** Name of the endpoint, not empty. */
  name: required((given, _, profile) => (profile === "observed" ? withoutSuffix(given) : given)),
  /** GPU tiers in priority order, then exclusions, as a comma list. */
  gpuIds: required(),
  /** Id of the serverless template. */
  templateId: required(),
  /** Seconds before an idle worker shuts down under `QUEUE_DELAY`, ≥ 0; without effect under `REQUEST_COUNT`. */
  idleTimeout: reset("Int", SAVE_ENDPOINT_DEFAULTS.idleTimeout),
  /** Target of the scaler, > 0: seconds of delay for `QUEUE_DELAY`, requests per worker for `REQUEST_COUNT`. */
  scalerValue: reset("Float", SAVE_ENDPOINT_DEFAULTS.scalerValue),
  /** Workers that always run, whole, ≥ 0. */
  workersMin: reset("Int", SAVE_ENDPOINT_DEFAULTS.workersMin, z.int(), z.int().min(0)),
  /** Workers that may run at once, whole, ≥ `workersMin`. */
  workersMax: reset("Int", SAVE_ENDPOINT_DEFAULTS.workersMax, z.int(), z.int().min(0)),
  /** Countries or data centers as a comma list; `""` and `null` for any region. */
  locations: kept("String", z.string(), z.string(), (given, current) => (given === undefined ? current : given) ?? ""),
  /** Id of the network volume that the workers mount; `""` and `null` for none. */
  networkVolumeId: kept(
    "String",
    z.string(),
    z.string().nullable(),
    (given, current) => (given === undefined ? current : given) || null,
  ),
  /** `QUEUE_DELAY` or `REQUEST_COUNT`: how the number of workers follows the load. */
  scalerType: kept(
    "String!",
    z.string(),
    SCALER_TYPE,
    // A word that is neither is refused before it is stored.
    (given, current) => (given ?? current ?? UNSET_ENDPOINT_FIELDS.scalerType) as z.infer<typeof SCALER_TYPE>,
  ),
  /** `FLASHBOOT` for faster cold starts; `OFF` and `null` for none. */
  flashBootType: kept(
    "FlashBootType",
    z.enum(["FLASHBOOT", "OFF"]),
    z.literal("FLASHBOOT").nullable(),
    (given, current = null, profile) => {
      // The contract has no value that clears FLASHBOOT, so `null` does. The observed service has OFF and ignores `null`.
      if (given === "OFF" || (given === null && profile === "contract")) return null;
      return given ?? current;
    },
  ),
};

type Table = typeof ENDPOINT_FIELDS;
type Value<F> = F extends Field<infer V, infer _> ? V : never;
type Given<F> = F extends Field<infer _, infer G> ? G : never;
type RequiredName = { [K in keyof Table]: undefined extends Given<Table[K]> ? never : K }[keyof Table];

/** The fields of an endpoint that clients can set, as the service stores them. */
export interface EndpointFields extends Stored {}

type Stored = { -readonly [K in keyof Table]: Value<Table[K]> };

/** A serverless endpoint as the service stores it (contract, Serverless endpoint). */
export interface EndpointRecord extends EndpointFields {
  /** Identifier, assigned when the endpoint was created. */
  readonly id: string;
  /** Time of creation, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Number of changes since then. A worker's pod shows it as `slsVersion`. */
  version: number;
}

type RequiredInput = { readonly [K in keyof Pick<Table, RequiredName>]: Given<Table[K]> };
type OptionalInput = { readonly [K in keyof Omit<Table, RequiredName>]?: Given<Table[K]> };

/** The `input` of `saveEndpoint`. */
export interface EndpointInput extends RequiredInput, OptionalInput {
  /** Identifier of the endpoint to change. Without it, an endpoint is created. */
  readonly id?: string | null;
}

/** An endpoint to create: the input of `saveEndpoint`, except that `id` is the id of the new endpoint. */
export interface EndpointSeed extends EndpointInput {
  /** Id of the new endpoint. @default random */
  readonly id?: string | null;
}

const entries = Object.entries(ENDPOINT_FIELDS) as unknown as [keyof EndpointFields, Field<unknown, unknown>][];

/** Returns the fields that an endpoint has after `input` was saved. `current` is `undefined` for a new endpoint. */
export function fieldsAfter(
  current: EndpointRecord | undefined,
  input: EndpointInput,
  profile: Profile,
): EndpointFields {
  const values = entries.map(([name, { store }]) => [name, store(input[name], current?.[name], profile)]);
  return Object.fromEntries(values) as EndpointFields;
}

/** Returns the declarations of all fields for the GraphQL schema: of the record, or of the input of `saveEndpoint`. */
export function graphqlFields(side: "output" | "input", profile: Profile): string {
  const shown = entries.filter(([, { onlyIn = profile }]) => onlyIn === profile);
  return shown.map(([name, field]) => `${name}: ${field[side]}`).join(" ");
}

/** The schema of an endpoint record in a data file. */
export const endpointRecordSchema = z.looseObject({
  ...Object.fromEntries(entries.map(([name, { stored }]) => [name, stored])),
  id: z.string(),
  createdAt: z.number(),
  version: z.int().min(0),
});

const schemas = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema]));

/** The schema of an endpoint to create. */
export const endpointSeedSchema = z.strictObject({
  id: z.string().min(1).optional(),
  ...schemas,
}) as z.ZodType as z.ZodType<EndpointSeed>;
/** The schema of a change to an endpoint. */
export const endpointPatchSchema = z.strictObject(schemas).partial() as z.ZodType as z.ZodType<Partial<EndpointFields>>;

function withoutSuffix(name: string): string {
  return name.endsWith(FLASH_BOOT_NAME_SUFFIX) ? name.slice(0, -FLASH_BOOT_NAME_SUFFIX.length) : name;
}
