import { CAUSE_IDS, CAUSES, CERTAINTIES, type Certainty } from "./causes";
import { doubted } from "./contradictions";
import { type Evidence, type QueueFacts, type ServiceRefusal, seen, type WorkerFacts } from "./evidence";
import type { Diagnosis, FoundCause } from "./record";
import { cause, type PossibleCause, type PossibleCauses, RULES, signsOf, type WaitSituation } from "./rules";

/** The causes that were found, and how certain they are. */
export type Decision = Pick<Diagnosis, "causes" | "certainty" | "others">;

/**
 * Decides why an endpoint's jobs or workers are waiting, based on the evidence alone. If there are
 * several findings, they are returned in the order in which they should be fixed.
 */
export function decideCauses(evidence: Evidence): Decision {
  const findings = findingsIn(evidence)
    .map((finding) => finding.map((each) => doubted(each, evidence)))
    .sort(byUrgency);
  const [first = [cause("unknown", "unknown")], ...rest] = findings;
  const ids = new Set(first.map(({ id }) => id));
  const others = rest.flat().filter(({ id }) => !ids.has(id) && ids.add(id));
  return {
    causes: first.map(shown),
    certainty: first[0]?.certainty ?? "unknown",
    others: others.map(shown),
  };
}

function findingsIn(evidence: Evidence): readonly PossibleCauses[] {
  const stops = accessFindings(evidence);
  if (stops.length > 0) return stops;
  if (evidence.awaited === "stop") return stopFindings(evidence);
  const endpoint = seen(evidence.endpoint);
  const queue = seen(evidence.queue);
  const workers = seen(evidence.workers) ?? queue?.workers;
  const off: PossibleCauses[] = endpoint?.workersMax === 0 ? [[cause("no-workers-allowed", "certain")]] : [];
  if (!endpoint || !workers) return off;
  const situation: WaitSituation = {
    evidence,
    endpoint,
    workers,
    queue,
    signs: signsOf(evidence),
    alive: workers.running + workers.idle,
    // A load-balancing endpoint does not show how many requests are waiting.
    jobsWait: queue && !endpoint.isLoadBalancer ? queue.inQueue > 0 : true,
  };
  if (off.length > 0) return [...off, ...(workers.total > 0 ? RULES.flatMap((rule) => rule(situation)) : [])];
  const failures = evidence.awaited === "jobs" ? failuresIn(situation) : [];
  if (isSatisfied(situation) && failures.length === 0) {
    const isRunning = evidence.awaited === "jobs" && evidence.waitedMs !== undefined && hasJobs(queue, workers);
    return [[cause(isRunning ? "jobs-running" : "nothing-wrong", "likely")]];
  }
  return failures.length > 0 && isSatisfied(situation) ? failures : RULES.flatMap((rule) => rule(situation));
}

/**
 * Returns problems that exist even if nothing is waiting: a container that crashes, and jobs that
 * fail.
 */
function failuresIn(situation: WaitSituation): readonly PossibleCauses[] {
  const isFailure = ([found]: PossibleCauses) => found?.id === "crash-loop" || found?.id === "jobs-failing";
  return RULES.flatMap((rule) => rule(situation)).filter(isFailure);
}

/** Returns `true` if there is nothing left to wait for. */
function isSatisfied({ evidence, endpoint, workers, queue }: WaitSituation): boolean {
  const ready = workers.running + workers.idle;
  if (evidence.awaited === "workers") return ready >= endpoint.workersMin && workers.unhealthy === 0;
  if (!queue || queue.inQueue > 0) return false;
  // A request to a load-balancing endpoint may be waiting even if its queue is empty.
  if (endpoint.isLoadBalancer && (evidence.waitedMs !== undefined || (ready === 0 && workers.total > 0))) return false;
  // If there are no jobs, only the minimum number of workers is needed.
  return ready >= endpoint.workersMin && workers.unhealthy === 0;
}

/**
 * Returns what can be concluded from a rejected read. If the response does not have the form that
 * the service itself uses, nothing is certain, because a gateway or another server may have sent
 * it.
 */
function accessFindings({ endpoint, queue }: Evidence): readonly PossibleCauses[] {
  const management = "value" in endpoint ? undefined : endpoint.failure;
  const ofQueue = "value" in queue ? undefined : queue.failure;
  const said = (refusal: ServiceRefusal | undefined) => (refusal?.isOwn ? refusal.is : undefined);
  if (said(ofQueue) === "no queue") return [[cause("no-queue", "certain")]];
  const isAbsent = said(management) === "absent";
  if (isAbsent && said(ofQueue) === "refused") return [[cause("not-found", "likely"), cause("no-access", "likely")]];
  if (isAbsent) return [[cause("not-found", said(ofQueue) === "absent" ? "certain" : "likely")]];
  if (said(ofQueue) === "refused") return [[cause("no-access", said(management) === "refused" ? "certain" : "likely")]];
  if ([management, ofQueue].some((each) => each?.is === "refused" && !each.isOwn))
    return [[cause("no-access", "possible"), cause("unknown", "unknown")]];
  return [];
}

/** Returns the reasons why an endpoint that was scaled to zero still has workers. */
function stopFindings(evidence: Evidence): readonly PossibleCauses[] {
  const queue = seen(evidence.queue);
  const workers = seen(evidence.workers) ?? queue?.workers;
  if (!workers) return [];
  if (workers.total === 0) return [[cause("nothing-wrong", "likely")]];
  if (hasJobs(queue, workers)) return [[cause("jobs-running", queue ? "likely" : "possible")]];
  return [[cause("workers-stopping", queue ? "likely" : "possible")]];
}

function hasJobs(queue: QueueFacts | undefined, { running }: WorkerFacts): boolean {
  return queue ? queue.inProgress > 0 : running > 0;
}

function byUrgency([one]: PossibleCauses, [other]: PossibleCauses): number {
  if (!one || !other) return 0;
  return (
    groupOf(one) - groupOf(other) ||
    rank(one.certainty) - rank(other.certainty) ||
    CAUSE_IDS.indexOf(one.id) - CAUSE_IDS.indexOf(other.id)
  );
}

/**
 * Returns the group by which a cause is sorted: first causes that someone must fix, then causes
 * that go away by themselves, and finally causes that are only possible.
 */
function groupOf({ id, certainty }: PossibleCause): number {
  if (certainty === "possible" || certainty === "unknown") return 2;
  return CAUSES[id].passes ? 1 : 0;
}

const rank = (certainty: Certainty) => CERTAINTIES.indexOf(certainty);

function shown({ id, certainty }: PossibleCause): FoundCause {
  const { words, advice, passes } = CAUSES[id];
  return { id, words, certainty, advice, passes };
}
