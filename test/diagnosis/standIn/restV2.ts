import { dataCentersReply, gpusReply, type Reply } from "./catalog";
import { PLANTED, type Worker, type World } from "./world";

const NOT_FOUND: Reply = { status: 404, body: { title: "Not Found", status: 404, detail: "resource not found" } };

const ok = (body: unknown): Reply => ({ status: 200, body });

/** Answers a read of REST v2, except for logs. `path` begins below `/v2`. */
export function restV2Reply(world: World, path: string, query: URLSearchParams): Reply {
  const [kind, id, part] = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (kind === "catalog" && id === "gpus") return gpusReply(world, query, part);
  if (kind === "catalog" && id === "datacenters") return dataCentersReply(world, query);
  if (kind === "catalog" && id === "cpus") return ok({ cpus: [] });
  if (kind === "account" && id === "limits") return ok(world.account.limits ?? limits(world));
  if (kind === "account" && id === "secrets") return ok({ secrets: world.secrets.map(secretOf) });
  if (kind === "network-volumes") return volumesReply(world, id);
  if (kind !== "serverless") return NOT_FOUND;
  const all = [
    ...(world.exists ? [endpointOf(world)] : []),
    ...world.others.map((max, index) => otherOf(world, index, max)),
  ];
  if (id === undefined) return ok({ endpoints: all, pagination: { nextCursor: null, hasNextPage: false } });
  const endpoint = all.find((each) => each.id === id);
  if (!endpoint) return NOT_FOUND;
  if (part === undefined) return ok(endpoint);
  if (part === "workers") return ok(workersOf(world));
  if (part === "releases") return ok(releasesOf(world));
  return part === "builds" ? ok({ builds: [] }) : NOT_FOUND;
}

/** The inner names are not published. These are a guess. */
function limits({ account, endpoint, others }: World) {
  return {
    spendRate: { limitPerHour: account.spendLimit, currentPerHour: account.currentSpend },
    serverlessWorkers: { limit: account.quota, used: endpoint.max + others.reduce((sum, max) => sum + max, 0) },
  };
}

const secretOf = (name: string) => ({ id: `sec-${name}`, name, createdAt: "2026-10-01T10:00:00Z" });

function volumesReply({ volumes }: World, id: string | undefined): Reply {
  const all = Object.entries(volumes).map(([each, dataCenterId]) => ({
    id: each,
    name: each,
    size: 50,
    dataCenter: dataCenterId,
    type: "STANDARD",
  }));
  if (id === undefined) return ok({ networkVolumes: all });
  const one = all.find((each) => each.id === id);
  return one ? ok(one) : NOT_FOUND;
}

function endpointOf({ endpoint, endpointId, volumes }: World) {
  const isByDelay = endpoint.scalerType === "QUEUE_DELAY";
  return {
    id: endpointId,
    name: "llama",
    type: endpoint.type,
    timeout: 600_000,
    flashboot: "OFF",
    requestUrls: { health: `https://queue.example/v2/${endpointId}/health` },
    ...(endpoint.isCpu
      ? { cpu: [{ id: "cpu3g", vcpuCount: 4, memory: 16 }] }
      : {
          gpu: {
            pools: endpoint.pools,
            excludedTypes: endpoint.excludedTypes,
            count: endpoint.gpuCount,
            allowedCudaVersions: endpoint.allowedCudaVersions,
            minCudaVersion: endpoint.minCudaVersion,
          },
        }),
    workers: { min: endpoint.min, max: endpoint.max, ...(isByDelay && { idleTimeout: 5 }) },
    scaling: isByDelay
      ? { type: "QUEUE_DELAY", queueDelay: endpoint.scalerValue }
      : { type: "REQUEST_COUNT", requestCount: endpoint.scalerValue },
    dataCenterIds: endpoint.dataCenterIds,
    networkVolumes: Object.keys(volumes),
    image: endpoint.image,
    args: "",
    disk: 20,
    ports: [],
    env: endpoint.env,
    registry: null,
    createdAt: "2026-10-01T10:00:00Z",
  };
}

function otherOf(world: World, index: number, max: number) {
  return { ...endpointOf(world), id: `other${index}`, name: `other ${index}`, workers: { min: 0, max } };
}

function workersOf({ workers, endpoint }: World) {
  const count = (status: string) => workers.filter((each) => each.status === status).length;
  return {
    workers: workers.map((each) => workerOf(each, endpoint)),
    summary: {
      running: count("RUNNING"),
      idle: count("IDLE"),
      initializing: count("INITIALIZING"),
      throttled: count("THROTTLED"),
      unhealthy: count("UNHEALTHY"),
      total: workers.length,
    },
    endpointVersion: endpoint.version,
  };
}

function workerOf(
  { id, status, age, isStale, gpuTypeId, dataCenterId }: Worker,
  { version, image }: World["endpoint"],
) {
  return {
    id,
    status,
    isStale,
    version: version - (isStale ? 1 : 0),
    gpuCount: 1,
    ...(age !== null && {
      uptimeSeconds: age,
      startedAt: new Date(Date.now() - age * 1000).toISOString(),
      image,
      gpuTypeId,
      dataCenterId,
    }),
  };
}

function releasesOf({ workers, rollout, endpoint }: World) {
  const latest = workers.filter(({ isStale }) => !isStale).length;
  const change = (field: string, old: unknown, value: unknown) => ({ field, old, new: value });
  return {
    endpointVersion: endpoint.version,
    rollout: {
      inProgress: latest < workers.length,
      workersOnLatest: latest,
      workersTotal: workers.length,
      percentOnLatest: workers.length === 0 ? 0 : Math.round((100 * latest) / workers.length),
      ...rollout,
    },
    releases: [
      {
        id: "rel7",
        version: endpoint.version,
        source: "MANUAL",
        buildId: null,
        createdByUserId: "user1",
        workerCount: workers.length,
        createdAt: new Date(Date.now() - 90_000).toISOString(),
        diff: [
          change("template.env", { HF_TOKEN: PLANTED.oldVariable }, { HF_TOKEN: PLANTED.variable }),
          change("template.dockerArgs", "", `--token ${PLANTED.oldVariable}`),
          change("template.imageName", "example/llama:2", endpoint.image),
        ],
      },
    ],
    pagination: { nextCursor: null, hasNextPage: false },
  };
}
