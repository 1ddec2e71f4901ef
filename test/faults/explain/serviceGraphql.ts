import { type FieldNode, Kind, parse, type SelectionSetNode, type ValueNode } from "graphql";
import { at, type Reply } from "./service";
import { best, cudaHosts, ID, levelIn, PLACES, POOLS, VOLUMES, type Worker, type World } from "./world";

type Arguments = Readonly<Record<string, unknown>>;

/** Answers each field that the query selects, and refuses those that the service does not have. */
export function answerGraphql(world: World, text: string): Reply {
  const { query } = JSON.parse(text) as { query: string };
  const [operation] = parse(query).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`not an operation: ${query}`);
  try {
    return { status: 200, body: { data: project(root(world), operation.selectionSet) } };
  } catch (error) {
    const extensions = { code: "GRAPHQL_VALIDATION_FAILED" };
    return { status: 400, body: { errors: [{ message: (error as Error).message, extensions }] } };
  }
}

function argumentOf(node: ValueNode): unknown {
  if (node.kind === Kind.OBJECT) {
    return Object.fromEntries(node.fields.map((field) => [field.name.value, argumentOf(field.value)]));
  }
  if (node.kind === Kind.LIST) return node.values.map(argumentOf);
  if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return Number(node.value);
  return "value" in node ? node.value : null;
}

function project(value: unknown, selection: SelectionSetNode | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => project(item, selection));
  if (value === null || typeof value !== "object" || !selection) return value;
  return Object.fromEntries(
    selection.selections.map((node) => {
      const { name, alias, arguments: given, selectionSet } = node as FieldNode;
      const source = value as Record<string, unknown>;
      if (!(name.value in source)) throw new Error(`Cannot query field "${name.value}".`);
      const field = source[name.value];
      const args = Object.fromEntries((given ?? []).map((one) => [one.name.value, argumentOf(one.value)]));
      const found = typeof field === "function" ? (field as (args: Arguments) => unknown)(args) : field;
      return [(alias ?? name).value, project(found, selectionSet)];
    }),
  );
}

function root(world: World): Record<string, unknown> {
  return {
    myself: myself(world),
    gpuTypes: ({ input }: Arguments) => gpuTypes(world, input as Arguments | undefined),
    serverlessGpuPools: Object.entries(POOLS).map(([id, gpuTypeIds]) => ({ id, gpuTypeIds })),
    dataCenters: PLACES.map((id) => ({
      id,
      name: id,
      location: id,
      region: id,
      listed: true,
      storageSupport: true,
      globalNetwork: false,
      compliance: [],
      gpuAvailability: ({ input }: Arguments) =>
        Object.values(POOLS)
          .flat()
          .map((type) => {
            const stockStatus = word(levelIn(world, type, id, gpusOf(input), fitting(input as Arguments | undefined)));
            const named = { id: type, gpuTypeId: type, gpuTypeDisplayName: type, displayName: type };
            return { ...named, available: stockStatus !== null, stockStatus };
          }),
    })),
  };
}

const gpusOf = (input: unknown) => Number((input as Arguments | undefined)?.gpuCount ?? 1);

function fitting(input: Arguments | undefined): (version: string) => boolean {
  const floor = input?.minCudaVersion;
  const exact = input?.allowedCudaVersions ?? input?.cudaVersion;
  return (version) => (exact ? String(exact).split(",").includes(version) : !floor || Number(version) >= Number(floor));
}

/** "High", or null for nothing. */
const word = (level: string) => (level === "NONE" ? null : level[0] + level.slice(1).toLowerCase());

function gpuTypes(world: World, input: Arguments | undefined): unknown[] {
  const wanted = (input?.ids ?? (input?.id ? [input.id] : undefined)) as string[] | undefined;
  return Object.values(POOLS)
    .flat()
    .filter((id) => !wanted || wanted.includes(id))
    .map((id) => ({
      id,
      displayName: id,
      manufacturer: "NVIDIA",
      memoryInGb: 24,
      secureCloud: true,
      communityCloud: false,
      securePrice: 1,
      communityPrice: 1,
      maxGpuCount: 8,
      maxGpuCountSecureCloud: 8,
      maxGpuCountCommunityCloud: 8,
      lowestPrice: ({ input: asked }: Arguments) => lowestPrice(world, id, asked as Arguments | undefined),
    }));
}

function lowestPrice(world: World, id: string, asked: Arguments | undefined): unknown {
  const only = asked?.dataCenterId as string | undefined;
  const level = (place: string) => levelIn(world, id, place, gpusOf(asked), fitting(asked));
  const whole = only ? level(only) : (world.topLevel ?? best(PLACES.map(level)));
  const availabilityOf = (isFree: boolean) => (isFree ? "AVAILABLE" : "UNAVAILABLE");
  return {
    stockStatus: word(whole),
    uninterruptablePrice: 1,
    minimumBidPrice: 1,
    availableGpuCounts: [1, 2, 4].filter((count) => count <= (world.largestFree ?? 8)),
    maxUnreservedGpuCount: world.largestFree ?? 8,
    gpuTypeDatacenters: PLACES.map((dataCenterId) => {
      const availability = availabilityOf(level(dataCenterId) !== "NONE");
      return { dataCenterId, supportNetworkVolumes: true, availability };
    }),
    gpuTypeCudaVersions: Object.entries(cudaHosts(world)).map(([cudaVersion, isFree]) => {
      return { cudaVersion, availability: availabilityOf(isFree) };
    }),
  };
}

function myself(world: World): Record<string, unknown> {
  const { limits = {}, secrets = [] } = world;
  const hasOwn = world.absent === undefined || world.absent === "single";
  const own = hasOwn ? [record(world, ID, world.max ?? 3)] : [];
  const others = (world.others ?? []).map((max, index) => record({}, `other${index}`, max));
  const crowd = Array.from({ length: world.crowd ?? 0 }, (_, index) => record({}, `crowd${index}`, 0));
  return {
    id: "user_1",
    endpoints: [...own, ...others, ...crowd],
    endpoint: ({ id }: Arguments) =>
      id === ID && (world.absent === undefined || world.absent === "list") ? record(world, ID, world.max ?? 3) : null,
    secrets: secrets.map((name) => ({
      id: `s-${name}`,
      name,
      description: null,
      createdAt: at(world, 9e4),
      updatedAt: at(world, 9e4),
    })),
    networkVolumes: VOLUMES.map((volume) => ({ ...volume, storageType: "STANDARD" })),
    podTemplates: [],
    containerRegistryCreds: [],
    pods: [],
    spendLimit: limits.spendLimit ?? 80,
    currentSpendPerHr: limits.spend ?? 1,
    clientBalance: limits.balance ?? 50,
    minBalance: 0,
    underBalance: limits.underBalance ?? false,
    maxServerlessConcurrency: limits.quota ?? 30,
    machineQuota: 0,
    serverlessDiscount: null,
    spendDetails: { localStoragePerHour: 0, networkStoragePerHour: 0, gpuComputePerHour: limits.spend ?? 1 },
  };
}

const pairs = (env: World["env"]) => Object.entries(env ?? { TOKEN: "x" }).map(([key, value]) => ({ key, value }));

function record(world: World, id: string, workersMax: number): Record<string, unknown> {
  const [scalerType, scalerValue] = world.scaler ?? ["QUEUE_DELAY", 4];
  const excluded = (world.excluded ?? []).map((type) => `-${type}`);
  const volumes = (world.volumes ?? []).map((networkVolumeId) => {
    return { networkVolumeId, dataCenterId: VOLUMES.find((volume) => volume.id === networkVolumeId)?.dataCenterId };
  });
  return {
    id,
    name: id === ID ? "llama" : `other-${id}`,
    gpuIds: world.cpu ? "" : [...(world.pools ?? ["ADA_24"]), ...excluded].join(","),
    instanceIds: world.cpu ? ["cpu3g-4-16"] : null,
    computeType: world.cpu ? "CPU" : "GPU",
    gpuCount: world.gpuCount ?? 1,
    templateId: "tpl",
    template: { id: "tpl", imageName: "me/llama:3", env: pairs(world.env), containerRegistryAuthId: null },
    env: [],
    workersMin: world.min ?? 0,
    workersMax,
    workersStandby: world.min ?? 0,
    idleTimeout: 5,
    scalerType,
    scalerValue,
    locations: (world.places ?? []).join(",") || null,
    flashBootType: null,
    networkVolumeId: world.volumes?.[0] ?? null,
    networkVolumeIds: volumes,
    minCudaVersion: world.minCuda ?? null,
    allowedCudaVersions: (world.cudas ?? []).join(",") || null,
    type: world.kind === "LOAD_BALANCER" ? "LB" : "QB",
    version: world.version ?? 3,
    compliance: null,
    executionTimeoutMs: 600000,
    createdAt: at(world, 9e5),
    pods: (world.workers ?? []).map((worker) => pod(world, worker)),
  };
}

function pod(world: World, { id, status, stale, up }: Worker): Record<string, unknown> {
  const version = world.version ?? 3;
  const isUp = status === "RUNNING" || status === "IDLE";
  return {
    id,
    desiredStatus: status === "THROTTLED" ? "CREATED" : "RUNNING",
    slsVersion: stale ? version - 1 : version,
    aiApiId: ID,
    uptimeSeconds: isUp ? (up ?? 0) : 0,
    imageName: "me/llama:3",
    lastStatusChange: "",
  };
}
