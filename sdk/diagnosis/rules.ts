import { splitList } from "../endpoints/normalForms";
import { CAUSES, type CauseId, type Certainty, lessSure } from "./causes";
import {
  type EndpointFacts,
  type Evidence,
  type LimitFacts,
  type QueueFacts,
  seen,
  type WorkerFacts,
} from "./evidence";
import { type LogSigns, signsIn } from "./logSigns";
import { judgeStock } from "./stock";

/** A cause and how certain it is. */
export interface PossibleCause {
  readonly id: CauseId;
  readonly certainty: Certainty;
}

/**
 * One cause, or several causes that the evidence does not distinguish, most likely first. One of
 * them is the actual cause.
 */
export type PossibleCauses = readonly PossibleCause[];

/** The evidence in the form that the rules need. */
export interface WaitSituation {
  readonly evidence: Evidence;
  readonly endpoint: EndpointFacts;
  readonly workers: WorkerFacts;
  /** The queue's counts. `undefined` if the queue could not be read. */
  readonly queue: QueueFacts | undefined;
  /** What the logs show. `undefined` if they were not read. */
  readonly signs: readonly LogSigns[] | undefined;
  /**
   * The number of workers that are working or could work. Workers that are waiting for a machine
   * don't count.
   */
  readonly alive: number;
  /** `true` if jobs are waiting, or if it is unknown whether jobs are waiting. */
  readonly jobsWait: boolean;
}

type Rule = (situation: WaitSituation) => readonly PossibleCauses[];

/**
 * The time after which the service itself considers a start to have failed, in milliseconds
 * (observed).
 */
const LONGEST_START_MS = 7 * 60_000;
/**
 * The time after which a start with many pools may be hanging, in milliseconds. All starts that
 * were observed to hang had lasted longer than this (observed).
 */
const MANY_POOLS_MS = 10 * 60_000;
const MOST_POOLS = 3;
/**
 * How long after a job arrives an endpoint without workers may simply be scaling up, in
 * milliseconds.
 */
const SCALE_UP_MS = 2 * 60_000;

/** Returns a cause. Its certainty is limited to the maximum that `CAUSES` allows for it. */
export function cause(id: CauseId, certainty: Certainty): PossibleCause {
  return { id, certainty: lessSure(certainty, CAUSES[id].atMost) };
}

const one = (id: CauseId, certainty: Certainty): PossibleCauses[] => [[cause(id, certainty)]];
const oneOf = (certainty: Certainty, ...ids: CauseId[]): PossibleCauses[] => [ids.map((id) => cause(id, certainty))];

/** Returns what the logs show. Returns `undefined` if they were not read. */
export function signsOf({ logs, now }: Evidence): readonly LogSigns[] | undefined {
  return seen(logs)?.map((log) => signsIn(log, now));
}

/** All rules for an endpoint that may have workers. Their order does not matter. */
export const RULES: readonly Rule[] = [
  logged,
  unhealthy,
  starting,
  throttled,
  withoutWorkers,
  busy,
  takesNoJobs,
  oneWorkerTakesAll,
  rollingOut,
  scalingRule,
  failing,
];

/**
 * Finds causes in the logs. Such causes can be certain, because the log comes from the service
 * itself.
 */
function logged(situation: WaitSituation): readonly PossibleCauses[] {
  const shown = (situation.signs ?? []).flatMap(({ cause: found }) => found ?? []);
  const ids = [...new Set(shown.map(({ id }) => id))];
  return ids.flatMap((id) => {
    const isCertain = shown.some((each) => each.id === id && each.certainty === "certain");
    const atMost = surestBeside(id, situation);
    return atMost ? [[cause(id, lessSure(isCertain ? "certain" : "likely", atMost))]] : [];
  });
}

/**
 * Returns how certain a cause from a log can be at most, given the states of the workers. The
 * problem in the log may already be over.
 */
function surestBeside(id: CauseId, { workers }: WaitSituation): Certainty | undefined {
  const { initializing, unhealthy } = workers;
  if (id === "image-pulling") return initializing > 0 ? "certain" : undefined;
  return id === "image-pull" && initializing + unhealthy === 0 ? "possible" : "certain";
}

function hasLogged(situation: WaitSituation): boolean {
  return logged(situation).length > 0;
}

/**
 * Finds causes for unhealthy workers. Without a log, a crashed worker and a failed pull look alike.
 */
function unhealthy(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, signs } = situation;
  if (workers.unhealthy === 0 || hasLogged(situation)) return [];
  return oneOf(signs ? "possible" : "likely", "crash-loop", "image-pull");
}

/**
 * Finds causes for workers that are still starting. This is normal for a short time, but a crash
 * loop can look the same.
 */
function starting(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, signs, evidence, endpoint } = situation;
  if (workers.initializing === 0 || hasLogged(situation)) return [];
  const ms = workers.startingMs ?? evidence.waitedMs ?? 0;
  const isSilent = !signs?.some(({ hasLines }) => hasLines);
  const hasManyPools = poolCount(endpoint) > MOST_POOLS && ms > MANY_POOLS_MS && isSilent;
  const manyPools = hasManyPools ? [cause("many-pools", "possible")] : [];
  if (ms <= LONGEST_START_MS) {
    const others = signs && !isSilent ? [] : (["image-pulling", "crash-loop", "image-pull"] as const);
    return [[cause("cold-start", "likely"), ...others.map((id) => cause(id, "possible"))]];
  }
  const causes = (["crash-loop", "image-pull", "image-pulling"] as const).map((id) => cause(id, "possible"));
  return [[...causes, ...manyPools]];
}

function poolCount({ gpuIds }: EndpointFacts): number {
  return splitList(gpuIds).filter((part) => !part.startsWith("-")).length;
}

/**
 * Finds causes for throttled workers. Throttled workers alone do not prove that the stock is low.
 */
function throttled(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, signs } = situation;
  if (workers.throttled === 0 || workers.idle > 0) return [];
  // A container that keeps crashing may be shown as throttled.
  if (logged(situation).some(([found]) => found?.id === "crash-loop")) return [];
  const isAlone = workers.throttled === workers.total;
  const stock = isAlone ? stockFindings(situation, "likely") : [];
  const account = isAlone ? accountFindings(situation, "likely") : [];
  const crash = isAlone && !signs ? [cause("crash-loop", "possible")] : [];
  const found = [...account, ...stock];
  return found.length > 0 ? found : [[cause("throttled", "likely"), ...crash]];
}

/** Finds causes if there are no workers, or fewer than `workersMin`, and none are starting. */
function withoutWorkers(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, endpoint, evidence, jobsWait } = situation;
  const { awaited } = evidence;
  const coming = workers.initializing + workers.throttled + workers.unhealthy;
  const lacksWorkers = workers.total < endpoint.workersMin;
  const isShort = lacksWorkers || (awaited === "jobs" && jobsWait && workers.total === 0);
  if (!isShort || coming > 0) return [];
  const atMost = workers.total === 0 ? "likely" : "possible";
  const found = [...accountFindings(situation, atMost), ...stockFindings(situation, atMost)];
  if (found.length > 0) {
    return [...found, ...(quotaUse(seen(evidence.limits)) === "allotted" ? one("worker-quota", "possible") : [])];
  }
  if (seen(evidence.rollout)?.inProgress) return [];
  return [remaining(situation)];
}

/**
 * Returns the causes that remain possible if nothing else was found. For an endpoint without
 * workers, the service shows nothing that would narrow them down.
 */
function remaining({ evidence, endpoint }: WaitSituation): PossibleCauses {
  const { waitedMs, stock, limits, queue } = evidence;
  const { minCudaVersion, allowedCudaVersions, volumeIds, compliance } = endpoint;
  const account = seen(limits);
  const isNew = waitedMs === undefined || waitedMs < SCALE_UP_MS;
  const hasCuda = minCudaVersion !== "" || allowedCudaVersions !== "";
  const ids: CauseId[] = [
    ...(isNew ? (["cold-start"] as const) : []),
    // The stock level is an estimate, so no level rules out this cause.
    ...(["no-stock"] as const),
    ...(quotaUse(account) === "free" ? [] : (["worker-quota"] as const)),
    ...(account?.spendLimit === undefined || account.isUnderBalance === undefined ? (["spend-limit"] as const) : []),
    ...(hasCuda ? (["cuda-version"] as const) : []),
    ...(volumeIds.length > 0 ? (["volume-place"] as const) : []),
    ...(compliance.length > 0 ? (["compliance"] as const) : []),
    ...(poolCount(endpoint) > MOST_POOLS ? (["many-pools"] as const) : []),
    ...(!isNew && seen(stock) ? (["stale-binding"] as const) : []),
    // Unless the queue was read, it is unknown whether a job is waiting.
    ...(seen(queue) || endpoint.workersMin > 0 || waitedMs !== undefined ? [] : (["nothing-wrong"] as const)),
  ];
  return ids.map((id) => cause(id, "possible"));
}

/**
 * Returns how much of the account's quota is allotted to its endpoints, or `undefined` if unknown.
 * The service checks the quota when an endpoint is saved, so existing endpoints can start workers
 * even if the whole quota is allotted.
 */
function quotaUse({
  workerQuota,
  workersUsed,
}: Partial<LimitFacts> = {}): "free" | "allotted" | "exceeded" | undefined {
  if (workerQuota === undefined || workersUsed === undefined) return undefined;
  if (workersUsed === workerQuota) return "allotted";
  return workersUsed > workerQuota ? "exceeded" : "free";
}

function accountFindings({ evidence }: WaitSituation, atMost: Certainty): PossibleCauses[] {
  const limits = seen(evidence.limits);
  if (!limits) return [];
  const { spendLimit, spend, isUnderBalance } = limits;
  const isSpent = spendLimit !== undefined && spend !== undefined && spend >= spendLimit;
  return [
    ...(quotaUse(limits) === "exceeded" ? one("worker-quota", atMost) : []),
    ...(isSpent || isUnderBalance === true ? one("spend-limit", atMost) : []),
  ];
}

function stockFindings({ evidence, endpoint }: WaitSituation, atMost: Certainty): PossibleCauses[] {
  const stock = seen(evidence.stock);
  const found = stock && judgeStock(endpoint, stock)?.cause;
  return found ? one(found, atMost) : [];
}

/** Determines whether all workers are busy with jobs and no more workers are allowed. */
function busy({ endpoint, workers, queue, jobsWait, evidence }: WaitSituation): readonly PossibleCauses[] {
  const { running, stale = 0 } = workers;
  if (evidence.awaited !== "jobs" || !queue || !jobsWait || queue.inQueue === 0) return [];
  if (running < endpoint.workersMax || queue.inProgress < running) return [];
  // Workers that run an old version don't take new jobs, so raising the limit would not help.
  if (stale >= running) return [];
  // An idle worker would take the next job, so more workers would not help.
  if (workers.idle + queue.workers.idle > 0) return one("workers-busy", "possible");
  const isExact = workers.isListed && stale === 0 && running === endpoint.workersMax;
  return one("workers-busy", isExact && queue.inProgress % running === 0 ? "certain" : "likely");
}

/** Finds causes if there are workers and jobs are waiting, but no job is in progress. */
function takesNoJobs(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, queue, signs, evidence, alive } = situation;
  const ready = workers.running + workers.idle;
  if (evidence.awaited !== "jobs" || !queue || queue.inQueue === 0 || queue.inProgress > 0 || ready === 0) return [];
  if ((workers.stale ?? 0) >= alive || hasLogged(situation)) return [];
  if (!signs) return [[cause("handler-takes-no-jobs", "possible"), cause("crash-loop", "possible")]];
  // The library is running, so the reason why it gets no jobs is outside the worker.
  if (signs.some(({ hasLibraryLine }) => hasLibraryLine))
    return oneOf("possible", "handler-takes-no-jobs", "stale-binding");
  return one("handler-takes-no-jobs", "likely");
}

function oneWorkerTakesAll({ workers, queue, signs, evidence }: WaitSituation): readonly PossibleCauses[] {
  if (evidence.awaited !== "jobs" || !queue || queue.inQueue === 0 || queue.inProgress === 0) return [];
  if (workers.running !== 1 || workers.idle === 0) return [];
  const versions = signs?.flatMap(({ hasFunnelVersion }) => hasFunnelVersion ?? []) ?? [];
  if (versions.length > 0 && !versions.includes(true)) return [];
  return one("one-worker-takes-all", versions.length > 0 ? "likely" : "possible");
}

function rollingOut({ evidence, workers, queue }: WaitSituation): readonly PossibleCauses[] {
  const rollout = seen(evidence.rollout);
  const stale = workers.stale ?? 0;
  const isAwaited = evidence.awaited !== "jobs" || !queue || queue.inQueue > 0;
  if (!isAwaited || (!rollout?.inProgress && stale === 0)) return [];
  return one("rollout", rollout?.inProgress && stale > 0 ? "likely" : "possible");
}

/**
 * Determines whether all workers are busy with jobs and another worker is allowed, but none is
 * starting.
 */
function scalingRule({ endpoint, workers, queue, evidence }: WaitSituation): readonly PossibleCauses[] {
  const { running, total } = workers;
  const { workersMax, scalerType, scalerValue } = endpoint;
  if (evidence.awaited !== "jobs" || !queue || queue.inQueue === 0 || running === 0) return [];
  if (total !== running || running >= workersMax || queue.inProgress < running) return [];
  if (scalerValue === undefined) return one("scaling-rule", "possible");
  if (scalerType === "REQUEST_COUNT") {
    const isEnough = queue.inQueue + queue.inProgress <= running * scalerValue;
    return isEnough ? one("scaling-rule", "possible") : [];
  }
  const { waitedMs } = evidence;
  if (waitedMs === undefined) return one("scaling-rule", "possible");
  return waitedMs < scalerValue * 1000 ? one("scaling-rule", "likely") : [];
}

/**
 * Determines whether most jobs fail although none are waiting. The counts contain no times, so the
 * problem may be over.
 */
function failing({ queue, signs }: WaitSituation): readonly PossibleCauses[] {
  if (!queue || queue.inQueue > 0 || queue.failed <= queue.completed) return [];
  return one("jobs-failing", signs?.some(({ hasTrace }) => hasTrace) ? "likely" : "possible");
}
