import { z } from "zod";
import { EXECUTION_TIMEOUT_MS } from "../../sdk/contract/limits";
import { cpuInstances, instanceIdOf } from "./cpuInstances";
import type { Field, V2Form } from "./fieldTable";
import { CUDA_VERSION, CUDA_VERSIONS, NAME, type Shape } from "./shapes";
import { convertedProperty } from "./v2Form";

const volumeReference = z.strictObject({ networkVolumeId: z.string().min(1) });
/** A reference to a network volume. */
export interface VolumeReference {
  /** The volume's id. */
  readonly networkVolumeId: string;
}

const repoReference = z.looseObject({ repoName: z.string() });
/** The repository that an endpoint is built from. */
export interface RepoReference {
  /** The repository's owner and name. */
  readonly repoName: string;
}

const variable = z.strictObject({ key: z.string(), value: z.string() });
/** An environment variable of an endpoint. */
export interface Variable {
  /** The name of the variable. */
  readonly key: string;
  /** The value of the variable. */
  readonly value: string;
}

type Optional<Value> = Field<Value, Value | undefined>;

interface Details<Value> {
  /** `true` if a save keeps the field when it is omitted. @default a save resets it */
  readonly isKept?: boolean;
  /** The GraphQL type in the input. @default same as in the record */
  readonly input?: string;
  readonly v2?: V2Form<Value, Value>;
}

/** Declares a field, with its value for endpoints on which no save ever set it. */
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

/** Returns the REST v2 form of a field that only GPU endpoints show. */
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
 * Endpoint fields that GraphQL only has in the observed profile. REST v2 has some of them in both
 * profiles.
 */
export const OBSERVED_FIELDS = {
  /** GPUs per worker (integer, ≥ 1); `null` means 1. */
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
  /** CUDA versions as a comma-separated list. A machine must have one of them; `null` means any. */
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
  /** The lowest acceptable CUDA version; `null` means any. */
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
   * How long a job may run on a worker, in milliseconds, ≥ 0. 0 means no limit, and `null` the
   * service's default. A job can set its own timeout.
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
  /** The number of workers that PRIORITY_FLASHBOOT keeps. Has no effect. */
  workersPFBTarget: field("Int", count, 0),
  /**
   * The number of workers that are kept started although no job needs them, within `workersMax`;
   * `null` means 0. A save over GraphQL that leaves it out sets 1. REST v2 does not have it.
   */
  workersStandby: field("Int", count, null),
  /** The instances of an endpoint that runs on CPUs, such as `cpu3g-4-16` (flavor, vCPUs, GB). */
  instanceIds: field<readonly string[] | null>("[String]", texts.nullable(), null, {
    v2: {
      properties: { cpu: CPU },
      read: (at) => at<readonly { id: string; vcpuCount: number }[]>("cpu")?.map(instanceIdOf),
      show: (ids, { computeType }) => (computeType === "CPU" ? { gpu: null, cpu: cpuInstances(ids) } : {}),
    },
  }),
  /**
   * Several network volumes in different data centers. REST v2 shows them together with
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
  /** Environment variables. A save with `templateId` ignores them. Has no effect. */
  env: field<readonly Variable[]>("[EnvironmentVariable]", z.array(variable), [], {
    input: "[EnvironmentVariableInput]",
  }),
  /** The model to cache, at most one. Has no effect. */
  modelReferences: field<readonly string[] | null>("[String]", texts.nullable(), [], { isKept: true }),
  /** The endpoint's type, which never changes: `QB` (queue) or `LB` (load balancer). */
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
  /** The id of an environment of RunPod's Flash tool. */
  flashEnvironmentId: field("String", text, null),
  /** Certifications that the hosts must have. Has no effect. */
  compliance: field<readonly string[] | null>("[Compliance]", texts.nullable(), null, { isKept: true }),
  /** The repository that the endpoint is built from. Has no effect. */
  repo: field<RepoReference | null>("EndpointRepo", repoReference.nullable(), null, { input: "EndpointRepoInput" }),
  /** The id of the hub release that the endpoint was deployed from. */
  hubReleaseId: field("", text, null, { input: "String" }),
};
