import { isObject, objectOrEmpty, type Properties } from "../../../provider/engine/properties";
import { normalizeName, splitList } from "../../../sdk/endpoints/normalForms";
import { OLD_SECRET, type OldResource } from "./oldResource";

/** The resource classes of this package that replace those of other providers. */
export const SUCCESSOR_CLASSES = [
  "ContainerRegistryAuth",
  "Secret",
  "NetworkVolume",
  "ServerlessTemplate",
  "ServerlessEndpoint",
] as const;

export type SuccessorKind = (typeof SUCCESSOR_CLASSES)[number];

/** The resource that replaces another provider's resource. */
export interface Successor {
  readonly kind: SuccessorKind;
  readonly old: OldResource;
  /** The record's id. */
  readonly id: string;
  /** The arguments. Secret values are replaced by `SECRET`. */
  readonly fields: Properties;
  /** The old settings that this package cannot declare. */
  readonly lost: readonly string[];
  /** Other resources in the old state for the same record. The commands remove them too. */
  readonly copies: readonly OldResource[];
}

/** A resource that is left out, and the reason. */
export interface LeftOut {
  readonly old: OldResource;
  readonly reason: string;
}

/**
 * What happens to an old setting: `string` renames the field, a function computes new fields, and
 * `null` drops the setting without a message.
 */
type Rule = string | ((value: unknown, all: Properties) => Properties) | null;

interface OldType {
  readonly kind: SuccessorKind;
  readonly rules: Readonly<Record<string, Rule>>;
  /** Returns why the resource cannot be replaced, or `undefined` if it can. */
  readonly obstacle?: (all: Properties) => string | undefined;
}

const same = (...names: string[]): Readonly<Record<string, Rule>> =>
  Object.fromEntries(names.map((name) => [name, name]));
const silent = (...names: string[]): Readonly<Record<string, Rule>> =>
  Object.fromEntries(names.map((name) => [name, null]));

const list = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((part) => typeof part === "string") : splitList(String(value ?? ""));

/** Removes the name suffix that the older provider used to enable FLASHBOOT. */
function endpointName(name: unknown): Properties {
  if (typeof name !== "string" || normalizeName(name) === name) return { name };
  return { name: normalizeName(name), flashBootType: "FLASHBOOT" };
}

/** Translates the service's endpoint type, such as `QB`, into this package's value. */
const endpointType = (type: unknown): Properties => ({
  type: type === "QB" ? "QUEUE" : type === "LB" ? "LOAD_BALANCER" : type,
});

/** `dataCenterIds` is the newer form of `locations`, and takes precedence over it. */
const dataCenters = (ids: unknown): Properties => (list(ids).length > 0 ? { locations: list(ids) } : {});

/** Converts variables to an object. They may be an object or a list of objects. */
function variables(env: unknown): Properties {
  if (!Array.isArray(env)) return { env };
  return { env: Object.fromEntries(env.filter(isObject).map(({ key, value }) => [String(key), value])) };
}

function volumes(value: unknown): Properties {
  const ids = list(value);
  return ids.length === 1 ? { networkVolumeId: ids[0] } : { networkVolumeIds: ids };
}

/** Extracts port numbers from objects with a port and a name. The name is dropped. */
function portsOf(value: unknown): Properties {
  return { ports: Array.isArray(value) ? value.filter(isObject).map(({ port }) => port) : value };
}

function startCommand(part: "cmd" | "entrypoint") {
  return (_: unknown, { docker_start_cmd: cmd, docker_entrypoint: entrypoint }: Properties): Properties =>
    part === "cmd" || cmd === null || cmd === undefined
      ? { command: { ...(cmd ? { cmd } : {}), ...(entrypoint ? { entrypoint } : {}) } }
      : {};
}

const flashBoot = (value: unknown): Properties => ({
  flashBootType: value === true ? "FLASHBOOT" : value === false ? "OFF" : value,
});

const gpuPools = (pools: unknown, { excluded_types: excluded }: Properties): Properties => ({
  gpuIds: [...list(pools), ...list(excluded).map((type) => `-${type}`)],
});

const NO_TEMPLATE = {
  pod: "it is a template of pods",
  public: "it is public",
  own: "it belongs to an endpoint, and is deleted with it",
};

function templateObstacle(isServerless: unknown, isPublic: unknown, name: unknown): string | undefined {
  if (isServerless !== true) return NO_TEMPLATE.pod;
  if (isPublic === true) return NO_TEMPLATE.public;
  return /__template__\w+$/.test(String(name)) ? NO_TEMPLATE.own : undefined;
}

const PULUMI_VOLUME: OldType = {
  kind: "NetworkVolume",
  rules: { ...same("name", "size", "dataCenterId"), isNextGenStorage: "highPerformance" },
};

/** The resource types that both Pulumi providers share. */
const PULUMI_TYPES: Readonly<Record<string, OldType>> = {
  "runpod:index:Endpoint": {
    kind: "ServerlessEndpoint",
    rules: {
      ...same("gpuIds", "templateId", "idleTimeout", "locations", "flashBootType", "scalerType", "scalerValue"),
      ...same("workersMin", "workersMax", "networkVolumeId", "gpuCount", "minCudaVersion", "allowedCudaVersions"),
      ...same("executionTimeoutMs", "modelReferences", "instanceIds"),
      dataCenterIds: dataCenters,
      name: endpointName,
      type: endpointType,
    },
  },
  "runpod:index:Template": {
    kind: "ServerlessTemplate",
    rules: {
      ...same("name", "imageName", "containerDiskInGb", "dockerArgs", "ports", "containerRegistryAuthId", "readme"),
      ...silent("isServerless", "isPublic", "volumeMountPath"),
      env: variables,
      portsConfig: portsOf,
    },
    obstacle: ({ isServerless, isPublic, name }) => templateObstacle(isServerless, isPublic, name),
  },
  "runpod:index:NetworkVolume": PULUMI_VOLUME,
  "runpod:index:NetworkStorage": PULUMI_VOLUME,
  "runpod:index:ContainerRegistryAuth": {
    kind: "ContainerRegistryAuth",
    rules: same("name", "username", "password"),
  },
  "runpod:index:Secret": {
    kind: "Secret",
    // The value is never copied, even if the state does not mark it as secret.
    rules: { ...same("name", "description"), value: () => ({ value: OLD_SECRET }) },
  },
};

const REGISTRY: OldType = {
  kind: "ContainerRegistryAuth",
  rules: { ...same("name", "username", "password"), ...silent("id", "created_at", "type") },
};

const TERRAFORM_ENDPOINT: OldType = {
  kind: "ServerlessEndpoint",
  rules: {
    ...same("name"),
    template_id: "templateId",
    idle_timeout: "idleTimeout",
    data_center_ids: (ids) => ({ locations: list(ids) }),
    flashboot: flashBoot,
    scaler_type: "scalerType",
    scaler_value: "scalerValue",
    scaling_type: "scalerType",
    scaling_value: "scalerValue",
    workers_min: "workersMin",
    workers_max: "workersMax",
    network_volume_id: "networkVolumeId",
    network_volume_ids: volumes,
    network_volumes: volumes,
    gpu_pools: gpuPools,
    gpu_count: "gpuCount",
    min_cuda_version: "minCudaVersion",
    allowed_cuda_versions: (versions) => ({ allowedCudaVersions: list(versions) }),
    execution_timeout_ms: "executionTimeoutMs",
    timeout: "executionTimeoutMs",
    image: "imageName",
    image_name: "imageName",
    disk: "containerDiskInGb",
    container_disk_in_gb: "containerDiskInGb",
    args: "dockerArgs",
    ports: (ports) => ({ ports: list(ports) }),
    registry: "containerRegistryAuthId",
    env: variables,
    ...silent(
      "id",
      "excluded_types",
      "compute_type",
      "created_at",
      "updated_at",
      "template_version",
      "users",
      "user_id",
    ),
    ...silent("version", "workers", "cloud_type", "status", "request_urls", "type"),
  },
};

const TERRAFORM_TYPES: Readonly<Record<string, OldType>> = {
  runpod_endpoint: TERRAFORM_ENDPOINT,
  runpod_serverless_endpoint: TERRAFORM_ENDPOINT,
  runpod_template: {
    kind: "ServerlessTemplate",
    rules: {
      ...same("name", "readme"),
      image: "imageName",
      image_name: "imageName",
      disk: "containerDiskInGb",
      container_disk_in_gb: "containerDiskInGb",
      args: "dockerArgs",
      docker_start_cmd: startCommand("cmd"),
      docker_entrypoint: startCommand("entrypoint"),
      ports: (ports) => ({ ports: list(ports) }),
      registry: "containerRegistryAuthId",
      container_registry_auth_id: "containerRegistryAuthId",
      env: variables,
      ...silent("id", "serverless", "is_serverless", "public", "is_public", "volume_mount_path", "earned", "is_runpod"),
      ...silent("runtime_in_min", "category", "created_at", "updated_at"),
    },
    obstacle: ({ serverless, is_serverless, public: isPublic, is_public, name }) =>
      templateObstacle(serverless ?? is_serverless, isPublic ?? is_public, name),
  },
  runpod_network_volume: {
    kind: "NetworkVolume",
    rules: {
      ...same("name", "size"),
      data_center_id: "dataCenterId",
      data_center: "dataCenterId",
      type: (type) => (type === "HIGH_PERFORMANCE" ? { highPerformance: true } : {}),
      ...silent("id", "created_at", "updated_at", "used"),
    },
  },
  runpod_registry: REGISTRY,
  runpod_container_registry_auth: REGISTRY,
};

const REASONS: Readonly<Record<string, string>> = {
  Pod: "this package does not manage pods: keep them in the old program, or move them to another tool",
  pod: "this package does not manage pods: keep them in Terraform",
};

/** Returns the resource that replaces an old one, or the reason why there is none. */
export function successorOf(old: OldResource): Successor | LeftOut {
  const known = own({ ...PULUMI_TYPES, ...TERRAFORM_TYPES }, old.type);
  if (!known) {
    const [, word = ""] = /^runpod(?:_|:index:)(.*)$/.exec(old.type) ?? [];
    return { old, reason: own(REASONS, word) ?? `this package has no resource for the type ${old.type}` };
  }
  const { kind, rules, obstacle } = known;
  const reason = old.obstacle ?? obstacle?.(old.attributes);
  if (reason !== undefined) return { old, reason };
  if (old.id === undefined) return { old, reason: "the state does not contain its id at the service" };
  const lost: string[] = [];
  let fields: Properties = {};
  for (const [name, value] of Object.entries(old.attributes)) {
    if (isEmpty(value)) continue;
    const rule = own(rules, name);
    if (typeof rule === "string") fields = { ...fields, [rule]: value };
    else if (typeof rule === "function") fields = { ...fields, ...rule(value, old.attributes) };
    else if (rule === undefined && value !== false && value !== 0) lost.push(name);
  }
  return { kind, old, id: old.id, fields, lost, copies: [] };
}

/** Returns an own property of the table, ignoring its prototype. */
function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The resources that remain after removing duplicates, and what was left out. */
interface Distinct {
  readonly successors: readonly Successor[];
  readonly leftOut: readonly LeftOut[];
}

/** Keeps the first resource for each record, because a program can declare a record only once. */
export function onePerRecord(all: readonly Successor[]): Distinct {
  const keyOf = ({ kind, id }: Successor) => `${kind} ${id}`;
  const firsts = new Map([...all].reverse().map((each) => [keyOf(each), each]));
  const copies = all.filter((each) => firsts.get(keyOf(each)) !== each);
  const leftOut = copies.map((copy) => ({
    old: copy.old,
    reason: `it has the same id as ${firsts.get(keyOf(copy))?.old.address}, and a program can declare a record only once`,
  }));
  const successors = all
    .filter((each) => !copies.includes(each))
    .map((each) => ({
      ...each,
      copies: copies.filter((copy) => keyOf(copy) === keyOf(each)).map(({ old }) => old),
    }));
  return { successors, leftOut };
}

/** Returns `true` for values that both tools write when a setting is not set. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(objectOrEmpty(value)).length === 0;
}
