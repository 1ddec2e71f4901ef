import { BusinessError } from "./businessError";

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
  /** Number of standby workers; `null` for as many as `workersMin`. */
  workersStandby: number | null;
  /** Ids of CPU instance types of an endpoint that runs on CPUs. */
  instanceIds: readonly string[] | null;
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
  /** Certificates that the hosts must have. */
  compliance: readonly string[] | null;
  /** The repository that the endpoint is built from. */
  repo: RepoReference | null;
  /** Id of the release of the service's hub that the endpoint was made from. */
  hubReleaseId: string | null;
}

/** The fields of an endpoint that never set them. */
export const UNSET_OBSERVED_FIELDS: ObservedFields = {
  gpuCount: 1,
  allowedCudaVersions: null,
  minCudaVersion: null,
  executionTimeoutMs: null,
  workersPFBTarget: 0,
  workersStandby: null,
  instanceIds: null,
  networkVolumeIds: null,
  env: [],
  modelReferences: [],
  type: "QB",
  flashEnvironmentId: null,
  compliance: null,
  repo: null,
  hubReleaseId: null,
};

/** The fields that a save keeps if it leaves them out. It resets all others. */
const KEPT_BY_A_SAVE: readonly (keyof ObservedFields)[] = [
  "minCudaVersion",
  "allowedCudaVersions",
  "modelReferences",
  "compliance",
];

/** The GraphQL declarations of the fields that have the same type in the record and in the input. */
export const OBSERVED_FIELD_TYPES = `
  gpuCount: Int allowedCudaVersions: String minCudaVersion: String executionTimeoutMs: Int workersPFBTarget: Int
  workersStandby: Int instanceIds: [String] modelReferences: [String] type: String flashEnvironmentId: String
  compliance: [Compliance]
`;

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
  const kept = KEPT_BY_A_SAVE.map((name) => [name, (current ?? UNSET_OBSERVED_FIELDS)[name]]);
  return observedFieldsAfter({ ...UNSET_OBSERVED_FIELDS, ...Object.fromEntries(kept) }, input);
}

/** Returns the fields after a change over REST v2: a field that the input leaves out keeps its value. */
export function observedFieldsAfter(current: ObservedFields, input: Partial<ObservedFields>): ObservedFields {
  const names = Object.keys(UNSET_OBSERVED_FIELDS) as (keyof ObservedFields)[];
  const given = names.filter((name) => input[name] !== undefined).map((name) => [name, input[name]]);
  return { ...current, ...Object.fromEntries(given) };
}
