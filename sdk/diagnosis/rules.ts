import type { CauseId, Certainty } from "./causes";
import { type Evidence, type QueueFacts, type ServiceRefusal, seen, type WorkerFacts } from "./evidence";
import { type EndpointFacts, factsOf } from "./facts";
import { type LogSigns, signsIn } from "./logSigns";

/** How long the service lets a start take, in milliseconds (observed). */
const LONGEST_START_MS = 7 * 60_000;
/** How long an endpoint without workers may simply be scaling up, in milliseconds. */
const SCALE_UP_MS = 2 * 60_000;

const STATES = { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, total: 0 };
const NONE: WorkerFacts = { ...STATES, stale: undefined, startingMs: undefined };

/** The evidence in the form that the rules need. */
export type Situation = ReturnType<typeof situationOf>;

/** Returns the evidence in the form that the rules need. */
export function situationOf(evidence: Evidence) {
  const { awaited, waitedMs, now } = evidence;
  const queue = seen(evidence.queue);
  const endpoint = seen(evidence.endpoint) ?? factsOf({});
  const shown = seen(evidence.workers) ?? queue?.workers;
  // For states that the queue also counts, use the higher of both numbers.
  const most = (state: keyof typeof STATES) => Math.max(shown?.[state] ?? 0, queue?.workers[state] ?? 0);
  const [idle, initializing, throttled] = [most("idle"), most("initializing"), most("throttled")];
  const unhealthy = most("unhealthy") - (shown?.staleUnhealthy ?? 0);
  const workers: WorkerFacts = { ...NONE, ...shown, idle, initializing, throttled, unhealthy };
  const { running, total } = workers;
  /** The workers that have started. */
  const ready = running + idle;
  /** `true` if jobs are awaited and the queue shows waiting ones. */
  const jobsWait = awaited === "jobs" && !endpoint.isLoadBalancer && (queue?.inQueue ?? 0) > 0;
  // A load-balancing endpoint does not show how many requests are waiting.
  const isAwaited = awaited === "jobs" && waitedMs !== undefined && (endpoint.isLoadBalancer || !queue);
  const hasNoneReady = endpoint.isLoadBalancer && ready === 0 && total > 0;
  /** `true` if jobs or requests wait, as far as it can be seen, or if workers are missing. */
  const isWaiting = jobsWait || isAwaited || hasNoneReady || ready < endpoint.workersMin;
  const isServed = ready >= endpoint.workersMax || (idle > 0 && ready >= endpoint.workersMin);
  const isEnough = awaited === "jobs" && queue !== undefined && !callsForMore(endpoint, running, queue, waitedMs);
  /** `true` if it also needs more workers than those that run or start, and may have them. */
  const needsWorkers = isWaiting && shown !== undefined && !isServed && !isEnough && initializing + unhealthy === 0;
  /** `true` if it also has no worker at all. */
  const hasNone = needsWorkers && total === 0;
  /** What the logs show. Empty if they were not read, or show no line. */
  const logs = (seen(evidence.logs) ?? []).filter(({ lines }) => lines.length > 0);
  const signs: readonly LogSigns[] = logs.map((log) => signsIn(log, now));
  const states = { ready, jobsWait, isWaiting, needsWorkers, hasNone };
  return { evidence, awaited, waitedMs, endpoint, workers, queue, signs, ...states };
}

/** Returns `true` if the scaling rule may call for another worker than those that run. */
function callsForMore(endpoint: EndpointFacts, running: number, queue: QueueFacts, waitedMs?: number): boolean {
  const { scalerType, scalerValue } = endpoint;
  const { inQueue, inProgress } = queue;
  if (inProgress < running) return false;
  if (running === 0 || scalerValue === undefined) return true;
  if (scalerType === "REQUEST_COUNT") return inQueue + inProgress > running * scalerValue;
  return waitedMs === undefined || waitedMs >= scalerValue * 1000;
}

type Refusable = Evidence["endpoint"] | Evidence["queue"];
const refusalOf = (part: Refusable) => ("value" in part ? undefined : part.failure);
const hasSaid = (part: Refusable, is: ServiceRefusal["is"]) =>
  refusalOf(part)?.isOwn === true && refusalOf(part)?.is === is;
const isAnySeen = (...parts: readonly object[]) => parts.some((part) => "value" in part);

/** The only causes that can be certain, each with the statement of the service that proves it. */
export const PROOFS: Readonly<Partial<Record<CauseId, readonly [string, (evidence: Evidence) => boolean]>>> = {
  "not-found": [
    "a response in the service's own format says that the endpoint does not exist, the service's list does not contain it, and nothing else shows it",
    ({ endpoint, listed, workers, rollout, queue }) =>
      hasSaid(endpoint, "absent") && seen(listed) === false && !isAnySeen(workers, rollout, queue),
  ],
  "no-access": [
    "a response in the service's own format says that the key may not use the queue, or may not read anything about the endpoint",
    ({ endpoint, queue, workers, rollout }) =>
      (hasSaid(queue, "refused") && !hasSaid(endpoint, "absent")) ||
      (hasSaid(endpoint, "refused") && !isAnySeen(workers, rollout)),
  ],
  "no-workers-allowed": [
    "the endpoint's settings say that its workersMax is 0",
    ({ endpoint }) => seen(endpoint)?.workersMax === 0,
  ],
  "spend-limit": [
    "the account's status says that its balance is too low",
    ({ limits }) => seen(limits)?.isUnderBalance === true,
  ],
  "no-queue": [
    "the endpoint's settings say that it is load-balancing, or they cannot be read and its queue says so",
    ({ endpoint, queue }) => seen(endpoint)?.isLoadBalancer ?? hasSaid(queue, "no queue"),
  ],
};

/** Returns how certain a cause is, or `undefined` if nothing suggests it. */
type Rule = (situation: Situation) => Exclude<Certainty, "certain" | "unknown"> | undefined;

const likelyIf = (is: boolean) => (is ? "likely" : undefined);
const possibleIf = (is: boolean) => (is ? "possible" : undefined);
const shows = (signs: Situation["signs"], id: LogSigns["cause"]) => signs.some(({ cause }) => cause === id);

const lacks = (of: Situation, id: CauseId) => likelyIf(of.needsWorkers && seen(of.evidence.stock)?.cause === id);

/** The rule that suggests each cause. A likely cause is certain if its proof is also given. */
export const RULES: Readonly<Partial<Record<CauseId, Rule>>> = {
  "not-found": ({ evidence: { endpoint, listed }, queue }) => {
    if (!hasSaid(endpoint, "absent") || seen(listed) === true) return undefined;
    return queue && seen(listed) === undefined ? "possible" : "likely";
  },
  "no-access": ({ evidence: { endpoint, queue } }) => {
    const refusals = [endpoint, queue].map(refusalOf).filter((each) => each?.is === "refused");
    return likelyIf(refusals.some((each) => each?.isOwn)) ?? possibleIf(refusals.length > 0);
  },
  "no-workers-allowed": ({ endpoint }) => likelyIf(endpoint.workersMax === 0),
  "crash-loop"(situation) {
    const { signs, workers, isWaiting } = situation;
    const isPulling = shows(signs, "image-pull") || shows(signs, "image-pulling");
    if (shows(signs, "crash-loop") || (workers.unhealthy > 0 && !isPulling)) return "likely";
    const isThrottled = workers.throttled > 0 && workers.throttled === workers.total && isWaiting;
    const isUnlogged = workers.initializing > 0 || isThrottled || takesNoJobs(situation);
    return possibleIf(isLate(situation) || (signs.length === 0 && isUnlogged));
  },
  "image-pull"(situation) {
    const { signs, workers, ready } = situation;
    const { stale = 0, initializing, unhealthy } = workers;
    const hasImage = ready > stale || (stale === 0 && signs.some((each) => each.hasImage));
    if (shows(signs, "image-pull")) return hasImage ? "possible" : "likely";
    return possibleIf(isLate(situation) || (signs.length === 0 && initializing + unhealthy > 0));
  },
  "missing-secret": ({ evidence }) => likelyIf((seen(evidence.secrets)?.missing ?? []).length > 0),
  "worker-quota"({ evidence, needsWorkers, hasNone }) {
    const spare = spareWorkers(evidence.limits);
    return likelyIf(needsWorkers && spare < 0) ?? possibleIf(hasNone && !(spare > 0));
  },
  "spend-limit"({ evidence: { limits }, needsWorkers, hasNone }) {
    const { spendLimit, isUnderBalance } = seen(limits) ?? {};
    const isOpen = spendLimit === undefined || isUnderBalance === undefined;
    return likelyIf(needsWorkers && isSpent(limits)) ?? possibleIf(hasNone && isOpen);
  },
  "gpu-ids": (situation) => lacks(situation, "gpu-ids"),
  "volume-place": (situation) => lacks(situation, "volume-place"),
  "cuda-version": (situation) => lacks(situation, "cuda-version"),
  // The stock level is an estimate, so no level rules out this cause.
  "no-stock": (situation) =>
    lacks(situation, "no-stock") ?? possibleIf(situation.hasNone && situation.endpoint.gpuIds !== ""),
  throttled: ({ workers, isWaiting, signs }) =>
    likelyIf(workers.throttled > 0 && workers.idle === 0 && isWaiting && !shows(signs, "crash-loop")),
  "workers-busy"({ evidence, endpoint: { workersMax }, workers, queue, jobsWait }) {
    const { running, idle, stale = 0 } = workers;
    if (!jobsWait || !queue || workersMax === 0 || running < workersMax || queue.inProgress < running) return undefined;
    // Workers of an old version take no new jobs, and the queue must count workers, too.
    if (stale >= running || queue.workers.total === 0) return undefined;
    const isAgreed = queue.workers.running >= running || !isAnySeen(evidence.workers);
    return idle === 0 && isAgreed ? "likely" : "possible";
  },
  "handler-takes-no-jobs"(situation) {
    const { signs, workers, ready } = situation;
    const isStarting = signs.some((each) => each.cause ?? (each.isPrinting && !each.hasLibraryLine));
    if (!takesNoJobs(situation) || (workers.stale ?? 0) >= ready || isStarting) return undefined;
    // If the library runs, the reason why it gets no jobs is outside of the worker.
    if (signs.some(({ hasLibraryLine }) => hasLibraryLine)) return "possible";
    return likelyIf(signs.length > 0 || workers.running === 0) ?? "possible";
  },
  "one-worker-takes-all"({ workers, queue, signs, jobsWait }) {
    if (!jobsWait || !queue?.inProgress || workers.running !== 1 || workers.idle === 0) return undefined;
    const versions = signs.flatMap(({ hasFunnelVersion }) => hasFunnelVersion ?? []);
    return versions.length === 0 ? "possible" : likelyIf(versions.includes(true));
  },
  "image-pulling": ({ signs, workers }) =>
    workers.initializing === 0
      ? undefined
      : (likelyIf(shows(signs, "image-pulling")) ?? possibleIf(signs.length === 0)),
  rollout({ evidence, workers, ready }) {
    const { stale = 0, total } = workers;
    const isSaid = seen(evidence.rollout)?.inProgress === true && total > 0;
    return likelyIf(isSaid || (stale > 0 && stale >= ready)) ?? possibleIf(stale > 0);
  },
  "cold-start"(situation) {
    const { evidence, waitedMs = 0, workers, signs, hasNone } = situation;
    const isWell = !isLate(situation) && !shows(signs, "crash-loop") && !shows(signs, "image-pull");
    if (workers.initializing > 0) return likelyIf(isWell);
    return possibleIf(hasNone && waitedMs < SCALE_UP_MS && !seen(evidence.rollout)?.inProgress);
  },
  "scaling-rule"({ evidence, endpoint, workers, queue, jobsWait, needsWorkers, waitedMs }) {
    const { running, total } = workers;
    if (!jobsWait || !queue || running === 0 || total !== running || running >= endpoint.workersMax) return undefined;
    if (queue.inProgress < running || !needsWorkers) return likelyIf(queue.inProgress >= running);
    if (waitedMs !== undefined || endpoint.scalerType === "REQUEST_COUNT") return undefined;
    const isFree = seen(evidence.stock)?.cause === undefined && !isSpent(evidence.limits);
    return likelyIf(isFree && [evidence.stock, evidence.limits].every((part) => "value" in part)) ?? "possible";
  },
  "jobs-failing": ({ queue, awaited }) =>
    likelyIf(awaited === "jobs" && queue?.inQueue === 0 && queue.failed > queue.completed),
};

/** Returns `true` if a start takes too long, and nothing shows that the container is at work. */
function isLate({ workers, waitedMs = 0, signs }: Situation): boolean {
  const ms = workers.initializing > 0 ? (workers.startingMs ?? waitedMs) : 0;
  return ms > LONGEST_START_MS && !signs.some(({ isPrinting }) => isPrinting);
}

/** Returns `true` if the account may not spend more, as far as it can be seen. */
function isSpent(limits: Evidence["limits"]): boolean {
  const { spendLimit = Number.POSITIVE_INFINITY, spend = 0, isUnderBalance } = seen(limits) ?? {};
  return isUnderBalance === true || spend >= spendLimit;
}

/** Returns `true` if jobs wait beside workers that have none. */
const takesNoJobs = ({ jobsWait, queue, ready }: Situation) => jobsWait && ready > 0 && queue?.inProgress === 0;

/**
 * Returns how much of the account's quota is not allotted to its endpoints, or `NaN` if unknown.
 * The service checks the quota when an endpoint is saved, so endpoints can start workers even if
 * all of it is allotted.
 */
export function spareWorkers(limits: Evidence["limits"]): number {
  const { workerQuota = Number.NaN, workersUsed = Number.NaN } = seen(limits) ?? {};
  return workerQuota - workersUsed;
}
