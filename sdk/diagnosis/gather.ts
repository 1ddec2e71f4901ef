import type { Account, Catalog } from "../catalog/catalog";
import { readGpus } from "../catalog/read";
import { hideEnv } from "../containers/input";
import type { Clock } from "../contract/clock";
import { ServerlessGpuError } from "../errors";
import { redactBeginning } from "../secret";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ObservedOptions } from "../transport/requestOptions";
import type { DiagnosisCalls, PodFacts, ReadEndpoint } from "./calls";
import {
  type EndpointFacts,
  type Evidence,
  type LimitFacts,
  type NotSeen,
  type Part,
  type QueueFacts,
  type StockFacts,
  seen,
  type WorkerFacts,
  type WorkerLog,
} from "./evidence";
import { createPatience, SOURCE_READ_MS } from "./patience";
import type { DiagnoseOptions } from "./record";
import { refusalIn } from "./refusals";

/** The counts returned by `/health`, as the client reads them. */
export interface HealthCounts {
  readonly jobs: Readonly<Record<"inQueue" | "inProgress" | "completed" | "failed", number>>;
  readonly workers: Readonly<Record<"idle" | "running", number>> &
    Readonly<Partial<Record<"initializing" | "ready" | "throttled" | "unhealthy", number | null>>>;
}

/** The sources from which a diagnosis reads its evidence. */
export interface Sources {
  readonly calls: DiagnosisCalls;
  readonly catalog: Catalog;
  readonly account: Account;
  readonly health: (endpointId: string, options: ObservedOptions) => Promise<HealthCounts>;
  /** Reads the data center of each volume, by volume id. */
  readonly volumePlaces: (options: ObservedOptions) => Promise<ReadonlyMap<string, string>>;
  /**
   * Reads the logs of workers.
   * @default the API has no logs
   */
  readonly logs?:
    | ((endpointId: string, workerIds: readonly string[], signal?: AbortSignal) => Promise<WorkerLog[]>)
    | undefined;
}

/** Make a single attempt, because someone is waiting for the diagnosis. */
const ONCE = { timeoutMs: SOURCE_READ_MS, maxRetries: 0 };
/** The number of workers whose logs are read. */
const MOST_LOGS = 3;
/**
 * How long information about the whole account is reused before it is read again, in milliseconds.
 */
const SHARED_MS = 60_000;

/**
 * Reads a part once.
 * @param isOwn `false` if other diagnoses are also waiting for the result
 */
type Read = <T>(
  name: string,
  operation: string,
  attempt: (operation: string, each: Attempt) => Promise<T>,
  isOwn?: boolean,
) => Promise<Part<T>>;

/** The state that all diagnoses of a client share. */
interface Remembered {
  readonly shared: Shared;
  readonly patiently: ReturnType<typeof createPatience>;
}

type Shared = <T>(key: string, read: () => Promise<Part<T>>) => Promise<Part<T>>;

/**
 * Returns a function that gathers the evidence about an endpoint. The function throws an error only
 * if it is aborted.
 */
export function createGather(context: CallContext, sources: Sources) {
  const remembered = { shared: createShared(context.clock), patiently: createPatience(context.clock) };
  return (endpointId: string, options: DiagnoseOptions) => gather(context, sources, remembered, endpointId, options);
}

async function gather(
  context: CallContext,
  sources: Sources,
  { shared, patiently }: Remembered,
  id: string,
  { awaited = "jobs", waitedMs, logs, signal }: DiagnoseOptions,
): Promise<Evidence> {
  const { clock } = context;
  const { calls } = sources;
  const read = reader(context, calls.source, patiently, signal);
  const { workers: readWorkers, releases: readReleases } = calls;
  const [endpoint, listed, rollout, health] = await Promise.all([
    read("getEndpoint", `endpoint ${id}`, (operation, each) => calls.endpoint(operation, id, each)),
    readWorkers
      ? read("listWorkers", `the workers of endpoint ${id}`, (operation, each) =>
          readWorkers(operation, id, clock.now(), each),
        )
      : ONLY_V2,
    readReleases
      ? read("listReleases", `the releases of endpoint ${id}`, (operation, each) => readReleases(operation, id, each))
      : ONLY_V2,
    part(clock, "queue", signal, () =>
      patiently("queue", (timeoutMs) => sources.health(id, { ...ONCE, timeoutMs, ...(signal && { signal }) })),
    ),
  ]);
  const found = seen(endpoint);
  if (found) hideEnv(found.env, [found.facts.name ?? ""]);
  const queue = mapped(health, (counts) => queueFacts(counts, found?.pods));
  const ofEndpoint = endpointPart(endpoint);
  const isAbsent = "failure" in ofEndpoint && ofEndpoint.failure?.is === "absent";
  const first: Evidence = {
    awaited,
    waitedMs,
    now: clock.now(),
    rollout,
    queue,
    endpoint: ofEndpoint,
    listed: NOT_ASKED,
    workers: mapped(listed, ({ facts }) => facts),
    stock: NOT_ASKED,
    volumes: NOT_ASKED,
    limits: NOT_ASKED,
    logs: NOT_ASKED,
  };
  const ids = (seen(listed)?.ids ?? []).slice(0, MOST_LOGS);
  // Read these at the same time, so that an unresponsive service costs no more than twice the time
  // of one read.
  const [more, ofList, ofLogs] = await Promise.all([
    gatherMore({ clock, sources, shared, read }, first),
    isAbsent
      ? read("listEndpoints", "the endpoints", (operation, each) => calls.isListed(operation, id, each))
      : NOT_ASKED,
    logs ? readLogs(clock, sources, id, ids, signal) : NOT_ASKED,
  ]);
  return { ...first, ...more, listed: listedPart(ofList), logs: ofLogs, now: clock.now() };
}

/** Returns the function with which a diagnosis reads each part. */
function reader(
  context: CallContext,
  source: Sources["calls"]["source"],
  patiently: Remembered["patiently"],
  signal: AbortSignal | undefined,
): Read {
  return (name, operation, attempt, isOwn = true) => {
    const own = isOwn ? signal : undefined;
    const call = { name, operation, repeatability: "safe", ...ONCE, signal: own } as const;
    return part(context.clock, source, own, () =>
      patiently(source, (timeoutMs) =>
        makeCall(context, { ...call, timeoutMs, attempt: (each) => attempt(operation, each) }),
      ),
    );
  };
}

interface Gathering {
  readonly clock: Clock;
  readonly sources: Sources;
  readonly shared: Shared;
  readonly read: Read;
}

/** Reads the stock and the limits if the workers do not explain the wait. */
async function gatherMore(
  gathering: Gathering,
  evidence: Evidence,
): Promise<Pick<Evidence, "stock" | "volumes" | "limits">> {
  const endpoint = seen(evidence.endpoint);
  if (!endpoint || !needsMore(evidence)) return { stock: NOT_ASKED, volumes: NOT_ASKED, limits: NOT_ASKED };
  const { clock, sources, shared, read } = gathering;
  const { calls, account } = sources;
  const limits = shared("limits", async () => {
    const [known, used] = await Promise.all([
      part(clock, calls.source, undefined, () => account.limits(ONCE)),
      read("listEndpoints", "the endpoints", calls.workersUsed, false),
    ]);
    return mapped(known, (value): LimitFacts => {
      const { workerQuota, spendLimit, currentSpend, isUnderBalance } = value;
      return {
        workerQuota: workerQuota ?? undefined,
        workersUsed: seen(used),
        spendLimit: spendLimit ?? undefined,
        spend: currentSpend ?? undefined,
        isUnderBalance: isUnderBalance ?? undefined,
      };
    });
  });
  const [ofStock, ofAccount] = await Promise.all([readStock(gathering, endpoint), limits]);
  return { ...ofStock, limits: ofAccount };
}

/**
 * Returns `true` if workers are needed, but there are too few of them or all of them are throttled.
 */
function needsMore({ awaited, endpoint, workers, queue }: Evidence): boolean {
  const settings = seen(endpoint);
  const counts = seen(workers) ?? seen(queue)?.workers;
  if (awaited === "stop" || !settings || !counts || settings.workersMax === 0) return false;
  const isWanted = awaited === "workers" || settings.workersMin > 0 || (seen(queue)?.inQueue ?? 1) > 0;
  const isShort = counts.total < Math.max(1, awaited === "workers" ? settings.workersMin : 0);
  return (isWanted || settings.isLoadBalancer) && (isShort || counts.throttled === counts.total);
}

async function readStock(
  { clock, sources, shared }: Gathering,
  endpoint: EndpointFacts,
): Promise<Pick<Evidence, "stock" | "volumes">> {
  const { calls, catalog, volumePlaces } = sources;
  if (endpoint.gpuIds === "") return { stock: NOT_ASKED, volumes: NOT_ASKED };
  const { gpuCount } = endpoint;
  // Other diagnoses are waiting for the same result, so don't stop when this diagnosis is aborted.
  const asked = <T>(ask: () => Promise<T>) => part(clock, calls.source, undefined, ask);
  const needsPlaces = endpoint.compliance.length > 0;
  const [gpus, dataCenters, volumes] = await Promise.all([
    shared(`gpus ${gpuCount}`, () => asked(() => readGpus(catalog, { ...ONCE, gpuCount }))),
    needsPlaces ? shared("data centers", () => asked(() => catalog.dataCenters(ONCE))) : NOT_ASKED,
    endpoint.volumeIds.length > 0 ? shared("volumes", () => asked(() => volumePlaces(ONCE))) : NOT_ASKED,
  ]);
  const stock = mapped(gpus, (value): StockFacts => {
    const places = endpoint.volumeIds.map((volume) => seen(volumes)?.get(volume));
    const areKnown = places.every((place) => place !== undefined);
    return {
      gpus: value,
      dataCenters: seen(dataCenters),
      volumeDataCenters: areKnown ? (places as string[]) : undefined,
    };
  });
  return { stock, volumes };
}

async function readLogs(
  clock: Clock,
  { logs, calls }: Sources,
  id: string,
  workerIds: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Part<readonly WorkerLog[]>> {
  if (!logs) return { why: `${calls.source} does not show workers' logs. Only REST v2 does` };
  if (workerIds.length === 0) return { why: "there is no worker whose log could be read" };
  return part(clock, calls.source, signal, () => logs(id, workerIds, signal));
}

const NOT_ASKED: NotSeen = { why: undefined };
const ONLY_V2: NotSeen = { why: "GraphQL does not show it. Only REST v2 does" };

/**
 * Reads a part of the evidence. A failure becomes part of the evidence, unless the caller has
 * aborted.
 */
async function part<T>(
  clock: Clock,
  source: string,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<Part<T>> {
  try {
    return { value: await read(), readAt: clock.now(), source };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof ServerlessGpuError)) throw error;
    const refusal = refusalIn(error);
    const failure = refusal && { ...refusal, readAt: clock.now(), source };
    return { why: redactBeginning(error.message, 300), failure };
  }
}

function mapped<T, U>(given: Part<T>, map: (value: T) => U): Part<U> {
  return "value" in given ? { ...given, value: map(given.value) } : given;
}

/**
 * Turns a missing endpoint into evidence. GraphQL returns `null` for an endpoint that does not
 * exist.
 */
function endpointPart(given: Part<ReadEndpoint | undefined>): Part<EndpointFacts> {
  if (!("value" in given)) return given;
  const { value, ...read } = given;
  if (value) return { ...read, value: value.facts };
  return { why: "the service has no endpoint with this id", failure: { is: "absent", isOwn: true, ...read } };
}

function listedPart(given: Part<boolean | undefined>): Part<boolean> {
  if (!("value" in given)) return given;
  const { value, ...read } = given;
  return value === undefined ? { why: "the log continues after the part that was read" } : { ...read, value };
}

/** Returns the queue's counts. Over GraphQL, information from the pods is added. */
function queueFacts({ jobs, workers }: HealthCounts, pods: PodFacts | undefined): QueueFacts {
  const { running, ready, unhealthy, throttled, initializing } = workers;
  // Workers that are kept for a fast start may count as idle, but not as ready.
  const idle = ready ?? workers.idle;
  const shown = running + idle + (throttled ?? 0) + (unhealthy ?? 0);
  // If the service doesn't count starting workers, their number is the number of pods that are not
  // included in any other count.
  const starting = initializing ?? Math.max(0, (pods?.active ?? 0) - shown);
  const facts: WorkerFacts = {
    running,
    idle,
    initializing: starting,
    throttled: throttled ?? 0,
    unhealthy: unhealthy ?? 0,
    total: shown + starting,
    stale: pods?.stale,
    startingMs: starting > 0 ? pods?.newestMs : undefined,
    isListed: false,
  };
  const { inQueue, inProgress, completed, failed } = jobs;
  return { inQueue, inProgress, completed, failed, workers: facts };
}

/**
 * Keeps information about the whole account for a while. After a failure, the information is read
 * again.
 */
function createShared(clock: Clock): Shared {
  const known = new Map<string, { readonly at: number; readonly part: Promise<Part<unknown>> }>();
  return <T>(key: string, read: () => Promise<Part<T>>) => {
    const existing = known.get(key);
    if (existing && clock.monotonic() - existing.at < SHARED_MS) return existing.part as Promise<Part<T>>;
    const reading = read();
    known.set(key, { at: clock.monotonic(), part: reading });
    const forget = () => {
      if (known.get(key)?.part === reading) known.delete(key);
    };
    reading.then((found) => "value" in found || forget(), forget);
    return reading;
  };
}
