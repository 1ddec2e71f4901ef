import type { Account, Catalog } from "../catalog/catalog";
import { readGpus } from "../catalog/read";
import { hideEnv } from "../containers/input";
import { referencesIn } from "../containers/references";
import type { Clock } from "../contract/clock";
import { ServerlessGpuError } from "../errors/errors";
import { redactBeginning } from "../errors/secretText";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ObservedOptions } from "../transport/requestOptions";
import type { DiagnosisCall, DiagnosisCalls, PodFacts, ReadEndpoint } from "./calls";
import {
  type Evidence,
  type LimitFacts,
  NOT_ASKED,
  ONLY_V2,
  type Part,
  type QueueFacts,
  seen,
  type WorkerLog,
} from "./evidence";
import type { EndpointFacts } from "./facts";
import { createPatience, SOURCE_READ_MS } from "./patience";
import type { DiagnoseOptions } from "./record";
import { refusalIn } from "./refusals";
import { situationOf } from "./rules";
import { judgeStock } from "./stock";

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
  /** Reads the logs of workers. @default the API has no logs */
  readonly logs?: ReadLogs | undefined;
}

type ReadLogs = (endpointId: string, workerIds: readonly string[], signal?: AbortSignal) => Promise<WorkerLog[]>;

/** Make a single attempt, because someone is waiting for the diagnosis. */
const ONCE = { timeoutMs: SOURCE_READ_MS, maxRetries: 0 };
/** The number of workers whose logs are read. */
const MOST_LOGS = 3;
/** How long information about the whole account is reused, in milliseconds. */
const SHARED_MS = 60_000;

/** The functions with which one diagnosis reads. */
interface Gathering {
  readonly sources: Sources;
  /** Reads a part that is the same for all diagnoses, which therefore cannot be aborted. */
  readonly shared: <T>(key: string, read: () => Promise<T>) => Promise<Part<T>>;
  /** Sends a request. With `isShared`, it cannot be aborted. */
  readonly send: <T>(name: string, operation: string, call: DiagnosisCall<T>, isShared?: boolean) => Promise<T>;
  /** Reads a part for this diagnosis alone. */
  readonly part: <T>(source: string, read: () => Promise<T>) => Promise<Part<T>>;
}

/**
 * Returns a function that gathers the evidence about an endpoint. The function throws an error only
 * if it is aborted.
 */
export function createGather(context: CallContext, sources: Sources) {
  const [{ clock }, { source }] = [context, sources.calls];
  const shared = createShared(clock, source);
  const patiently = createPatience(clock);
  return async (id: string, options: DiagnoseOptions): Promise<Evidence> => {
    const { signal } = options;
    const part: Gathering["part"] = (from, read) => readPart(clock, from, read, signal);
    const send: Gathering["send"] = (name, operation, call, isShared) =>
      patiently(source, (timeoutMs) => {
        const limits = { ...ONCE, timeoutMs, signal: isShared ? undefined : signal };
        const attempt = (each: Attempt) => call(operation, each, id, clock.now());
        return makeCall(context, { name, operation, repeatability: "safe", ...limits, attempt });
      });
    const health = part("queue", () =>
      patiently("queue", (timeoutMs) => sources.health(id, { ...ONCE, timeoutMs, ...(signal && { signal }) })),
    );
    const evidence = await gather({ sources, shared, send, part }, id, options, health, clock.now());
    return { ...evidence, now: clock.now() };
  };
}

async function gather(
  gathering: Gathering,
  id: string,
  { awaited = "jobs", waitedMs, logs, signal }: DiagnoseOptions,
  health: Promise<Part<HealthCounts>>,
  now: number,
): Promise<Evidence> {
  const { calls, logs: ofWorkers } = gathering.sources;
  const read = <T>(name: string, operation: string, call: DiagnosisCall<T>) =>
    gathering.part(calls.source, () => gathering.send(name, operation, call));
  const [endpoint, listed, rollout, counts] = await Promise.all([
    read("getEndpoint", `endpoint ${id}`, calls.endpoint),
    calls.workers ? read("listWorkers", `the workers of endpoint ${id}`, calls.workers) : ONLY_V2,
    calls.releases ? read("listReleases", `the releases of endpoint ${id}`, calls.releases) : ONLY_V2,
    health,
  ]);
  const found = seen(endpoint);
  if (found) hideEnv(found.env, [found.facts.name ?? ""]);
  const first: Evidence = {
    ...{ awaited, waitedMs, now, rollout },
    ...{ listed: NOT_ASKED, stock: NOT_ASKED, volumes: NOT_ASKED, limits: NOT_ASKED, secrets: NOT_ASKED },
    logs: NOT_ASKED,
    queue: mapped(counts, (value) => queueFacts(value, found?.pods)),
    endpoint: endpointPart(endpoint),
    workers: mapped(listed, ({ facts }) => facts),
  };
  const readLogs = async (ids: readonly string[]): Promise<Evidence["logs"]> => {
    if (!ofWorkers) return { why: `${calls.source} does not show workers' logs. Only REST v2 does` };
    if (ids.length === 0) return { why: "there is no worker whose log could be read" };
    return gathering.part(calls.source, () => ofWorkers(id, ids, signal));
  };
  const isAbsent = "failure" in first.endpoint && first.endpoint.failure?.is === "absent";
  // Read these at the same time, so that an unresponsive service costs no more than twice the time
  // of one read.
  const [more, ofList, ofLogs] = await Promise.all([
    found && awaited !== "stop" && found.facts.workersMax > 0 ? gatherMore(gathering, first, found) : {},
    isAbsent ? read("listEndpoints", "the endpoints", calls.isListed) : NOT_ASKED,
    logs ? readLogs((seen(listed)?.ids ?? []).slice(0, MOST_LOGS)) : NOT_ASKED,
  ]);
  return { ...first, ...more, listed: ofList, logs: ofLogs };
}

type More = Partial<Pick<Evidence, "stock" | "volumes" | "limits" | "secrets">>;

/** Reads whatever else may keep jobs waiting, or workers from starting. */
async function gatherMore(gathering: Gathering, evidence: Evidence, { facts, env }: ReadEndpoint): Promise<More> {
  const { isWaiting, needsWorkers, workers } = situationOf(evidence);
  const isTroubled = isWaiting || workers.initializing + workers.unhealthy > 0;
  const [ofStock, limits, secrets] = await Promise.all([
    needsWorkers ? readStock(gathering, facts) : {},
    isWaiting ? gathering.shared("limits", () => readLimits(gathering)) : NOT_ASKED,
    isTroubled ? readSecrets(gathering, env) : NOT_ASKED,
  ]);
  return { ...ofStock, limits, secrets };
}

async function readLimits({ sources: { account, calls }, send }: Gathering): Promise<LimitFacts> {
  const [{ workerQuota, spendLimit, currentSpend, isUnderBalance }, workersUsed] = await Promise.all([
    account.limits(ONCE),
    send("listEndpoints", "the endpoints", calls.workersUsed, true).catch(() => undefined),
  ]);
  const limits = { workerQuota, workersUsed, spendLimit, spend: currentSpend, isUnderBalance };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null));
}

async function readSecrets({ sources, shared, send }: Gathering, env: ReadEndpoint["env"]): Promise<More["secrets"]> {
  const wanted = [...new Set(Object.values(env).flatMap(referencesIn))];
  if (wanted.length === 0) return NOT_ASKED;
  const names = await shared("secrets", () => send("listSecrets", "the secrets", sources.calls.secretNames, true));
  // Names are unique ignoring case.
  const has = (all: readonly string[], name: string) => all.some((each) => each.toLowerCase() === name.toLowerCase());
  return mapped(names, (all) => ({ missing: wanted.filter((name) => !has(all, name)) }));
}

async function readStock({ sources, shared }: Gathering, facts: EndpointFacts): Promise<More> {
  const { catalog, volumePlaces } = sources;
  const { gpuIds, gpuCount, volumeIds } = facts;
  const [gpus, volumes] = await Promise.all([
    gpuIds === "" ? NOT_ASKED : shared(`gpus ${gpuCount}`, () => readGpus(catalog, { ...ONCE, gpuCount })),
    volumeIds.length > 0 ? shared("volumes", () => volumePlaces(ONCE)) : NOT_ASKED,
  ]);
  const places = volumeIds.flatMap((volume) => seen(volumes)?.get(volume) ?? []);
  const known = places.length === volumeIds.length ? places : undefined;
  const basis: Part<unknown> = gpuIds === "" ? volumes : gpus;
  return { stock: mapped(basis, () => judgeStock(facts, seen(gpus) ?? [], known)), volumes };
}

/**
 * Reads a part of the evidence. A failure becomes part of the evidence, unless the caller has
 * aborted.
 */
async function readPart<T>(clock: Clock, source: string, read: () => Promise<T>, signal?: AbortSignal) {
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

/** Turns a missing endpoint into evidence. GraphQL returns `null` for it. */
function endpointPart(given: Part<ReadEndpoint | undefined>): Part<EndpointFacts> {
  if (!("value" in given)) return given;
  const { value, ...read } = given;
  if (value) return { ...read, value: value.facts };
  return { why: "the service has no endpoint with this id", failure: { is: "absent", isOwn: true, ...read } };
}

/** Returns the queue's counts. Over GraphQL, information from the pods is added. */
function queueFacts({ jobs, workers }: HealthCounts, pods: PodFacts | undefined): QueueFacts {
  const { running, ready, unhealthy, throttled } = workers;
  // Workers that are kept for a fast start may count as idle, but not as ready.
  const states = { running, idle: ready ?? workers.idle, throttled: throttled ?? 0, unhealthy: unhealthy ?? 0 };
  const shown = Object.values(states).reduce((sum, count) => sum + count, 0);
  // If the service doesn't count starting workers, they are the pods that no other count includes.
  const initializing = workers.initializing ?? Math.max(0, (pods?.active ?? 0) - shown);
  const startingMs = initializing > 0 ? pods?.newestMs : undefined;
  return { ...jobs, workers: { ...states, initializing, total: shown + initializing, stale: pods?.stale, startingMs } };
}

/** Keeps information about the whole account for a while, but never a failure. */
function createShared(clock: Clock, source: string): Gathering["shared"] {
  const known = new Map<string, { readonly at: number; readonly part: Promise<Part<unknown>> }>();
  return <T>(key: string, read: () => Promise<T>) => {
    const existing = known.get(key);
    if (existing && clock.monotonic() - existing.at < SHARED_MS) return existing.part as Promise<Part<T>>;
    const part = readPart(clock, source, read);
    known.set(key, { at: clock.monotonic(), part });
    const forget = () => known.delete(key);
    part.then((found) => "value" in found || forget(), forget);
    return part;
  };
}
