import type { Decision } from "./decide";
import type { Evidence, LimitFacts, Part, QueueFacts, RolloutFacts, WorkerFacts } from "./evidence";
import type { EndpointFacts } from "./facts";
import type { Diagnosis, Fact, FoundCause, MissingFact } from "./record";

/** Returns the facts in the evidence, as text, and what was requested but is missing. */
export function inText(evidence: Evidence): { readonly evidence: Fact[]; readonly missing: MissingFact[] } {
  const facts: Fact[] = [];
  const missing: MissingFact[] = [];
  const add = <T>(part: Part<T>, what: string, inWords: (value: T) => string | undefined) => {
    const read = "value" in part ? part : part.failure;
    const text = "value" in part ? inWords(part.value) : part.why;
    if (text === undefined) return;
    if (!read) return missing.push({ what, why: text });
    const { source, readAt } = read;
    facts.push({ text, source, readAt: new Date(readAt), ageMs: Math.max(0, Math.round(evidence.now - readAt)) });
  };
  add(evidence.endpoint, "the endpoint", endpointWords);
  add(
    evidence.listed,
    "the list of endpoints",
    (is) => `the list of endpoints ${is ? "contains" : "does not contain"} it`,
  );
  add(evidence.workers, "each worker", workerWords);
  add(evidence.rollout, "the rollout", rolloutWords);
  add(evidence.queue, "its queue", queueWords);
  add(evidence.stock, "the stock", ({ words }) => words || undefined);
  add(evidence.volumes, "the data centers of its network volumes", () => undefined);
  add(evidence.limits, "the account's limits", limitWords);
  add(evidence.secrets, "the account's secrets", ({ missing: names }) =>
    names.length > 0 ? `the account has no secret ${names.join(", ")}` : undefined,
  );
  add(evidence.logs, "the logs", (all) => {
    const count = all.reduce((sum, { lines }) => sum + lines.length, 0);
    const cut = all.some(({ isCut }) => isCut) ? ", and not the newest, because the log is too long" : "";
    return `log: ${count} lines of ${all.map(({ workerId }) => workerId).join(", ") || "no worker"}${cut}`;
  });
  return { evidence: facts, missing };
}

function endpointWords({ workersMin, workersMax, gpuIds, locations, scalerType, scalerValue }: EndpointFacts): string {
  const where = [gpuIds, locations].filter((text) => text !== "").join(" in ");
  const scaler = scalerType && `${scalerType} ${scalerValue ?? ""}`.trim();
  const parts = [`workersMin ${workersMin}`, `workersMax ${workersMax}`, where, scaler];
  return `endpoint: ${parts.filter(Boolean).join(", ")}`;
}

function workerWords({ stale, running, idle, initializing, throttled, unhealthy }: WorkerFacts): string {
  const counts = { running, idle, initializing, throttled, unhealthy };
  const words = Object.entries(counts).flatMap(([state, count]) => (count > 0 ? `${count} ${state}` : []));
  return `workers: ${words.join(", ") || "none"}${stale ? `, ${stale} of an old version` : ""}`;
}

function rolloutWords({ inProgress, workersOnLatest, workersTotal, changed, releasedAt }: RolloutFacts): string {
  const what = changed.length > 0 ? `, which changed ${changed.join(", ")}` : "";
  const progress = inProgress ? `in progress, ${workersOnLatest} of ${workersTotal} workers on it` : "none";
  return `rollout: ${progress}${releasedAt === undefined ? "" : `; last release ${releasedAt}${what}`}`;
}

function queueWords({ inQueue, inProgress, completed, failed, workers }: QueueFacts): string {
  const ended = failed > 0 ? `, ${completed} completed, ${failed} failed` : "";
  return `queue: ${inQueue} waiting, ${inProgress} in progress${ended}, ${workerWords(workers)}`;
}

function limitWords({ workerQuota, workersUsed, spendLimit, spend, isUnderBalance }: LimitFacts): string | undefined {
  const parts = [
    workerQuota !== undefined && `the sum of workersMax is ${workersUsed ?? "unknown"}, the quota ${workerQuota}`,
    spendLimit !== undefined && `${spend ?? "?"} of ${spendLimit} US dollars an hour`,
    isUnderBalance !== undefined && (isUnderBalance ? "balance too low" : "enough balance"),
  ].filter(Boolean);
  return parts.length > 0 ? `account: ${parts.join(", ")}` : undefined;
}

/** Returns a diagnosis in one line, which changes only if the causes change. */
export function summaryOf({ causes: [first, ...possible], others }: Decision): string {
  const also = others.map(inWords).join("; ");
  if (!first) return "";
  const open = possible.map(({ words }) => words);
  if (first.certainty === "possible") return `${[first.words, ...open].join(", or ")} (possible)`;
  const isOpen = open.length > 0 ? `. Not excluded: ${open.join("; ")}` : "";
  return `${first.certainty === "unknown" ? first.words : inWords(first)}${isOpen}${also && `. Also: ${also}`}`;
}

const inWords = ({ words, certainty }: FoundCause) => `${words} (${certainty})`;

/** Returns a diagnosis as lines of text, without the endpoint's name. */
export function linesIn({ causes, others, evidence, missing, lines, summary }: Diagnosis): string[] {
  return [
    summary,
    ...causes.map((each) => `  ${causes.length > 1 ? `${inWords(each)}: ` : ""}${each.advice}.`),
    ...others.map((each) => `  Then ${inWords(each)}: ${each.advice}.`),
    ...evidence.map(({ text, source, ageMs }) => `  seen ${Math.round(ageMs / 1000)} s ago (${source}): ${text}`),
    ...missing.map(({ what, why }) => `  not seen: ${what}: ${why}`),
    ...lines.map(({ workerId, source, line }) => `  log of ${workerId}, ${source}: ${line}`),
  ];
}
