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

/** A cause with how sure it is. */
export interface PossibleCause {
  readonly id: CauseId;
  readonly certainty: Certainty;
}

/**
 * A cause, or several that the evidence does not tell apart: one of them, the most likely first.
 */
export type PossibleCauses = readonly PossibleCause[];

/** The evidence in the form in which the rules read it. */
export interface WaitSituation {
  readonly evidence: Evidence;
  readonly endpoint: EndpointFacts;
  readonly workers: WorkerFacts;
  /** `undefined` if the queue could not be read. */
  readonly queue: QueueFacts | undefined;
  /** What the logs say. `undefined` if they were not read. */
  readonly signs: readonly LogSigns[] | undefined;
  /** Workers that do or could do something: those that wait for a machine do not count. */
  readonly alive: number;
  /** `true` if jobs wait, or if it is not known whether any do. */
  readonly jobsWait: boolean;
}

type Rule = (situation: WaitSituation) => readonly PossibleCauses[];

/** After this time, the service itself counts a start as failed, in milliseconds (observed). */
const LONGEST_START_MS = 7 * 60_000;
/** Starts with many pools that were seen to hang had lasted longer, in milliseconds (observed). */
const MANY_POOLS_MS = 10 * 60_000;
const MOST_POOLS = 3;
/** In this time after a job arrives, an endpoint without workers is only scaling up. */
const SCALE_UP_MS = 2 * 60_000;

/** Returns a cause, at most as sure as its row allows. */
export function cause(id: CauseId, certainty: Certainty): PossibleCause {
  return { id, certainty: lessSure(certainty, CAUSES[id].atMost) };
}

const one = (id: CauseId, certainty: Certainty): PossibleCauses[] => [[cause(id, certainty)]];
const oneOf = (certainty: Certainty, ...ids: CauseId[]): PossibleCauses[] => [ids.map((id) => cause(id, certainty))];

/** Returns the logs' signs. */
export function signsOf({ logs, now }: Evidence): readonly LogSigns[] | undefined {
  return seen(logs)?.map((log) => signsIn(log, now));
}

/** Every rule about an endpoint that may have workers. Their order has no meaning. */
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

/** What a log shows is shown by the service itself, so it can be certain. */
function logged(situation: WaitSituation): readonly PossibleCauses[] {
  const shown = (situation.signs ?? []).flatMap(({ cause: found }) => found ?? []);
  const ids = [...new Set(shown.map(({ id }) => id))];
  return ids.flatMap((id) => {
    const isCertain = shown.some((each) => each.id === id && each.certainty === "certain");
    const atMost = surestBeside(id, situation);
    return atMost ? [[cause(id, lessSure(isCertain ? "certain" : "likely", atMost))]] : [];
  });
}

/** Returns how sure a log can be beside the states of the workers: it may show what is over. */
function surestBeside(id: CauseId, { workers }: WaitSituation): Certainty | undefined {
  const { initializing, unhealthy } = workers;
  if (id === "image-pulling") return initializing > 0 ? "certain" : undefined;
  return id === "image-pull" && initializing + unhealthy === 0 ? "possible" : "certain";
}

function hasLogged(situation: WaitSituation): boolean {
  return logged(situation).length > 0;
}

/** Crashed workers and failed pulls look alike without a log. */
function unhealthy(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, signs } = situation;
  if (workers.unhealthy === 0 || hasLogged(situation)) return [];
  return oneOf(signs ? "possible" : "likely", "crash-loop", "image-pull");
}

/** A worker that starts: for a short time that is normal, and a crash loop can look the same. */
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

/** Throttled workers alone say nothing for sure about stock. */
function throttled(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, signs } = situation;
  if (workers.throttled === 0 || workers.idle > 0) return [];
  // A container that crashes can be shown as throttled.
  if (logged(situation).some(([found]) => found?.id === "crash-loop")) return [];
  const isAlone = workers.throttled === workers.total;
  const stock = isAlone ? stockFindings(situation, "likely") : [];
  const account = isAlone ? accountFindings(situation, "likely") : [];
  const crash = isAlone && !signs ? [cause("crash-loop", "possible")] : [];
  const found = [...account, ...stock];
  return found.length > 0 ? found : [[cause("throttled", "likely"), ...crash]];
}

/** No worker, or fewer than `workersMin`, and none that starts. */
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

/** Returns what is left if nothing was found: without workers, the service does not show more. */
function remaining({ evidence, endpoint }: WaitSituation): PossibleCauses {
  const { waitedMs, stock, limits, queue } = evidence;
  const { minCudaVersion, allowedCudaVersions, volumeIds, compliance } = endpoint;
  const account = seen(limits);
  const isNew = waitedMs === undefined || waitedMs < SCALE_UP_MS;
  const hasCuda = minCudaVersion !== "" || allowedCudaVersions !== "";
  const ids: CauseId[] = [
    ...(isNew ? (["cold-start"] as const) : []),
    // The level is an estimate, so no level excludes this.
    ...(["no-stock"] as const),
    ...(quotaUse(account) === "free" ? [] : (["worker-quota"] as const)),
    ...(account?.spendLimit === undefined || account.isUnderBalance === undefined ? (["spend-limit"] as const) : []),
    ...(hasCuda ? (["cuda-version"] as const) : []),
    ...(volumeIds.length > 0 ? (["volume-place"] as const) : []),
    ...(compliance.length > 0 ? (["compliance"] as const) : []),
    ...(poolCount(endpoint) > MOST_POOLS ? (["many-pools"] as const) : []),
    ...(!isNew && seen(stock) ? (["stale-binding"] as const) : []),
    // Without its queue, nothing shows that a job waits.
    ...(seen(queue) || endpoint.workersMin > 0 || waitedMs !== undefined ? [] : (["nothing-wrong"] as const)),
  ];
  return ids.map((id) => cause(id, "possible"));
}

/**
 * Returns how much of the account's quota its endpoints have. The quota is checked when an endpoint
 * is saved, so an account that allots all of it can use it. `undefined` if it is not known.
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

/** All workers have jobs, and no other is allowed. */
function busy({ endpoint, workers, queue, jobsWait, evidence }: WaitSituation): readonly PossibleCauses[] {
  const { running, stale = 0 } = workers;
  if (evidence.awaited !== "jobs" || !queue || !jobsWait || queue.inQueue === 0) return [];
  if (running < endpoint.workersMax || queue.inProgress < running) return [];
  // Workers of an old version take no more jobs, so there is nothing to raise.
  if (stale >= running) return [];
  // An idle worker takes the next job, so more workers would not help.
  if (workers.idle + queue.workers.idle > 0) return one("workers-busy", "possible");
  const isExact = workers.isListed && stale === 0 && running === endpoint.workersMax;
  return one("workers-busy", isExact && queue.inProgress % running === 0 ? "certain" : "likely");
}

/** Workers are there, jobs wait, and none is in progress. */
function takesNoJobs(situation: WaitSituation): readonly PossibleCauses[] {
  const { workers, queue, signs, evidence, alive } = situation;
  const ready = workers.running + workers.idle;
  if (evidence.awaited !== "jobs" || !queue || queue.inQueue === 0 || queue.inProgress > 0 || ready === 0) return [];
  if ((workers.stale ?? 0) >= alive || hasLogged(situation)) return [];
  if (!signs) return [[cause("handler-takes-no-jobs", "possible"), cause("crash-loop", "possible")]];
  // The library runs, so what keeps the jobs back is not in the worker.
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

/** All workers have jobs, another one is allowed, and none starts. */
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

/** Nothing waits, but most jobs fail. The counts have no times, so it may be over. */
function failing({ queue, signs }: WaitSituation): readonly PossibleCauses[] {
  if (!queue || queue.inQueue > 0 || queue.failed <= queue.completed) return [];
  return one("jobs-failing", signs?.some(({ hasTrace }) => hasTrace) ? "likely" : "possible");
}
