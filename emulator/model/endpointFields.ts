import { z } from "zod";
import { FLASH_BOOT_NAME_SUFFIX, SAVE_ENDPOINT_DEFAULTS, UNSET_ENDPOINT_FIELDS } from "../../sdk/contract/limits";
import type { EndpointContainer } from "./containerFields";
import { dataCentersOf } from "./dataCenters";
import type { V2Form } from "./fieldTable";
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
import { forGpus, OBSERVED_FIELDS, type VolumeReference } from "./observedFields";
import { NAME, type Shape, TEXT, TEXTS } from "./shapes";
import { convertedProperty, property, writeOnlyProperty } from "./v2Form";

/** Declares a number that every save resets to its default if omitted. */
function reset(
  type: "Int" | "Float",
  value: number,
  v2: V2Form<number, number>,
  schema: z.ZodType<number> = z.number(),
  stored = schema,
): Field<number, number | undefined> {
  const store = (given: number | undefined) => given ?? value;
  return { output: `${type}!`, input: `${type}! = ${value}`, schema: schema.optional(), stored, store, v2 };
}

/** Declares a field that a save keeps if omitted. `store` distinguishes `undefined` from `null`. */
function kept<Value, Given>(
  output: string,
  schema: z.ZodType<Given>,
  stored: z.ZodType<Value>,
  v2: V2Form<Value, Given | null>,
  store: Field<Value, Given | null | undefined>["store"],
): Field<Value, Given | null | undefined> {
  return { output, input: output.replace("!", ""), schema: schema.nullish(), stored, store, v2 };
}

const SCALER_TYPE = z.enum(["QUEUE_DELAY", "REQUEST_COUNT"]);
const FLASH_BOOT_TYPE = z.enum(["OFF", "FLASHBOOT", "PRIORITY_FLASHBOOT"]);

const COUNT: Shape = { type: "integer", minimum: 0 };

/** The scaler and its target value. */
const SCALING: Shape = {
  oneOf: [
    {
      type: "object",
      required: ["type", "queueDelay"],
      properties: {
        type: { type: "string", enum: ["QUEUE_DELAY"] },
        queueDelay: { type: "number", minimum: 0.5 },
      },
    },
    {
      type: "object",
      required: ["type", "requestCount"],
      properties: {
        type: { type: "string", enum: ["REQUEST_COUNT"] },
        requestCount: { type: "integer", minimum: 1 },
      },
    },
  ],
};

/** The fields in the contract. */
const CONTRACT_FIELDS = {
  /** The endpoint's name. Not empty. */
  name: requiredString("String!", property("name", NAME), (given, _, profile) =>
    profile === "observed" ? withoutSuffix(given) : given,
  ),
  /**
   * GPU pools in priority order, followed by exclusions, as a comma-separated list. REST v2 sends
   * and replaces both together.
   */
  gpuIds: {
    ...requiredString(
      "String!",
      forGpus({
        properties: {
          "gpu.pools": { type: "array", items: TEXT, minItems: 1 },
          "gpu.excludedTypes": { type: "array", items: { type: "string", pattern: "^[^-]" } },
        },
        read(at) {
          const excluded = (at<readonly string[]>("gpu.excludedTypes") ?? []).map((type) => `-${type}`);
          const pools = at<readonly string[]>("gpu.pools");
          return pools && [...pools, ...excluded].join(",");
        },
        show(gpuIds) {
          const { tiers, excluded } = gpuSelection(gpuIds);
          return { "gpu.pools": tiers, "gpu.excludedTypes": excluded };
        },
      }),
    ),
    observed: { output: "String", input: "String" },
  },
  /** The id of the serverless template. REST v2 copies its container and never shows the id. */
  templateId: {
    ...requiredString("String!", writeOnlyProperty("templateId", TEXT)),
    observed: { output: "String", input: "String" },
  },
  /**
   * Seconds before an idle worker shuts down with `QUEUE_DELAY`, ≥ 0. Has no effect with
   * `REQUEST_COUNT`.
   */
  idleTimeout: reset("Int", SAVE_ENDPOINT_DEFAULTS.idleTimeout, {
    ...property<number>("workers.idleTimeout", { type: "integer", minimum: 1, maximum: 3600 }),
    show: (idleTimeout, { scalerType, type }) =>
      scalerType === "REQUEST_COUNT" && type !== "LB" ? {} : { "workers.idleTimeout": idleTimeout },
  }),
  /**
   * The scaler's target, > 0: the delay in seconds for `QUEUE_DELAY`, or the requests per worker
   * for `REQUEST_COUNT`.
   */
  scalerValue: {
    ...reset("Float", SAVE_ENDPOINT_DEFAULTS.scalerValue, {
      properties: {},
      read: (at) => at<number>("scaling.queueDelay") ?? at<number>("scaling.requestCount"),
    }),
    observed: { output: "Int!", input: `Int! = ${SAVE_ENDPOINT_DEFAULTS.scalerValue}` },
  },
  /** The number of workers that always run (integer, ≥ 0). */
  workersMin: reset("Int", SAVE_ENDPOINT_DEFAULTS.workersMin, property("workers.min", COUNT), z.int(), z.int().min(0)),
  /** The maximum number of workers (integer, ≥ `workersMin`). */
  workersMax: reset("Int", SAVE_ENDPOINT_DEFAULTS.workersMax, property("workers.max", COUNT), z.int(), z.int().min(0)),
  /** Countries or data centers as a comma-separated list; `""` and `null` mean any region. */
  locations: kept(
    "String",
    z.string(),
    z.string(),
    convertedProperty("dataCenterIds", TEXTS, (ids: readonly string[]) => ids.join(","), dataCentersOf),
    (given, current) => (given === undefined ? current : given) ?? "",
  ),
  /**
   * The id of the network volume that workers mount; `""` and `null` mean none. REST v2 shows all
   * volumes in one list.
   */
  networkVolumeId: kept<string | null, string>(
    "String",
    z.string(),
    z.string().nullable(),
    {
      properties: { networkVolumes: TEXTS },
      read(at) {
        const ids = at<readonly string[]>("networkVolumes");
        return ids?.length === 1 ? ids[0] : ids && null;
      },
      show: (_, record) => ({ networkVolumes: volumesOf(record as unknown as Volumes) }),
    },
    (given, current) => (given === undefined ? current : given) || null,
  ),
  /** `QUEUE_DELAY` or `REQUEST_COUNT`: determines how the number of workers follows the load. */
  scalerType: kept(
    "String!",
    z.string(),
    SCALER_TYPE,
    {
      properties: { scaling: SCALING },
      read: (at) => at<string>("scaling.type"),
      show: (type, { scalerValue }) => ({
        scaling: type === "REQUEST_COUNT" ? { type, requestCount: scalerValue } : { type, queueDelay: scalerValue },
      }),
    },
    // Any other word is rejected before it is stored.
    (given, current) => (given ?? current ?? UNSET_ENDPOINT_FIELDS.scalerType) as z.infer<typeof SCALER_TYPE>,
  ),
  /**
   * `FLASHBOOT` or `PRIORITY_FLASHBOOT` for faster cold starts; `OFF` and `null` for none.
   */
  flashBootType: kept(
    "FlashBootType",
    FLASH_BOOT_TYPE,
    z.enum(["FLASHBOOT", "PRIORITY_FLASHBOOT"]).nullable(),
    {
      properties: { flashboot: { type: "string", enum: FLASH_BOOT_TYPE.options } },
      read: (at) => at<z.infer<typeof FLASH_BOOT_TYPE>>("flashboot"),
      show: (type) => ({ flashboot: type ?? "OFF" }),
    },
    (given, current = null, profile) => {
      // The contract has no value for clearing FLASHBOOT, so `null` clears it. The observed service
      // supports OFF and ignores `null`.
      if (given === "OFF" || (given === null && profile === "contract")) return null;
      return given ?? current;
    },
  ),
};

/**
 * All fields that clients can set. Types, GraphQL, REST v2, seeds and the data file are derived
 * from this table. `CONTAINER_FIELDS` contains the fields of an endpoint's own container.
 */
export const ENDPOINT_FIELDS = { ...CONTRACT_FIELDS, ...OBSERVED_FIELDS };

type Table = typeof ENDPOINT_FIELDS;

/** The endpoint fields that clients can set, as the service stores them. */
export interface EndpointFields extends Stored<Table> {}

/** A serverless endpoint as the service stores it (contract, Serverless endpoint). */
export interface EndpointRecord extends EndpointFields {
  /** The id, assigned at creation. */
  readonly id: string;
  /** When the endpoint was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** The number of changes since then. A worker's pod shows it as `slsVersion`. */
  version: number;
  /** `CPU` if the endpoint was created with `instanceIds`. Never changes. */
  readonly computeType: "CPU" | "GPU";
  /** The endpoint's own container, or `null` while it uses its template. */
  container?: EndpointContainer | null;
}

/** The `input` of `saveEndpoint`. */
export interface EndpointInput extends RequiredInput<Table>, OptionalInput<Table> {
  /** The id of the endpoint to change. Omit it to create an endpoint. */
  readonly id?: string | null;
}

/**
 * An endpoint to create. Same as the input of `saveEndpoint`, except that `id` is the new
 * endpoint's id.
 */
export interface EndpointSeed extends EndpointInput {
  /** The new endpoint's id. @default random */
  readonly id?: string | null;
}

/** The schema of an endpoint record in a data file. */
export const endpointRecordSchema = z.looseObject({
  ...storedSchemasOf(ENDPOINT_FIELDS),
  id: z.string(),
  createdAt: z.number(),
  computeType: z.enum(["CPU", "GPU"]).default("GPU"),
  version: z.int().min(0),
});

/** The schema of an endpoint to create. */
export const endpointSeedSchema = seedSchemaOf<EndpointSeed>(ENDPOINT_FIELDS);
/** The schema of a change to an endpoint. */
export const endpointPatchSchema = patchSchemaOf(ENDPOINT_FIELDS);

/** Returns the pools in `gpuIds` in order, and the GPU types that it excludes. */
export function gpuSelection(gpuIds: string): { readonly tiers: string[]; readonly excluded: string[] } {
  const parts = gpuIds.split(",").flatMap((part) => part.trim() || []);
  const isExclusion = (part: string) => part.startsWith("-");
  return {
    tiers: parts.filter((part) => !isExclusion(part)),
    excluded: parts.filter(isExclusion).map((part) => part.slice(1)),
  };
}

/** The fields that refer to an endpoint's network volumes. */
interface Volumes {
  readonly networkVolumeId: string | null;
  readonly networkVolumeIds: readonly VolumeReference[] | null;
}

/** Returns the ids of all of an endpoint's network volumes. */
export function volumesOf({ networkVolumeId, networkVolumeIds }: Volumes): string[] {
  const several = (networkVolumeIds ?? []).map((volume) => volume.networkVolumeId);
  return [...new Set([...(networkVolumeId === null ? [] : [networkVolumeId]), ...several])];
}

function withoutSuffix(name: string): string {
  return name.endsWith(FLASH_BOOT_NAME_SUFFIX) ? name.slice(0, -FLASH_BOOT_NAME_SUFFIX.length) : name;
}
