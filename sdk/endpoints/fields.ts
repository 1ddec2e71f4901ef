import type { ServiceName } from "../contract/limits";
import {
  CPU_INSTANCE,
  CUDA_VERSION,
  ENDPOINT_TYPES,
  EXECUTION_TIMEOUT_MS,
  FLASH_BOOT_TYPES,
  SAVE_ENDPOINT_DEFAULTS as SAVED,
  SCALER_TYPES,
  UNSET_ENDPOINT_FIELDS as UNSET,
} from "../contract/limits";
import {
  defaultsOf,
  type FieldOf,
  type FieldTable,
  isPresentAt,
  type KeptTable,
  NEVER_CHANGES,
} from "../records/fields";
import { areSeveral } from "./networkVolumes";
import { normalizeCudaVersions, normalizeGpuIds, normalizeName, normalizeSet } from "./normalForms";
import { isContainerField, OWN_CONTAINER_TABLE, TEMPLATE_FIELD } from "./ownContainer";
import { changesProcessor, cpuSelection, gpuIdsOf, instanceIdsOf, runsOnCpus, v2GpuSelection } from "./processors";
import type { EndpointInput, EndpointSettings } from "./record";

// Programs load this file on startup, so it must not import any libraries.

type NumberType = "whole number" | "positive number";
type StringType = "text" | "id" | "enum" | "word" | "gpuIds" | "locations" | "set" | "instances" | "ports";

/**
 * The declaration of a field that can be set. Ids are trimmed. `gpuIds`, `locations`, sets and
 * instances are lists.
 */
type EndpointField<Value = unknown> = FieldOf<
  [Value] extends [number] ? NumberType : [Value] extends [string] ? StringType : NumberType | StringType | "env",
  Value
>;

type RequiredName = {
  [K in keyof EndpointInput]-?: undefined extends EndpointInput[K] ? never : K;
}[keyof EndpointInput];
type OptionalName = Exclude<keyof EndpointInput, RequiredName>;

type Table = { readonly [K in RequiredName]: EndpointField<EndpointSettings[K]> & { readonly default?: never } } & {
  readonly [K in OptionalName]: EndpointField<EndpointSettings[K]> & { readonly default: EndpointSettings[K] };
};

type Settings = Readonly<Record<string, unknown>>;

function countsRequests({ scalerType }: Settings): boolean {
  return scalerType === "REQUEST_COUNT";
}

/** Returns `true` if REST v2 does not accept `idleTimeout` with these settings. */
function hasNoTimeout(all: Settings): boolean {
  return countsRequests(all) && all.type !== "LOAD_BALANCER";
}

function isSet(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

const WORKERS = "a whole number of workers, 0 or more";

/** All fields of an endpoint that can be set. */
const TABLE: Table = {
  name: {
    type: "text",
    mustBe: "a name that is not empty",
    normalize: normalizeName,
    isInEveryRecord: true,
    v2: "name",
  },
  gpuIds: {
    isUnsetIfAbsent: ({ instanceIds }) => isSet(instanceIds),
    needsNewWorkers: true,
    type: "gpuIds",
    isList: true,
    mustBe: "a GPU pool, a list of pools or a comma-separated list",
    normalize: normalizeGpuIds,
    default: "",
    isFixed: changesProcessor,
    v2: { path: "gpu.pools", otherPath: "gpu.excludedTypes", read: gpuIdsOf, write: v2GpuSelection },
  },
  templateId: {
    type: "id",
    mustBe: "the id of a template",
    default: "",
    v2: { path: "templateId", isHidden: true },
  },
  idleTimeout: {
    type: "whole number",
    mustBe: "whole seconds, 0 or more",
    default: SAVED.idleTimeout,
    // If the scaler counts requests, there is no idle timeout.
    v2: { path: "workers.idleTimeout", pathWith: (all) => (hasNoTimeout(all) ? undefined : "workers.idleTimeout") },
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
  workersStandby: {
    type: "whole number",
    mustBe: WORKERS,
    default: 0,
    onlyAt: "runpod",
    isUncertain: true,
    v2: null,
  },
  locations: {
    isUnsetIfAbsent: true,
    needsNewWorkers: true,
    type: "locations",
    isList: true,
    mustBe: "a country, a list of countries or a comma-separated list",
    normalize: normalizeSet,
    default: UNSET.locations,
    v2: "dataCenterIds",
  },
  flashBootType: {
    isUnsetIfAbsent: true,
    needsNewWorkers: true,
    type: "enum",
    words: FLASH_BOOT_TYPES,
    valuesOnlyAt: { service: "runpod", includes: (type) => type === "PRIORITY_FLASHBOOT" },
    mustBe: FLASH_BOOT_TYPES.join(" or "),
    default: UNSET.flashBootType,
    v2: "flashboot",
    isGraphqlEnum: true,
    // The contract does not have OFF. At other services, `null` clears the field instead.
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
    isUnsetIfAbsent: true,
    needsNewWorkers: true,
    type: "id",
    mustBe: "the id of a network volume, or null for none",
    normalize: normalizeSet,
    default: UNSET.networkVolumeId,
    // This is the short form of `networkVolumeIds`. Both fields have the same value. Several ids
    // form a comma-separated list.
    v2: { path: "networkVolumes", isList: true },
    toService: (id) => (id === "" ? null : id),
  },
  gpuCount: {
    needsNewWorkers: true,
    type: "whole number",
    mustBe: "a whole number of GPUs, 1 or more",
    min: 1,
    default: 1,
    onlyAt: "runpod",
    lackedBy: runsOnCpus,
    v2: "gpu.count",
  },
  minCudaVersion: {
    isUnsetIfAbsent: true,
    needsNewWorkers: true,
    type: "word",
    pattern: CUDA_VERSION,
    mustBe: 'a CUDA version, such as "12.8"',
    default: "",
    onlyAt: "runpod",
    lackedBy: runsOnCpus,
    toService: (version) => (version === "" ? null : version),
    v2: "gpu.minCudaVersion",
  },
  allowedCudaVersions: {
    isUnsetIfAbsent: true,
    needsNewWorkers: true,
    type: "set",
    isList: true,
    pattern: CUDA_VERSION,
    mustBe: 'a CUDA version such as "12.8", a list of versions or a comma-separated list',
    normalize: normalizeCudaVersions,
    default: "",
    onlyAt: "runpod",
    lackedBy: runsOnCpus,
    toService: (versions) => (versions === "" ? null : versions),
    v2: "gpu.allowedCudaVersions",
  },
  executionTimeoutMs: {
    type: "whole number",
    max: EXECUTION_TIMEOUT_MS.max,
    mustBe: `whole milliseconds, 0 to ${EXECUTION_TIMEOUT_MS.max} (7 days)`,
    default: EXECUTION_TIMEOUT_MS.default,
    // This differs from the service's default for new endpoints, because an endpoint without a
    // value has no limit of its own.
    unset: 0,
    sendsDefault: true,
    onlyAt: "runpod",
    v2: "timeout",
  },
  networkVolumeIds: {
    isUnsetIfAbsent: true,
    needsNewWorkers: true,
    type: "set",
    isList: true,
    mustBe: "the id of a network volume, a list of ids or a comma-separated list",
    normalize: normalizeSet,
    default: "",
    onlyAt: "runpod",
    // A single volume is sent as `networkVolumeId`, which every service supports.
    valuesOnlyAt: { service: "runpod", includes: areSeveral },
    graphqlList: "networkVolumeId",
    v2: "networkVolumes",
  },
  type: {
    type: "enum",
    words: ENDPOINT_TYPES,
    mustBe: ENDPOINT_TYPES.join(" or "),
    normalize: (type) => ({ QB: "QUEUE", LB: "LOAD_BALANCER" })[String(type)] ?? type,
    default: "QUEUE",
    ...NEVER_CHANGES,
    onlyAt: "runpod",
    toService: (type) => ({ QUEUE: "QB", LOAD_BALANCER: "LB" })[String(type)] ?? type,
    v2: "type",
  },
  instanceIds: {
    isUnsetIfAbsent: ({ gpuIds }) => isSet(gpuIds),
    needsNewWorkers: true,
    type: "instances",
    isList: true,
    pattern: CPU_INSTANCE,
    mustBe: "a CPU instance such as cpu3g-4-16, a list of instances or a comma-separated list",
    normalize: normalizeSet,
    default: "",
    isFixed: changesProcessor,
    onlyAt: "runpod",
    graphqlList: true,
    v2: { path: "cpu", read: instanceIdsOf, write: cpuSelection },
  },
  modelReferences: {
    isUnsetIfAbsent: true,
    type: "set",
    isList: true,
    mustBe: "a reference such as https://huggingface.co/<org>/<model>:<revision>, or a list of them",
    normalize: normalizeSet,
    default: "",
    onlyAt: "runpod",
    lackedBy: runsOnCpus,
    graphqlList: true,
    isUncertain: true,
    v2: null,
  },
  ...OWN_CONTAINER_TABLE,
};

/** The declarations by field name, for code that treats all fields the same way. */
export const FIELDS = TABLE as Readonly<Record<keyof EndpointInput, EndpointField<unknown>>>;

/** The names of all fields that can be set. */
export const ENDPOINT_FIELDS = Object.keys(TABLE) as (keyof EndpointInput)[];

/** The fields that GraphQL has on the endpoint itself rather than on its template. */
export const GRAPHQL_TABLE: FieldTable = Object.fromEntries(
  Object.entries(FIELDS).filter(([name]) => !isContainerField(name)),
);

/**
 * The fields of an endpoint that a save at the service `runpod` must send back exactly as they were
 * read. This list contains only fields that programs cannot set. To turn such a field into a
 * setting, move it to the table above with `onlyAt: "runpod"`.
 */
export const KEPT_FIELDS: KeptTable = {
  ...Object.fromEntries(
    Object.entries(GRAPHQL_TABLE).flatMap(([name, { onlyAt, isUncertain }]) =>
      onlyAt ? [[name, { isSetting: true, ...(isUncertain && { isUncertain }) }]] : [],
    ),
  ),
  template: TEMPLATE_FIELD,
  compliance: { isGraphqlEnum: true, isUncertain: true },
  workersPFBTarget: { isUncertain: true },
  env: { selection: "env { key value }", isSecret: true, isUncertain: true },
  flashEnvironmentId: { isReadOnly: true },
  repo: { selection: "repo { __typename }", isReadOnly: true, isUncertain: true },
  hubRelease: { selection: "hubRelease { __typename }", isReadOnly: true, isUncertain: true },
};

/** The defaults of all optional fields, in normal form. */
export const ENDPOINT_DEFAULTS = defaultsOf(FIELDS) as Pick<EndpointSettings, OptionalName>;

/** Returns `true` if endpoints have a settable field with this name. */
export function isEndpointField(name: string): name is keyof EndpointInput {
  return Object.hasOwn(TABLE, name);
}

/** Returns the fields that must be kept at a service. `service` is the named service, if any. */
export function keptFieldsAt(service: ServiceName | undefined): KeptTable {
  return service === "runpod" ? KEPT_FIELDS : {};
}

/**
 * Returns the names of the fields that GraphQL has on the endpoint itself. `service` is the named
 * service, if any.
 */
export function fieldsAt(service: ServiceName | undefined): (keyof EndpointInput)[] {
  const place = { api: "graphql", service } as const;
  return ENDPOINT_FIELDS.filter((field) => !isContainerField(field) && isPresentAt(FIELDS[field], place));
}
