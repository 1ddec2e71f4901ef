import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from "graphql";
import { graphqlCatalog, type Reply } from "./catalog";
import { PLANTED, type Worker, type World } from "./world";

type Fields = Readonly<Record<string, unknown>>;

class UnknownField extends Error {}

/** What one document asked for and must not have. */
export interface Asked {
  readonly violations: string[];
  readonly unknownFields: string[];
}

/**
 * Answers a document without a schema: each field is looked up in plain objects. A field that is
 * not in the published facts is refused as the service refuses it.
 */
export function graphqlReply(world: World, body: string, hasKey: boolean, asked: Asked): Reply {
  const { query, variables = {} } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
  const { definitions } = parse(query);
  const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION);
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (operation?.operation !== "query") asked.violations.push("a mutation");
  const catalog = world.isContractOnly ? {} : graphqlCatalog(world);
  const root = { ...catalog, myself: hasKey ? myself(world) : null };
  try {
    if (!operation) throw new UnknownField("no operation");
    const walk = { fragments, variables, asked };
    return { status: 200, body: { data: pick(walk, root, operation.selectionSet, "Query") } };
  } catch (error) {
    if (!(error instanceof UnknownField)) throw error;
    asked.unknownFields.push(error.message);
    const extensions = { code: "GRAPHQL_VALIDATION_FAILED" };
    return { status: 400, body: { errors: [{ message: error.message, extensions }] } };
  }
}

interface Walk {
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly asked: Asked;
}

function pick(walk: Walk, source: unknown, selection: SelectionSetNode, type: string): unknown {
  if (Array.isArray(source)) return source.map((each) => pick(walk, each, selection, type));
  if (source === null || typeof source !== "object") return source;
  const picked: Record<string, unknown> = {};
  for (const node of selection.selections) {
    if (node.kind === Kind.FIELD) {
      picked[node.alias?.value ?? node.name.value] = field(walk, source as Fields, node, type);
      continue;
    }
    const inner =
      node.kind === Kind.INLINE_FRAGMENT
        ? node.selectionSet
        : walk.fragments.find(({ name }) => name.value === node.name.value)?.selectionSet;
    if (inner) Object.assign(picked, pick(walk, source, inner, type));
  }
  return picked;
}

function field(walk: Walk, source: Fields, node: FieldNode, type: string): unknown {
  const name = node.name.value;
  if (name === "__typename") return type;
  // Every worker's variables hold its key.
  if (type === "pods" && name === "env") walk.asked.violations.push("the variables of pods");
  const found = source[name];
  if (found === undefined) throw new UnknownField(`Cannot query field "${name}" on type "${type}".`);
  const args = Object.fromEntries(
    (node.arguments ?? []).map((each) => [each.name.value, valueFromASTUntyped(each.value, walk.variables)]),
  );
  const value = typeof found === "function" ? found(args) : found;
  return node.selectionSet ? pick(walk, value ?? null, node.selectionSet, name) : value;
}

function myself(world: World) {
  const { account, exists, others } = world;
  const own = exists ? [endpointOf(world)] : [];
  if (world.isContractOnly) return { endpoints: own.map(inContract), serverlessDiscount: null };
  const neighbors = others.map((max, index) => ({
    ...endpointOf(world),
    id: `other${index}`,
    workersMax: max,
    pods: [],
  }));
  return {
    id: "user1",
    endpoints: [...neighbors, ...own],
    endpoint: ({ id }: { id: string }) =>
      world.faults.single === 404 ? null : ([...neighbors, ...own].find((each) => each.id === id) ?? null),
    secrets: world.secrets.map((name) => ({
      id: `sec-${name}`,
      name,
      description: null,
      createdAt: "2026-10-01T10:00:00Z",
      updatedAt: "2026-10-01T10:00:00Z",
    })),
    serverlessDiscount: null,
    networkVolumes: Object.entries(world.volumes).map(([id, dataCenterId]) => ({
      id,
      name: id,
      size: 50,
      dataCenterId,
      storageType: null,
      dataCenter: { id: dataCenterId, name: dataCenterId },
    })),
    maxServerlessConcurrency: account.quota,
    machineQuota: 0,
    spendLimit: account.spendLimit,
    currentSpendPerHr: account.currentSpend,
    clientBalance: account.balance,
    minBalance: 0,
    underBalance: account.underBalance,
    spendDetails: { localStoragePerHour: 0, networkStoragePerHour: 0, gpuComputePerHour: account.currentSpend },
  };
}

const CONTRACT = [
  "id",
  "name",
  "gpuIds",
  "templateId",
  "idleTimeout",
  "locations",
  "flashBootType",
  "scalerType",
  "scalerValue",
  "workersMin",
  "workersMax",
  "networkVolumeId",
];

/** The fields that the service's public documentation names. */
function inContract(endpoint: Fields & { readonly pods: readonly { readonly desiredStatus: string }[] }) {
  return {
    ...Object.fromEntries(CONTRACT.map((name) => [name, endpoint[name]])),
    id: String(endpoint.id),
    pods: endpoint.pods.map(({ desiredStatus }) => ({ desiredStatus })),
  };
}

function endpointOf(world: World) {
  const { endpoint, volumes } = world;
  const ids = Object.keys(volumes);
  const env = Object.entries(endpoint.env).map(([key, value]) => ({ key, value }));
  const orNull = (list: readonly string[]) => (list.length > 0 ? list.join(",") : null);
  return {
    id: world.endpointId,
    name: "llama",
    userId: "user1",
    version: endpoint.version,
    computeType: endpoint.isCpu ? "CPU" : "GPU",
    gpuIds: endpoint.isCpu ? "" : [...endpoint.pools, ...endpoint.excludedTypes.map((type) => `-${type}`)].join(","),
    gpuCount: endpoint.isCpu ? null : endpoint.gpuCount,
    workersMin: endpoint.min,
    workersMax: endpoint.max,
    idleTimeout: 5,
    scalerType: endpoint.scalerType,
    scalerValue: endpoint.scalerValue,
    locations: orNull(endpoint.dataCenterIds),
    dataCenterIds: endpoint.dataCenterIds,
    networkVolumeId: ids[0] ?? null,
    networkVolume: ids[0] === undefined ? null : { id: ids[0], name: ids[0], size: 50, dataCenterId: volumes[ids[0]] },
    networkVolumeIds: ids.map((id) => ({ networkVolumeId: id, dataCenterId: volumes[id] })),
    executionTimeoutMs: 600_000,
    flashBootType: null,
    minCudaVersion: endpoint.minCudaVersion,
    allowedCudaVersions: orNull(endpoint.allowedCudaVersions),
    type: endpoint.type === "QUEUE" ? "QB" : "LB",
    instanceIds: endpoint.isCpu ? ["cpu3g-4-16"] : null,
    modelReferences: [],
    workersPFBTarget: 0,
    workersStandby: 0,
    compliance: endpoint.compliance,
    env,
    flashEnvironmentId: null,
    repo: null,
    hubRelease: null,
    activeBuildid: null,
    idePodId: null,
    createdAt: "2026-10-01T10:00:00Z",
    templateId: "tpl1",
    template: templateOf(world, env),
    aiKey: PLANTED.workerKey,
    pods: world.workers.map((each) => podOf(world, each)),
    workerState: () => [workerState(world)],
    webhookRequests: () => [],
  };
}

function templateOf({ endpoint, endpointId }: World, env: unknown) {
  return {
    id: "tpl1",
    name: "llama",
    imageName: endpoint.image,
    dockerArgs: "",
    containerDiskInGb: 20,
    volumeInGb: 0,
    volumeMountPath: "",
    ports: "",
    env,
    containerRegistryAuthId: null,
    isServerless: true,
    isPublic: false,
    readme: "",
    category: "NVIDIA",
    startSsh: false,
    startJupyter: false,
    boundEndpointId: endpointId,
  };
}

/** GraphQL shows what a worker should do, not what it does: every live one should run. */
function podOf(world: World, { id, status, age, isStale, gpuTypeId, dataCenterId }: Worker) {
  const isStarting = status === "INITIALIZING" || status === "THROTTLED";
  return {
    id,
    desiredStatus: "RUNNING",
    slsVersion: world.endpoint.version - (isStale ? 1 : 0),
    aiApiId: world.endpointId,
    imageName: world.endpoint.image,
    uptimeSeconds: isStarting ? 0 : age,
    lastStatusChange: `Rented by User: ${new Date(Date.now() - (age ?? 0) * 1000).toString()}`,
    machine: { gpuTypeId, dataCenterId, location: dataCenterId.slice(0, 2) },
    runtime: isStarting ? null : { uptimeInSeconds: age },
    latestTelemetry: null,
    env: [{ key: "RUNPOD_AI_API_KEY", value: PLANTED.workerKey }],
  };
}

function workerState({ workers }: World) {
  const count = (...statuses: readonly string[]) => workers.filter(({ status }) => statuses.includes(status)).length;
  return {
    time: new Date().toISOString(),
    initialized: count("RUNNING", "IDLE"),
    ready: count("IDLE"),
    running: count("RUNNING"),
    throttled: count("THROTTLED"),
  };
}
