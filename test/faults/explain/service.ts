import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerGraphql } from "./serviceGraphql";
import {
  best,
  counts,
  cudaHosts,
  ID,
  KEY,
  levelIn,
  PLACES,
  POOLS,
  type Route,
  VOLUMES,
  type Worker,
  type World,
} from "./world";

/** A stand-in of the service that shows one world. It shares no code with the emulator. */
export interface Service {
  readonly url: string;
  /** "GET /v2/serverless/…", in their order. */
  readonly requests: string[];
  close(): Promise<void>;
}

export async function serve(world: World): Promise<Service> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://stand-in");
      requests.push(`${request.method} ${url.pathname}${url.pathname === "/graphql" ? ` ${text}` : url.search}`);
      const reply = replyTo(world, url, request, text);
      if (reply) send(response, reply);
      else sendLog(world, url, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A status with JSON, or with a page. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly html?: string;
}

function send(response: ServerResponse, { status, body, html }: Reply): void {
  if (html !== undefined) {
    response.writeHead(status, { "content-type": "text/html" }).end(html);
    return;
  }
  const type = status < 400 ? "application/json" : "application/problem+json";
  response.writeHead(status, { "content-type": type }).end(JSON.stringify(body ?? { title: "Error", status }));
}

const NOT_FOUND = { status: 404, body: { title: "Not Found", status: 404, detail: "resource not found" } };
const WRONG_KEY = { status: 401, body: { title: "Unauthorized", status: 401, detail: "invalid api key" } };

/** Undefined: the reply is a log's stream. */
function replyTo(world: World, url: URL, request: IncomingMessage, text: string): Reply | undefined {
  const route = routeOf(url.pathname);
  const fault = route && (world.faults?.[route] ?? (route === "health" ? undefined : world.faults?.management));
  if (fault) return fault;
  if (route !== "graphql" && request.headers.authorization !== `Bearer ${KEY}`) return WRONG_KEY;
  if (route === undefined || route === "management") return NOT_FOUND;
  if (route === "graphql") return answerGraphql(world, text);
  if (isMissing(world, route)) return NOT_FOUND;
  return route === "logs" ? undefined : { status: 200, body: bodies(world, url)[route]() };
}

function isMissing({ absent }: World, route: Route): boolean {
  if (absent === "single") return route === "endpoint";
  if (absent === "management") return ["endpoint", "workers", "releases", "logs"].includes(route);
  return absent === "everywhere" && ["endpoint", "workers", "releases", "logs", "health"].includes(route);
}

function routeOf(path: string): Route | undefined {
  if (path === "/graphql") return "graphql";
  if (path === `/v2/${ID}/health`) return "health";
  if (path === "/v2/serverless") return "list";
  if (path === `/v2/serverless/${ID}`) return "endpoint";
  if (path === `/v2/serverless/${ID}/workers`) return "workers";
  if (path === `/v2/serverless/${ID}/releases`) return "releases";
  if (path.startsWith(`/v2/serverless/${ID}/workers/`)) return "logs";
  if (path === "/v2/account/limits") return "limits";
  if (path === "/v2/account/secrets") return "secrets";
  if (path === "/v2/network-volumes") return "volumes";
  if (path.startsWith("/v2/catalog/gpus")) return "gpus";
  if (path.startsWith("/v2/catalog/cpus")) return "cpus";
  return undefined;
}

function bodies(world: World, url: URL): Record<Exclude<Route, "graphql" | "management" | "logs">, () => unknown> {
  return {
    endpoint: () => endpoint(world),
    list: () => ({ endpoints: listed(world), pagination: { nextCursor: null, hasNextPage: false } }),
    workers: () => ({
      endpointVersion: world.version ?? 3,
      summary: { ...counts(world), total: world.workers?.length ?? 0, ...world.summary },
      workers: (world.workers ?? []).map((worker) => workerRecord(world, worker)),
    }),
    releases: () => releases(world),
    health: () => world.health ?? health(world),
    limits: () => ({
      spendRate: { limit: world.limits?.spendLimit ?? 80, current: world.limits?.spend ?? 1 },
      serverlessWorkers: { limit: world.limits?.quota ?? 30, current: workersOfAll(world) },
    }),
    secrets: () => ({
      secrets: (world.secrets ?? []).map((name) => ({ id: `s-${name}`, name, createdAt: at(world, 9e4) })),
    }),
    volumes: () => ({ networkVolumes: VOLUMES.map((volume) => ({ ...volume, dataCenter: volume.dataCenterId })) }),
    gpus: () => ({ gpus: gpus(world, url.searchParams) }),
    cpus: () => ({ cpus: [] }),
  };
}

export function workersOfAll(world: World): number {
  return (world.max ?? 3) + (world.others ?? []).reduce((sum, max) => sum + max, 0);
}

export function at(world: World, secondsAgo: number): string {
  return new Date(Date.now() + ((world.clockAhead ?? 0) - secondsAgo) * 1000).toISOString();
}

function endpoint(world: World, id = ID, max = world.max ?? 3): Record<string, unknown> {
  const [type, value] = world.scaler ?? ["QUEUE_DELAY", 4];
  const gpu = {
    pools: world.pools ?? ["ADA_24"],
    excludedTypes: world.excluded ?? [],
    count: world.gpuCount ?? 1,
    allowedCudaVersions: world.cudas ?? [],
    minCudaVersion: world.minCuda ?? null,
  };
  return {
    id,
    name: id === ID ? "llama" : `other-${id}`,
    type: world.kind ?? "QUEUE",
    gpu: world.cpu ? null : gpu,
    ...(world.cpu && { cpu: [{ id: "cpu3g", vcpuCount: 4, memory: 16 }] }),
    workers: { min: world.min ?? 0, max, ...(type === "QUEUE_DELAY" && { idleTimeout: 5 }) },
    scaling: type === "QUEUE_DELAY" ? { type, queueDelay: value } : { type, requestCount: value },
    dataCenterIds: world.places ?? [],
    networkVolumes: world.volumes ?? [],
    timeout: 600000,
    flashboot: "OFF",
    image: "me/llama:3",
    args: "",
    disk: 20,
    ports: [],
    env: world.env ?? { TOKEN: "x" },
    registry: null,
    createdAt: at(world, 9e5),
  };
}

function listed(world: World): unknown[] {
  const others = (world.others ?? []).map((max, index) => endpoint({}, `other${index}`, max));
  const crowd = Array.from({ length: world.crowd ?? 0 }, (_, index) => endpoint({}, `crowd${index}`, 0));
  const own = world.absent === undefined || world.absent === "single" ? [endpoint(world)] : [];
  return [...own, ...others, ...crowd];
}

function workerRecord(world: World, { id, status, stale, up, place }: Worker): Record<string, unknown> {
  const version = world.version ?? 3;
  return {
    id,
    status,
    isStale: stale ?? false,
    version: stale ? version - 1 : version,
    gpuCount: world.cpu ? 0 : 1,
    image: "me/llama:3",
    ...(up !== undefined && { uptimeSeconds: up, startedAt: at(world, up) }),
    dataCenterId: place ?? "EU-RO-1",
  };
}

function releases(world: World): unknown {
  const total = world.workers?.length ?? 0;
  const { inProgress, onLatest, total: shown } = world.rollout ?? { inProgress: false, onLatest: total, total };
  const percentOnLatest = shown === 0 ? 0 : Math.round((100 * onLatest) / shown);
  const release = { id: "r3", version: world.version ?? 3, source: "MANUAL", buildId: null, createdByUserId: "u" };
  return {
    endpointVersion: world.version ?? 3,
    rollout: { inProgress, workersOnLatest: onLatest, workersTotal: shown, percentOnLatest },
    releases: [
      { ...release, workerCount: total, createdAt: at(world, 300), diff: [{ field: "image", old: "a", new: "b" }] },
    ],
    pagination: { nextCursor: null, hasNextPage: false },
  };
}

function health(world: World): unknown {
  const { idle, ...rest } = counts(world);
  const jobs = { completed: 10, failed: 0, inProgress: 0, inQueue: 0, retried: 0, ...world.jobs };
  return { jobs, workers: { idle, ready: idle, ...rest, ...world.counted } };
}

function sendLog(world: World, url: URL, response: ServerResponse): void {
  const id = url.pathname.split("/")[5];
  const worker = world.workers?.find((one) => one.id === id);
  if (!worker) {
    send(response, NOT_FOUND);
    return;
  }
  const source = url.searchParams.get("source");
  const tail = Number(url.searchParams.get("tail") ?? 100);
  const wanted = (worker.log ?? []).filter((line) => !source || line[1] === source).slice(-tail);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const [ago, from, line] of wanted) {
    const ts = at(world, ago);
    response.write(`id: ${ts}\ndata: ${JSON.stringify({ source: from, line, ts })}\n\n`);
  }
  if (!world.openStream) response.end();
}

function gpus(world: World, query: URLSearchParams): unknown[] {
  const asked = query.has("include");
  const exact = query.get("cudaVersions")?.split(",");
  const floor = query.get("minCudaVersion");
  const fits = (version: string) =>
    exact ? exact.includes(version) : floor === null || Number(version) >= Number(floor);
  return Object.entries(POOLS).flatMap(([pool, types]) =>
    types.map((id) => {
      const dataCenters = PLACES.map((place) => {
        const availability = levelIn(world, id, place, Number(query.get("count") ?? 1), fits);
        return { id: place, name: place, availability };
      }).filter(({ availability }) => availability !== "NONE");
      const availability = world.topLevel ?? best(dataCenters.map((place) => place.availability));
      const cudaVersions = Object.entries(cudaHosts(world)).map(([version, available]) => ({ version, available }));
      const price = { secure: 1, community: 1, serverless: 1.12 };
      const known = { id, name: id, pool, manufacturer: "NVIDIA", memory: 24, secure: true, community: false, price };
      return {
        ...known,
        maxCount: { secure: 8, community: 8 },
        ...(asked && { availability, dataCenters, cudaVersions }),
      };
    }),
  );
}
