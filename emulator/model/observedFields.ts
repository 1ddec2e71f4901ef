import { BusinessError } from "./businessError";
import type { V2Form } from "./fieldTable";
import { type FieldForm, fieldsAfter, type Stored } from "./fieldTable";
import { CUDA_VERSION, CUDA_VERSIONS } from "./shapes";
import { convertedProperty } from "./v2Form";

/** A network volume of an endpoint. */
export interface VolumeReference {
  /** Id of the volume. */
  readonly networkVolumeId: string;
}

/** The repository of an endpoint. */
export interface RepoReference {
  /** Owner and name of the repository. */
  readonly repoName: string;
}

/** An environment variable of an endpoint. */
export interface Variable {
  /** Name of the variable. */
  readonly key: string;
  /** Value of the variable. */
  readonly value: string;
}

const same = <Value>(value: Value): Value => value;

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
  value: Value,
  { isKept = false, input = output, v2 }: Details<Value> = {},
): FieldForm<Value, Value | undefined> {
  const store = (given: Value | undefined, current: Value | undefined) => {
    if (given !== undefined) return given;
    return isKept && current !== undefined ? current : value;
  };
  return { output, input, store, v2 };
}

/**
 * Fields of an endpoint that only the observed service has. The emulator stores and shows them,
 * because the service's own clients send and select them, but they have no effect.
 */
export const OBSERVED_FIELDS = {
  /** Number of GPUs of a worker. */
  gpuCount: field<number | null>("Int", 1, {
    v2: convertedProperty<number | null, number>(
      "gpu.count",
      { type: "integer", minimum: 1 },
      same,
      (count) => count ?? 1,
    ),
  }),
  /** CUDA versions that a machine may have, separated by commas; `null` for any. */
  allowedCudaVersions: field<string | null>("String", null, {
    isKept: true,
    v2: convertedProperty(
      "gpu.allowedCudaVersions",
      CUDA_VERSIONS,
      (versions: readonly string[]) => versions.join(",") || null,
      (versions) => versions?.split(",") ?? [],
    ),
  }),
  /** The lowest CUDA version that a machine may have; `null` for any. */
  minCudaVersion: field<string | null>("String", null, {
    isKept: true,
    v2: convertedProperty("gpu.minCudaVersion", CUDA_VERSION, (version: string) => version || null, same),
  }),
  /** Longest time of a job, in milliseconds. */
  executionTimeoutMs: field<number | null>("Int", null, {
    v2: convertedProperty<number | null, number>("timeout", { type: "integer" }, same, (timeout) => timeout ?? 0),
  }),
  /** Number of workers for PRIORITY_FLASHBOOT. */
  workersPFBTarget: field<number | null>("Int", 0),
  /** Number of standby workers; `null` for as many as `workersMin`. */
  workersStandby: field<number | null>("Int", null),
  /** Ids of CPU instance types of an endpoint that runs on CPUs. */
  instanceIds: field<readonly string[] | null>("[String]", null),
  /** Network volumes, at most one in each data center. REST v2 shows that of `networkVolumeId`. */
  networkVolumeIds: field<readonly VolumeReference[] | null>("[EndpointVolume]", null, {
    input: "[EndpointVolumeInput]",
    v2: {
      properties: {},
      read: (at) => at<readonly string[]>("networkVolumes")?.map((networkVolumeId) => ({ networkVolumeId })),
    },
  }),
  /** Environment variables. */
  env: field<readonly Variable[]>("[EnvironmentVariable]", [], { input: "[EnvironmentVariableInput]" }),
  /** References of models to cache. */
  modelReferences: field<readonly string[]>("[String]", [], { isKept: true }),
  /** Kind of the endpoint: `QB` (queue) or `LB` (load balancer). */
  type: field<string | null>("String", "QB", {
    v2: convertedProperty<string | null, string>(
      "type",
      { type: "string", enum: ["QUEUE", "LOAD_BALANCER"] },
      (type) => (type === "QUEUE" ? "QB" : "LB"),
      (type) => (type === "LB" ? "LOAD_BALANCER" : "QUEUE"),
    ),
  }),
  /** Id of an environment of the service's Flash tool. */
  flashEnvironmentId: field<string | null>("String", null),
  /** Certificates that the hosts must have. */
  compliance: field<readonly string[] | null>("[Compliance]", null, { isKept: true }),
  /** The repository that the endpoint is built from. */
  repo: field<RepoReference | null>("EndpointRepo", null, { input: "EndpointRepoInput" }),
  /** Id of the hub release that the endpoint was deployed from. */
  hubReleaseId: field<string | null>("", null, { input: "String" }),
};

/** The fields of an endpoint that only the observed service has, as the emulator stores them. */
export interface ObservedFields extends Stored<typeof OBSERVED_FIELDS> {}

/** The fields of an endpoint that never set them. */
export const UNSET_OBSERVED_FIELDS: ObservedFields = fieldsAfter(OBSERVED_FIELDS, undefined, {}, "observed");

/**
 * Returns the fields after `saveEndpoint`.
 * @throws BusinessError if an endpoint on CPUs would have fields of GPUs
 */
export function observedFieldsAfterSave(
  current: ObservedFields | undefined,
  { gpuIds, ...input }: Partial<ObservedFields> & { readonly gpuIds: string },
): ObservedFields {
  const { instanceIds, gpuCount, minCudaVersion, allowedCudaVersions } = input;
  const ofGpus = [gpuIds || undefined, gpuCount, minCudaVersion, allowedCudaVersions];
  if (instanceIds?.length && ofGpus.some((value) => value != null)) {
    throw new BusinessError("An endpoint with instanceIds takes no GPUs and no CUDA versions", "save.cpu");
  }
  return fieldsAfter(OBSERVED_FIELDS, current, input, "observed");
}

/**
 * Returns the fields after a change over REST v2: a field that the input leaves out keeps its
 * value.
 */
export function observedFieldsAfter(current: ObservedFields, input: Partial<ObservedFields>): ObservedFields {
  const names = Object.keys(UNSET_OBSERVED_FIELDS) as (keyof ObservedFields)[];
  const given = names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]);
  return { ...current, ...Object.fromEntries(given) };
}
