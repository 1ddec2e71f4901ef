import { z } from "zod";
import { FLASH_BOOT_NAME_SUFFIX, SAVE_ENDPOINT_DEFAULTS, UNSET_ENDPOINT_FIELDS } from "../../sdk/contract/limits";
import {
  type Field,
  type OptionalInput,
  patchSchemaOf,
  type RequiredInput,
  requiredString,
  type Stored,
  seedSchemaOf,
  storedSchemasOf,
} from "./fieldTable";
import type { ObservedFields } from "./observedFields";

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
  name: requiredString("String!", (given, _, profile) => (profile === "observed" ? withoutSuffix(given) : given)),
  /** GPU tiers in priority order, then exclusions, as a comma list. */
  gpuIds: requiredString("String!"),
  /** Id of the serverless template. */
  templateId: requiredString("String!"),
  /** Seconds before an idle worker shuts down under `QUEUE_DELAY`, ≥ 0; without effect under `REQUEST_COUNT`. */
  idleTimeout: reset("Int", SAVE_ENDPOINT_DEFAULTS.idleTimeout),
  /** Target of the scaler, > 0: seconds of delay for `QUEUE_DELAY`, requests per worker for `REQUEST_COUNT`. */
  scalerValue: {
    ...reset("Float", SAVE_ENDPOINT_DEFAULTS.scalerValue),
    observed: { output: "Int!", input: `Int! = ${SAVE_ENDPOINT_DEFAULTS.scalerValue}` },
  },
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
    z.enum(["FLASHBOOT", "OFF", "PRIORITY_FLASHBOOT"]),
    z.literal("FLASHBOOT").nullable(),
    (given, current = null, profile) => {
      // The contract has no value that clears FLASHBOOT, so `null` does. The observed service has OFF and ignores `null`.
      if (given === "OFF" || (given === null && profile === "contract")) return null;
      return given === "PRIORITY_FLASHBOOT" ? "FLASHBOOT" : (given ?? current);
    },
  ),
};

type Table = typeof ENDPOINT_FIELDS;

/** The fields of an endpoint that clients can set, as the service stores them. */
export interface EndpointFields extends Stored<Table> {}

/** The container of an endpoint that REST v2 gave one of its own. A template no longer reaches it. */
export interface EndpointContainer {
  /** The image with its tag. */
  readonly imageName: string;
  /** The environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The start command; empty for that of the image. */
  readonly dockerArgs: string;
  /** Size of the container disk in GB. */
  readonly containerDiskInGb: number;
  /** The exposed ports, each `<port>/http` or `<port>/tcp`. */
  readonly ports: readonly string[];
  /** Id of the registry credential that pulls the image, or `null`. */
  readonly containerRegistryAuthId: string | null;
}

/** A serverless endpoint as the service stores it (contract, Serverless endpoint). */
export interface EndpointRecord extends EndpointFields {
  /** Identifier, assigned when the endpoint was created. */
  readonly id: string;
  /** Time of creation, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Number of changes since then. A worker's pod shows it as `slsVersion`. */
  version: number;
  /** The fields that only the observed service has, if a client has set any. */
  observed?: ObservedFields;
  /** The container of its own, or `null` while it follows its template. */
  container?: EndpointContainer | null;
}

/** The `input` of `saveEndpoint`. */
export interface EndpointInput extends RequiredInput<Table>, OptionalInput<Table> {
  /** Identifier of the endpoint to change. Without it, an endpoint is created. */
  readonly id?: string | null;
}

/** An endpoint to create: the input of `saveEndpoint`, except that `id` is the id of the new endpoint. */
export interface EndpointSeed extends EndpointInput {
  /** Id of the new endpoint. @default random */
  readonly id?: string | null;
}

/** The schema of an endpoint record in a data file. */
export const endpointRecordSchema = z.looseObject({
  ...storedSchemasOf(ENDPOINT_FIELDS),
  id: z.string(),
  createdAt: z.number(),
  version: z.int().min(0),
});

/** The schema of an endpoint to create. */
export const endpointSeedSchema = seedSchemaOf<EndpointSeed>(ENDPOINT_FIELDS);
/** The schema of a change to an endpoint. */
export const endpointPatchSchema = patchSchemaOf(ENDPOINT_FIELDS);

function withoutSuffix(name: string): string {
  return name.endsWith(FLASH_BOOT_NAME_SUFFIX) ? name.slice(0, -FLASH_BOOT_NAME_SUFFIX.length) : name;
}
