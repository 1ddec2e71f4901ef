import type { Endpoint, Endpoints } from "../endpoints/endpoints";
import type { Worker } from "../workers/worker";
import type { LogFilter, LoggedLine, WorkerLogs } from "../workers/workerLogs";
import type { V2Call } from "./handler";
import { pageOf } from "./pages";
import { V2Refusal } from "./problem";

/** The parts of the emulator that REST v2 needs for workers. */
interface WorkerParts {
  readonly endpoints: Endpoints;
  readonly logs: WorkerLogs;
}

const LONGEST_TAIL = 5_000;
const DEFAULT_TAIL = 100;
const SOURCES = ["container", "system"] as const;

const STATUS = {
  idle: "IDLE",
  initializing: "INITIALIZING",
  throttled: "THROTTLED",
  running: "RUNNING",
  unhealthy: "UNHEALTHY",
} as const satisfies Record<Worker["state"], string>;

/** Returns the operations on workers and releases. */
export function workerHandlers(parts: WorkerParts) {
  return {
    listWorkers({ id }: V2Call) {
      const { record, runtime } = endpointOf(parts, id);
      const workers = workersOf({ record, runtime });
      const count = (status: string) => workers.filter((worker) => worker.status === status).length;
      const summary = {
        running: count("RUNNING"),
        idle: count("IDLE"),
        initializing: count("INITIALIZING"),
        throttled: count("THROTTLED"),
        unhealthy: count("UNHEALTHY"),
        total: workers.length,
      };
      return { endpointVersion: record.version, summary, workers };
    },
    listReleases({ id, query }: V2Call) {
      const endpoint = endpointOf(parts, id);
      const workers = workersOf(endpoint);
      const workersOnLatest = workers.filter(({ isStale }) => !isStale).length;
      const { items, pagination } = pageOf(parts.endpoints.releases(id), query);
      return {
        endpointVersion: endpoint.record.version,
        rollout: {
          inProgress: workersOnLatest < workers.length,
          workersOnLatest,
          workersTotal: workers.length,
          percentOnLatest: workers.length === 0 ? 0 : Math.round((100 * workersOnLatest) / workers.length),
        },
        releases: items,
        pagination,
      };
    },
    workerLogs({ id, workerId, query, headers, signal }: V2Call) {
      const { runtime } = endpointOf(parts, id);
      const filter = filterOf(query, headers["last-event-id"]);
      if (!runtime.pods().some((pod) => pod.id === workerId))
        throw new V2Refusal(404, "resource not found", "v2.logs-worker");
      return events(parts.logs.read(workerId, filter, signal()));
    },
  };
}

function endpointOf({ endpoints }: WorkerParts, id: string): Endpoint {
  const found = endpoints.find(id);
  if (!found) throw new V2Refusal(404, "resource not found", "v2.unknown-id");
  return found;
}

function workersOf({ record, runtime }: Endpoint) {
  const phases = new Map(runtime.workers().map((worker) => [worker.id, worker.phase]));
  const now = runtime.context.clock.now();
  return runtime
    .pods()
    .filter(({ desiredStatus }) => desiredStatus === "RUNNING")
    .map((pod) => ({
      id: pod.id,
      status: STATUS[phases.get(pod.id) ?? "running"],
      isStale: pod.slsVersion !== record.version,
      version: pod.slsVersion,
      gpuCount: pod.place.gpuCount,
      dataCenterId: pod.place.dataCenterId,
      image: pod.container.imageName,
      uptimeSeconds: Math.floor((now - pod.startedAt) / 1000),
      startedAt: new Date(pod.startedAt).toISOString(),
    }));
}

/** @throws Refusal if a parameter is invalid */
function filterOf(query: URLSearchParams, lastEventId: string | string[] | undefined): LogFilter {
  const [source, tail, since] = ["source", "tail", "since"].map((name) => query.get(name) ?? undefined);
  const refuse = (reason: string) => new V2Refusal(422, reason, "v2.logs-parameters");
  const known = SOURCES.find((each) => each === source);
  if (source !== undefined && known === undefined) throw refuse("source must be container or system");
  const lines = tail === undefined ? DEFAULT_TAIL : Number(tail);
  if (!Number.isInteger(lines) || lines < 0 || lines > LONGEST_TAIL) throw refuse(`tail must be 0 to ${LONGEST_TAIL}`);
  if (since !== undefined && Number.isNaN(Date.parse(since))) throw refuse("since must be a time (RFC 3339)");
  // The header takes precedence over both parameters.
  if (typeof lastEventId === "string") return { source: known, tail: LONGEST_TAIL, after: lastEventId };
  return { source: known, tail: lines, after: since && new Date(since).toISOString() };
}

/** Converts lines to server-sent events. The stream does not end on its own. */
async function* events(lines: AsyncIterable<LoggedLine>): AsyncGenerator<string, void, undefined> {
  for await (const { source, line, ts } of lines) {
    yield `id: ${ts}\ndata: ${JSON.stringify({ source, line, ts })}\n\n`;
  }
}
