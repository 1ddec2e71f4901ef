/** A network volume of an endpoint. */
export interface VolumeReference {
  /** Id of the volume. */
  readonly networkVolumeId: string;
  /** Id of the volume's data center. */
  readonly dataCenterId: string | null;
}

/** An environment variable of an endpoint. */
export interface Variable {
  /** Name of the variable. */
  readonly key: string;
  /** Value of the variable. */
  readonly value: string;
}

/**
 * Fields of an endpoint that only the observed service has. The emulator stores and shows them, because the service's
 * own clients send and select them, but they have no effect.
 */
export interface ObservedFields {
  /** Number of GPUs of a worker. */
  gpuCount: number | null;
  /** CUDA versions that a machine may have, separated by commas; `null` for any. */
  allowedCudaVersions: string | null;
  /** The lowest CUDA version that a machine may have; `null` for any. */
  minCudaVersion: string | null;
  /** Longest time of a job, in milliseconds. */
  executionTimeoutMs: number | null;
  /** Number of workers for PRIORITY_FLASHBOOT. */
  workersPFBTarget: number | null;
  /** Ids of CPU instance types. */
  instanceIds: readonly string[];
  /** Network volumes, at most one in each data center. */
  networkVolumeIds: readonly VolumeReference[] | null;
  /** Environment variables. */
  env: readonly Variable[];
  /** References of models to cache. */
  modelReferences: readonly string[];
  /** Kind of the endpoint: `QB` (queue) or `LB` (load balancer). */
  type: string | null;
  /** Id of an environment of the service's Flash tool. */
  flashEnvironmentId: string | null;
}

/** The fields of an endpoint that never set them. */
export const UNSET_OBSERVED_FIELDS: ObservedFields = {
  gpuCount: 1,
  allowedCudaVersions: null,
  minCudaVersion: null,
  executionTimeoutMs: null,
  workersPFBTarget: null,
  instanceIds: [],
  networkVolumeIds: null,
  env: [],
  modelReferences: [],
  type: "QB",
  flashEnvironmentId: null,
};

/** The GraphQL declarations of the fields that have the same type in the record and in the input. */
export const OBSERVED_FIELD_TYPES = `
  gpuCount: Int allowedCudaVersions: String minCudaVersion: String executionTimeoutMs: Int workersPFBTarget: Int
  instanceIds: [String] modelReferences: [String] type: String flashEnvironmentId: String
`;

/** Returns the fields after a save: a field that the input leaves out keeps its value (assumed). */
export function observedFieldsAfter(current: ObservedFields, input: Partial<ObservedFields>): ObservedFields {
  const names = Object.keys(UNSET_OBSERVED_FIELDS) as (keyof ObservedFields)[];
  const given = names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]);
  return { ...current, ...Object.fromEntries(given) };
}
