import { adviceOn, CAUSE_IDS, type CauseId, type Certainty, PASSING, WORDS } from "./causes";
import { type Evidence, seen } from "./evidence";
import type { Diagnosis, FoundCause } from "./record";
import { PROOFS, RULES, type Situation, situationOf, spareWorkers } from "./rules";

/** The causes that were found, and how certain they are. */
export type Decision = Pick<Diagnosis, "causes" | "certainty" | "others">;

/**
 * Decides why an endpoint's jobs or workers are waiting, based on the evidence alone. If there are
 * several findings, they are returned in the order in which they should be fixed.
 */
export function decideCauses(evidence: Evidence, endpointId = "<endpoint>"): Decision {
  const situation = situationOf(evidence);
  const found = evidence.awaited === "stop" ? [] : CAUSE_IDS.flatMap((id) => foundOf(id, situation, endpointId));
  const rank = ({ passes: isPassing, certainty }: FoundCause) => (isPassing ? 2 : certainty === "certain" ? 0 : 1);
  const [first, ...others] = found
    .filter(({ certainty }) => certainty !== "possible")
    .sort((one, other) => rank(one) - rank(other));
  // If one cause must be fixed, causes that may pass by themselves do not matter. If one cause
  // explains why there is no worker, other explanations are ruled out.
  const isOpen = (each: FoundCause) => !first || (!situation.hasNone && (first.passes || !each.passes));
  const possible = found.filter((each) => each.certainty === "possible" && isOpen(each));
  const causes = [...(first ? [first] : []), ...possible];
  const named = causes.length > 0 ? causes : [described(...otherwise(situation), situation, endpointId)];
  return { causes: named, certainty: named[0]?.certainty ?? "unknown", others };
}

function foundOf(id: CauseId, situation: Situation, endpointId: string): FoundCause[] {
  const certainty = RULES[id]?.(situation);
  const isProven = certainty === "likely" && PROOFS[id]?.[1](situation.evidence) === true;
  return certainty ? [described(id, isProven ? "certain" : certainty, situation, endpointId)] : [];
}

/** Returns the result if no rule applies. */
function otherwise(situation: Situation): readonly [CauseId, Certainty] {
  const { evidence, awaited, waitedMs, workers, queue, isWaiting } = situation;
  const hasJobs = queue ? queue.inProgress > 0 : workers.running > 0;
  const isSeen = "value" in evidence.workers || queue !== undefined;
  if (awaited === "jobs" && waitedMs === undefined && PROOFS["no-queue"]?.[1](evidence)) return ["no-queue", "certain"];
  if (!isSeen || (awaited === "jobs" && !queue)) return ["unknown", "unknown"];
  if (awaited === "stop" && workers.total > 0)
    return [hasJobs ? "jobs-running" : "workers-stopping", queue ? "likely" : "possible"];
  if (isWaiting && awaited !== "stop") return ["unknown", "unknown"];
  if (awaited === "jobs" && waitedMs !== undefined && hasJobs) return ["jobs-running", "likely"];
  return [awaited === "stop" || isCalm(situation) ? "nothing-wrong" : "no-job-waits", "likely"];
}

/** Returns `true` if everything was read, and nothing shows a problem. */
function isCalm({ evidence, workers, signs }: Situation): boolean {
  const { endpoint, rollout } = evidence;
  const logs = workers.total > 0 ? [evidence.logs] : [];
  const isRead = [endpoint, evidence.workers, rollout, ...logs].every((part) => "value" in part);
  // After a scale to zero, a lone throttled worker may remain.
  const isWell = workers.unhealthy === 0 && workers.throttled < 2 && !workers.stale && !seen(rollout)?.inProgress;
  return isRead && isWell && !signs.some(({ hasTrace, cause }) => hasTrace || cause);
}

function described(id: CauseId, certainty: Certainty, situation: Situation, endpointId: string): FoundCause {
  const { endpoint, evidence } = situation;
  const isOnCpus = "value" in evidence.endpoint && endpoint.gpuIds === "";
  const isFull = id === "workers-busy" && spareWorkers(evidence.limits) <= 0;
  const advice = isFull ? FULL_QUOTA : adviceOn(id, endpointId, !isOnCpus);
  return { id, words: WORDS[id], certainty, advice, passes: PASSING.includes(id) };
}

const FULL_QUOTA =
  "Wait until jobs end. To raise workersMax, lower that of other endpoints first: the account's quota has no room";
