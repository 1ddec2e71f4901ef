import type { Decision } from "./decide";
import { type EndpointFacts, type Evidence, type Part, type QueueFacts, seen, type WorkerFacts } from "./evidence";
import type { Diagnosis, Fact, FoundCause, MissingFact } from "./record";
import { judgeStock } from "./stock";

/** Returns the facts in the evidence, as text. */
export function factsIn(evidence: Evidence): Fact[] {
  const { endpoint, listed, workers, rollout, queue, stock, limits, logs } = evidence;
  const settings = seen(endpoint);
  const fact = <T>(part: Part<T>, inWords: (value: T) => string | undefined): Fact[] => {
    const read = "value" in part ? part : part.failure;
    const text = "value" in part ? inWords(part.value) : part.why;
    if (text === undefined || !read) return [];
    const { source, readAt } = read;
    return [{ text, source, readAt: new Date(readAt), ageMs: Math.max(0, Math.round(evidence.now - readAt)) }];
  };
  return [
    ...fact(endpoint, endpointWords),
    ...fact(listed, (isListed) => `the list of endpoints ${isListed ? "contains it" : "does not contain it"}`),
    ...fact(workers, workerWords),
    ...fact(rollout, ({ inProgress, workersOnLatest, workersTotal, changed, releasedAt }) => {
      const what = changed.length > 0 ? `, which changed ${changed.join(", ")}` : "";
      const latest = releasedAt === undefined ? "" : `; last release ${releasedAt}${what}`;
      const progress = inProgress ? `in progress, ${workersOnLatest} of ${workersTotal} workers on it` : "none";
      return `rollout: ${progress}${latest}`;
    }),
    ...fact(queue, queueWords),
    ...fact(stock, (facts) => settings && judgeStock(settings, facts)?.words),
    ...fact(limits, ({ workerQuota, workersUsed, spendLimit, spend, isUnderBalance }) => {
      const parts = [
        ...(workerQuota === undefined ? [] : [workerWordsOf(workersUsed, workerQuota)]),
        ...(spendLimit === undefined ? [] : [`${spend ?? "?"} of ${spendLimit} US dollars an hour`]),
        ...(isUnderBalance === undefined ? [] : [isUnderBalance ? "balance too low" : "enough balance"]),
      ];
      return parts.length > 0 ? `account: ${parts.join(", ")}` : undefined;
    }),
    ...fact(logs, (all) => {
      const count = all.reduce((sum, { lines }) => sum + lines.length, 0);
      const cut = all.some(({ isCut }) => isCut) ? ", and not the newest, because the log is too long" : "";
      return `log: ${count} lines of ${all.map(({ workerId }) => workerId).join(", ") || "no worker"}${cut}`;
    }),
  ];
}

/** Returns the facts that were requested but are missing. */
export function missingIn(evidence: Evidence): MissingFact[] {
  const parts = {
    "the endpoint": evidence.endpoint,
    "each worker": evidence.workers,
    "the rollout": evidence.rollout,
    "its queue": evidence.queue,
    "the list of endpoints": evidence.listed,
    "the stock": evidence.stock,
    "the data centers of its network volumes": evidence.volumes,
    "the account's limits": evidence.limits,
    "the logs": evidence.logs,
  };
  return Object.entries<Part<unknown>>(parts).flatMap(([what, part]) =>
    "value" in part || part.why === undefined || part.failure ? [] : [{ what, why: part.why }],
  );
}

function endpointWords({ workersMin, workersMax, gpuIds, locations, scalerType, scalerValue }: EndpointFacts): string {
  const where = [gpuIds, locations].filter((text) => text !== "").join(" in ");
  const scaler = scalerType === undefined ? "" : `, ${scalerType} ${scalerValue ?? ""}`.trimEnd();
  return `endpoint: workersMin ${workersMin}, workersMax ${workersMax}${where === "" ? "" : `, ${where}`}${scaler}`;
}

function workerWords({ running, idle, initializing, throttled, unhealthy, stale }: WorkerFacts): string {
  const counts = Object.entries({ running, idle, initializing, throttled, unhealthy });
  const words = counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${state}`);
  const old = stale ? `, ${stale} of an old version` : "";
  return `workers: ${words.join(", ") || "none"}${old}`;
}

function queueWords({ inQueue, inProgress, completed, failed, workers }: QueueFacts): string {
  const ended = failed > 0 ? `, ${completed} completed, ${failed} failed` : "";
  return `queue: ${inQueue} waiting, ${inProgress} in progress${ended}, ${workerWords(workers)}`;
}

/** Returns a diagnosis in one line, which changes only if the causes change. */
export function summaryOf({ causes, certainty, others }: Decision): string {
  const list = (some: readonly FoundCause[], separator: string) => some.map(({ words }) => words).join(separator);
  const same = causes.filter((each) => each.certainty === certainty);
  const less = causes.filter((each) => each.certainty !== certainty);
  const sure = certainty === "unknown" ? "" : ` (${certainty})`;
  return [
    `${list(same, ", or ")}${sure}`,
    ...(less.length > 0 ? [`Not excluded: ${list(less, "; ")}`] : []),
    ...(others.length > 0 ? [`Also: ${others.map((each) => `${each.words} (${each.certainty})`).join("; ")}`] : []),
  ].join(". ");
}

/** Returns a diagnosis as lines of text, without the endpoint's name. */
export function linesIn({ causes, others, evidence, missing, lines, summary }: Diagnosis): string[] {
  return [
    summary,
    ...causes.map(
      ({ words, advice, certainty }) => `  ${causes.length > 1 ? `${words} (${certainty}): ` : ""}${advice}.`,
    ),
    ...others.map(({ words, advice, certainty }) => `  Then ${words} (${certainty}): ${advice}.`),
    ...evidence.map(({ text, source, ageMs }) => `  seen ${Math.round(ageMs / 1000)} s ago (${source}): ${text}`),
    ...missing.map(({ what, why }) => `  not seen: ${what}: ${why}`),
    ...lines.map(({ workerId, source, line }) => `  log of ${workerId}, ${source}: ${line}`),
  ];
}

/**
 * Describes how much of the quota is in use. More than the quota may be in use, because the quota
 * can be lowered afterwards.
 */
function workerWordsOf(used: number | undefined, quota: number): string {
  if (used === undefined || used <= quota) return `workers ${used ?? "?"} of ${quota}`;
  return `the sum of workersMax is ${used}, above the quota of ${quota}`;
}
