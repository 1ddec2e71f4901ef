/**
 * Fields of an endpoint that only the observed service has. The emulator stores and shows them, because the service's
 * own clients send and select them, but they have no effect.
 */
export interface ObservedFields {
  gpuCount: number | null;
  allowedCudaVersions: string | null;
  minCudaVersion: string | null;
  executionTimeoutMs: number | null;
  workersPFBTarget: number | null;
  instanceIds: readonly string[];
  networkVolumeIds: readonly { readonly networkVolumeId: string; readonly dataCenterId: string | null }[] | null;
  env: readonly { readonly key: string; readonly value: string }[];
  modelReferences: readonly string[];
  type: string | null;
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
