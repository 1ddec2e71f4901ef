import * as z from "zod";
import type { DiagnosisCalls, ReadWorkers } from "../diagnosis/calls";
import type { EndpointFacts, WorkerFacts } from "../diagnosis/evidence";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { flag, number, text, texts } from "../transport/looseFields";
import { pathOf } from "./requests";
import { type RestV2Transport, requestV2 } from "./transport";

// Everything is optional: a diagnosis must work on what there is.

const part = <T extends z.ZodRawShape>(shape: T) => z.looseObject(shape).nullish().catch(undefined);

const endpointSchema = z.looseObject({
  name: text,
  type: text,
  workers: z.looseObject({ min: number, max: number }),
  scaling: part({ type: text, queueDelay: number, requestCount: number }),
  gpu: part({ pools: texts, excludedTypes: texts, count: number, allowedCudaVersions: texts, minCudaVersion: text }),
  dataCenterIds: texts,
  networkVolumes: z
    .array(z.union([z.string(), z.looseObject({ id: text, networkVolumeId: text })]))
    .nullish()
    .catch(undefined),
  env: z.record(z.string(), z.string()).nullish().catch(undefined),
});

const workerSchema = z.looseObject({
  ...{ id: z.string(), status: text, isStale: flag, uptimeSeconds: number, startedAt: text },
});
const summarySchema = part({
  running: number,
  idle: number,
  initializing: number,
  throttled: number,
  unhealthy: number,
});
const workersSchema = z.looseObject({ workers: z.array(workerSchema).nullish(), summary: summarySchema });

const releasesSchema = z.looseObject({
  rollout: part({ inProgress: flag, workersOnLatest: number, workersTotal: number }),
  releases: z
    .array(
      z.looseObject({
        createdAt: text,
        // The values of a change can be secret, so only names are kept.
        diff: z.array(z.looseObject({ field: z.string() }).transform(({ field }) => field)).catch([]),
      }),
    )
    .nullish()
    .catch(undefined),
});

const usedSchema = z.looseObject({
  endpoints: z.array(z.looseObject({ id: text, workers: part({ max: number }) })),
  pagination: part({ hasNextPage: flag, nextCursor: text }),
});

/** The states of a worker, the ones whose log says most first. */
const STATES = ["UNHEALTHY", "INITIALIZING", "RUNNING", "THROTTLED", "IDLE"] as const;

/**
 * Returns the requests over REST v2: `GET /serverless/{id}`, `GET /serverless/{id}/workers`,
 * `GET /serverless/{id}/releases?limit=1` and the first page of `GET /serverless`.
 */
export function v2DiagnosisCalls(transport: RestV2Transport): DiagnosisCalls {
  const get = (name: string, operation: string, path: string, attempt: Attempt, query = {}) =>
    requestV2(transport, { name, operation, method: "GET", path, query }, attempt);
  const endpointPath = (id: string) => pathOf({ path: "/serverless" }, id);
  return {
    source: "REST v2",
    async endpoint(operation, id, attempt) {
      const response = await get("getEndpoint", operation, endpointPath(id), attempt);
      const raw = decode(endpointSchema, response, operation);
      return { facts: factsOf(raw), pods: undefined, env: raw.env ?? {} };
    },
    async workers(operation, id, now, attempt) {
      const response = await get("listWorkers", operation, `${endpointPath(id)}/workers`, attempt);
      return workersIn(decode(workersSchema, response, operation), now);
    },
    async releases(operation, id, attempt) {
      const response = await get("listReleases", operation, `${endpointPath(id)}/releases`, attempt, { limit: "1" });
      const { rollout, releases } = decode(releasesSchema, response, operation);
      const latest = releases?.[0];
      return {
        inProgress: rollout?.inProgress ?? false,
        ...{ workersOnLatest: rollout?.workersOnLatest ?? 0, workersTotal: rollout?.workersTotal ?? 0 },
        ...{ changed: [...new Set(latest?.diff)], releasedAt: latest?.createdAt },
      };
    },
    async isListed(operation, id, attempt) {
      const response = await get("listEndpoints", operation, "/serverless", attempt);
      const { endpoints, pagination } = decode(usedSchema, response, operation);
      return endpoints.some((each) => each.id === id) || (hasMore(pagination) ? undefined : false);
    },
    async workersUsed(operation, attempt) {
      const response = await get("listEndpoints", operation, "/serverless", attempt);
      const { endpoints, pagination } = decode(usedSchema, response, operation);
      return hasMore(pagination) ? undefined : endpoints.reduce((sum, { workers }) => sum + (workers?.max ?? 0), 0);
    },
  };
}

/** Returns `true` if the list goes on after the page: it then does not show what is missing. */
function hasMore(pagination: z.infer<typeof usedSchema>["pagination"]): boolean {
  return pagination?.hasNextPage ?? Boolean(pagination?.nextCursor);
}

function factsOf(raw: z.infer<typeof endpointSchema>): EndpointFacts {
  const { name, type, workers, scaling, gpu, dataCenterIds, networkVolumes } = raw;
  const excluded = (gpu?.excludedTypes ?? []).map((id) => `-${id}`);
  const volumeIds = (networkVolumes ?? []).flatMap((volume) =>
    typeof volume === "string" ? volume : (volume.id ?? volume.networkVolumeId ?? []),
  );
  return {
    ...{ name, isLoadBalancer: type === "LOAD_BALANCER" },
    ...{ workersMin: workers.min ?? 0, workersMax: workers.max ?? Number.POSITIVE_INFINITY },
    ...{ scalerType: scaling?.type, scalerValue: scaling?.queueDelay ?? scaling?.requestCount },
    ...{ gpuIds: [...(gpu?.pools ?? []), ...excluded].join(","), gpuCount: gpu?.count ?? 1 },
    locations: (dataCenterIds ?? []).join(","),
    ...{ minCudaVersion: gpu?.minCudaVersion ?? "", allowedCudaVersions: (gpu?.allowedCudaVersions ?? []).join(",") },
    // REST v2 does not show the labels.
    ...{ volumeIds, compliance: [] },
  };
}

function workersIn({ workers: given, summary }: z.infer<typeof workersSchema>, now: number): ReadWorkers {
  const workers = given ?? [];
  const stateOf = ({ status }: { status?: string | undefined }) => status?.toUpperCase() ?? "";
  const listed = (state: string) => workers.filter((worker) => stateOf(worker) === state.toUpperCase()).length;
  // Each state has both: the summary counts the workers of the list.
  const count = (state: keyof NonNullable<typeof summary>) =>
    given ? listed(String(state)) : Number(summary?.[state] ?? 0);
  const starting = workers
    .filter((worker) => stateOf(worker) === "INITIALIZING")
    .flatMap(({ uptimeSeconds, startedAt }) => {
      const at = startedAt === undefined ? Number.NaN : Date.parse(startedAt);
      const ms = Number.isNaN(at) ? (uptimeSeconds ?? Number.NaN) * 1000 : now - at;
      return Number.isNaN(ms) ? [] : [ms];
    });
  const states = { running: count("running"), idle: count("idle"), initializing: count("initializing") };
  const others = { throttled: count("throttled"), unhealthy: count("unhealthy") };
  const facts: WorkerFacts = {
    ...{ ...states, ...others, total: Math.max(workers.length, total({ ...states, ...others })) },
    stale: workers.filter(({ isStale }) => isStale === true).length,
    startingMs: starting.length > 0 ? Math.max(...starting) : undefined,
    isListed: true,
  };
  const logOrder: readonly string[] = STATES;
  const order = (worker: { status?: string | undefined }) => {
    const index = logOrder.indexOf(stateOf(worker));
    return index < 0 ? logOrder.length : index;
  };
  return { facts, ids: [...workers].sort((one, other) => order(one) - order(other)).map(({ id }) => id) };
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}
