import type { ServiceName } from "../contract/limits";
import {
  FLASH_BOOT_TYPES,
  SAVE_ENDPOINT_DEFAULTS as SAVED,
  SCALER_TYPES,
  UNSET_ENDPOINT_FIELDS as UNSET,
} from "../contract/limits";
import { defaultsOf, type FieldOf, type KeptTable, requiredFields } from "../records/fields";
import { isGpuExclusion, normalizeGpuIds, normalizeLocations, normalizeName, splitList } from "./normalForms";
import type { EndpointInput, EndpointSettings } from "./record";

// Programs load this file when they start, so it imports no library.

type NumberType = "whole number" | "positive number";
type StringType = "text" | "id" | "enum" | "gpuIds" | "locations";

/**
 * The declaration of one field that can be set. Ids are trimmed; `gpuIds` and `locations` are
 * lists.
 */
export type Field<Value = unknown> = FieldOf<
  [Value] extends [number] ? NumberType : [Value] extends [string] ? StringType : NumberType | StringType,
  Value
>;

type RequiredName = {
  [K in keyof EndpointInput]-?: undefined extends EndpointInput[K] ? never : K;
}[keyof EndpointInput];
type OptionalName = Exclude<keyof EndpointInput, RequiredName>;

type Table = { readonly [K in RequiredName]: Field<EndpointSettings[K]> & { readonly default?: never } } & {
  readonly [K in OptionalName]: Field<EndpointSettings[K]> & { readonly default: EndpointSettings[K] };
};

/** Returns `gpuIds` as REST v2 writes them. */
export function gpuSelection(gpuIds: string): object {
  const parts = splitList(gpuIds);
  const excludedTypes = parts.filter(isGpuExclusion).map((part) => part.slice(1).trim());
  const pools = parts.filter((part) => !isGpuExclusion(part));
  return { pools, ...(excludedTypes.length > 0 && { excludedTypes }) };
}

function countsRequests({ scalerType }: Readonly<Record<string, unknown>>): boolean {
  return scalerType === "REQUEST_COUNT";
}

const WORKERS = "a whole number of workers, 0 or more";

/**
 * All fields of an endpoint that can be set. Append new ones: older state numbers fields by their
 * place.
 */
const TABLE: Table = {
  name: { type: "text", mustBe: "a name, not empty", normalize: normalizeName, isInEveryRecord: true, v2: "name" },
  gpuIds: {
    type: "gpuIds",
    isList: true,
    mustBe: "a GPU tier, a list of tiers or a comma list",
    normalize: normalizeGpuIds,
    v2: { path: "gpu", write: gpuSelection },
  },
  templateId: { type: "id", mustBe: "the id of a template, not empty", v2: { path: "templateId", isHidden: true } },
  idleTimeout: {
    type: "whole number",
    mustBe: "whole seconds, 0 or more",
    default: SAVED.idleTimeout,
    // A scaler that counts requests has no timeout.
    v2: { path: "workers.idleTimeout", pathWith: (all) => (countsRequests(all) ? undefined : "workers.idleTimeout") },
  },
  scalerValue: {
    type: "positive number",
    mustBe: "a number above 0",
    default: SAVED.scalerValue,
    v2: {
      path: "scaling.queueDelay",
      otherPath: "scaling.requestCount",
      pathWith: (all) => (countsRequests(all) ? "scaling.requestCount" : "scaling.queueDelay"),
      isPartOfWhole: true,
    },
  },
  workersMax: {
    type: "whole number",
    mustBe: WORKERS,
    default: SAVED.workersMax,
    v2: { path: "workers.max", isInEveryRecord: true },
  },
  workersMin: {
    type: "whole number",
    mustBe: WORKERS,
    default: SAVED.workersMin,
    v2: { path: "workers.min", isInEveryRecord: true },
  },
  locations: {
    type: "locations",
    isList: true,
    mustBe: "a country, a list of countries or a comma list",
    normalize: normalizeLocations,
    default: UNSET.locations,
    v2: "dataCenterIds",
  },
  flashBootType: {
    type: "enum",
    words: FLASH_BOOT_TYPES,
    mustBe: FLASH_BOOT_TYPES.join(" or "),
    default: UNSET.flashBootType,
    v2: "flashboot",
    isGraphqlEnum: true,
    // The contract has no OFF; `null` clears the field.
    toService: (value, service) => (value === "OFF" && service !== "runpod" ? null : value),
  },
  scalerType: {
    type: "enum",
    words: SCALER_TYPES,
    mustBe: SCALER_TYPES.join(" or "),
    default: UNSET.scalerType,
    v2: { path: "scaling.type", isInEveryRecord: true, isPartOfWhole: true },
  },
  networkVolumeId: {
    type: "id",
    mustBe: "the id of a network volume, or null for none",
    default: UNSET.networkVolumeId,
    // One endpoint of ours has at most one. Several, which others have set, show as a comma list.
    v2: { path: "networkVolumes", isList: true },
    toService: (id) => (id === "" ? null : id),
  },
};

/**
 * The fields of an endpoint at the service `runpod` that programs cannot set yet. To make one of
 * them a setting, move it to the table above with `onlyAt: "runpod"`.
 */
export const KEPT_FIELDS: KeptTable = {
  gpuCount: {},
  minCudaVersion: {},
  allowedCudaVersions: {},
  instanceIds: {},
  type: {},
  executionTimeoutMs: {},
  // The input takes no data centers.
  networkVolumeIds: { selection: "networkVolumeIds { networkVolumeId }" },
  modelReferences: {},
  compliance: { isGraphqlEnum: true },
  workersPFBTarget: { isUncertain: true },
  workersStandby: { isUncertain: true },
  env: { selection: "env { key value }", isSecret: true, isUncertain: true },
  flashEnvironmentId: { isReadOnly: true },
  repo: { selection: "repo { __typename }", isReadOnly: true, isUncertain: true },
  hubRelease: { selection: "hubRelease { __typename }", isReadOnly: true, isUncertain: true },
};

/** The declarations by name, for code that treats all fields alike. */
export const FIELDS = TABLE as Readonly<Record<keyof EndpointInput, Field<unknown>>>;

/** The names of all fields that can be set. */
export const ENDPOINT_FIELDS = Object.keys(TABLE) as (keyof EndpointInput)[];

/** The names of the fields that every endpoint must have. */
export const REQUIRED_FIELDS = requiredFields(FIELDS);

/** The default of each optional field, in normal form. */
export const ENDPOINT_DEFAULTS = defaultsOf(FIELDS) as Pick<EndpointSettings, OptionalName>;

/** Returns `true` if an endpoint has a field of this name that can be set. */
export function isEndpointField(name: string): name is keyof EndpointInput {
  return Object.hasOwn(TABLE, name);
}

/** Returns the kept fields that the service has. `service` is the named service, if any. */
export function keptFieldsAt(service: ServiceName | undefined): KeptTable {
  return service === "runpod" ? KEPT_FIELDS : {};
}

/** Returns the names of the fields that the service has. `service` is the named service, if any. */
export function fieldsAt(service: ServiceName | undefined): (keyof EndpointInput)[] {
  return ENDPOINT_FIELDS.filter((field) => [undefined, service].includes(FIELDS[field].onlyAt));
}
