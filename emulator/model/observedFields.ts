import { z } from "zod";
import { EXECUTION_TIMEOUT_MS } from "../../sdk/contract/limits";
import { cpuInstances, instanceIdOf } from "./cpuInstances";
import type { Field, V2Form } from "./fieldTable";
import { CUDA_VERSION, CUDA_VERSIONS, NAME, type Shape } from "./shapes";
import { convertedProperty } from "./v2Form";

const volumeReference = z.strictObject({ networkVolumeId: z.string().min(1) });
/** A network volume of an endpoint. */
export interface VolumeReference {
  /** Id of the volume. */
  readonly networkVolumeId: string;
}

const repoReference = z.looseObject({ repoName: z.string() });
/** The repository of an endpoint. */
export interface RepoReference {
  /** Owner and name of the repository. */
  readonly repoName: string;
}

const variable = z.strictObject({ key: z.string(), value: z.string() });
/** An environment variable of an endpoint. */
export interface Variable {
  /** Name of the variable. */
  readonly key: string;
  /** Value of the variable. */
  readonly value: string;
}

type Optional<Value> = Field<Value, Value | undefined>;

interface Details<Value> {
  /** `true` if a save that leaves the field out keeps it. @default the save resets it */
  readonly isKept?: boolean;
  /** The GraphQL type in the input. @default that in the record */
  readonly input?: string;
  readonly v2?: V2Form<Value, Value>;
}

/** Declares a field with the value that an endpoint has if no save ever set it. */
function field<Value>(
  output: string,
  schema: z.ZodType<Value>,
  value: Value,
  { isKept = false, input = output, v2 }: Details<Value> = {},
): Optional<Value> {
  const store: Optional<Value>["store"] = (given, current, profile) => {
    if (given !== undefined) return given;
    // GraphQL in the contract profile has no such field, so its saves do not change it.
    return (isKept || profile === "contract") && current !== undefined ? current : value;
  };
  return { output, input, schema: schema.optional(), stored: schema, store, v2, onlyIn: "observed" };
}

/** Returns the form of a field that only endpoints with GPUs show. */
export function forGpus<Value, Given>({ show, ...form }: V2Form<Value, Given>): V2Form<Value, Given> {
  return { ...form, show: (value, record) => (record.computeType === "CPU" ? {} : (show?.(value, record) ?? {})) };
}

const text = z.string().nullable();
const count = z.int().nullable();
const texts = z.array(z.string());

const CPU: Shape = {
  type: "array",
  minItems: 1,
  items: {
    type: "object",
    required: ["id", "vcpuCount"],
    properties: { id: NAME, vcpuCount: { type: "integer", minimum: 2 } },
  },
};

/**
 * Fields of an endpoint that GraphQL has only in the observed profile. REST v2 has some of them in
 * both.
 */
export const OBSERVED_FIELDS = {
  /** GPUs of each worker (integer, ≥ 1); `null` counts as 1. */
  gpuCount: field("Int", count, 1, {
    v2: forGpus(
      convertedProperty<number | null, number>(
        "gpu.count",
        { type: "integer", minimum: 1 },
        (gpus) => gpus,
        (gpus) => gpus ?? 1,
      ),
    ),
  }),
  /** CUDA versions of which a machine must have one, separated by commas; `null` for any. */
  allowedCudaVersions: field("String", text, null, {
    isKept: true,
    v2: forGpus(
      convertedProperty(
        "gpu.allowedCudaVersions",
        CUDA_VERSIONS,
        (versions: readonly string[]) => versions.join(",") || null,
        (versions) => versions?.split(",").map((version) => version.trim()) ?? [],
      ),
    ),
  }),
  /** The lowest CUDA version that a machine may have; `null` for any. */
  minCudaVersion: field("String", text, null, {
    isKept: true,
    v2: forGpus(
      convertedProperty(
        "gpu.minCudaVersion",
        CUDA_VERSION,
        (version: string) => version || null,
        (version) => version || null,
      ),
    ),
  }),
  /**
   * Longest time of a job on a worker, in milliseconds, ≥ 0; 0 for no limit, `null` for the
   * service's default. A job may have its own.
   */
  executionTimeoutMs: field("Int", count, null, {
    v2: {
      ...convertedProperty<number | null, number>(
        "timeout",
        { type: "integer" },
        (timeout) => timeout,
        (timeout) => timeout ?? EXECUTION_TIMEOUT_MS.default,
      ),
      initial: 0,
    },
  }),
  /** Workers that PRIORITY_FLASHBOOT keeps; without effect. */
  workersPFBTarget: field("Int", count, 0),
  /** Number of standby workers; `null` for the default, 1. Without effect. */
  workersStandby: field("Int", count, null),
  /** CPU instances of an endpoint that runs on CPUs: `cpu3g-4-16` (flavor, vCPUs, GB). */
  instanceIds: field<readonly string[] | null>("[String]", texts.nullable(), null, {
    v2: {
      properties: { cpu: CPU },
      read: (at) => at<readonly { id: string; vcpuCount: number }[]>("cpu")?.map(instanceIdOf),
      show: (ids, { computeType }) => (computeType === "CPU" ? { gpu: null, cpu: cpuInstances(ids) } : {}),
    },
  }),
  /**
   * Several network volumes, each in another data center. REST v2 shows them together with
   * `networkVolumeId`.
   */
  networkVolumeIds: field<readonly VolumeReference[] | null>(
    "[EndpointVolume]",
    z.array(volumeReference).nullable(),
    null,
    {
      input: "[EndpointVolumeInput]",
      v2: {
        properties: {},
        read(at) {
          const ids = at<readonly string[]>("networkVolumes");
          if (!ids || ids.length < 2) return ids && null;
          return ids.map((networkVolumeId) => ({ networkVolumeId }));
        },
      },
    },
  ),
  /** Environment variables. A save with `templateId` ignores them; without effect. */
  env: field<readonly Variable[]>("[EnvironmentVariable]", z.array(variable), [], {
    input: "[EnvironmentVariableInput]",
  }),
  /** The model to cache, at most one; without effect. */
  modelReferences: field<readonly string[] | null>("[String]", texts.nullable(), [], { isKept: true }),
  /** Kind of the endpoint, which never changes: `QB` (queue) or `LB` (load balancer). */
  type: {
    ...field<string | null>("String", text, "QB", {
      isKept: true,
      v2: convertedProperty<string | null, string>(
        "type",
        { type: "string", enum: ["QUEUE", "LOAD_BALANCER"] },
        (type) => (type === "QUEUE" ? "QB" : "LB"),
        (type) => (type === "LB" ? "LOAD_BALANCER" : "QUEUE"),
      ),
    }),
    store: (given: string | null | undefined, current: string | null | undefined) => given ?? current ?? "QB",
  },
  /** Id of an environment of the service's Flash tool. */
  flashEnvironmentId: field("String", text, null),
  /** Certificates that the hosts must have. No effect. */
  compliance: field<readonly string[] | null>("[Compliance]", texts.nullable(), null, { isKept: true }),
  /** The repository that the endpoint is built from. No effect. */
  repo: field<RepoReference | null>("EndpointRepo", repoReference.nullable(), null, { input: "EndpointRepoInput" }),
  /** Id of the hub release that the endpoint was deployed from. */
  hubReleaseId: field("", text, null, { input: "String" }),
};
