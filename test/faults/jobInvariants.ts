import { ServerlessGpuError } from "../../sdk/errors/errors";
import { SubmitUncertainError } from "../../sdk/jobs/jobErrors";
import type { JobHandle } from "../../sdk/jobs/jobHandle";
import type { CountedJob, CountingService, Operation } from "./countingService";
import type { Action } from "./jobSequences";

/** The result of an action. */
export interface Outcome {
  readonly action: Action;
  readonly tag: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly jobId?: string;
  readonly handle?: JobHandle;
  readonly output?: unknown;
  readonly pieces?: readonly unknown[];
  readonly gaps?: number;
  readonly error?: unknown;
}

/** Errors that say that the call had no effect. */
const WITHOUT_EFFECT = [
  "RATE_LIMITED",
  "CANNOT_CONNECT",
  "REJECTED",
  "NOT_FOUND",
  "JOB_NOT_RETRYABLE",
  "JOB_EXPIRED",
  "INVALID_INPUT",
];

const codeOf = ({ error }: Outcome) => (error instanceof ServerlessGpuError ? error.code : undefined);
const mayHaveHadEffect = (outcome: Outcome) => !WITHOUT_EFFECT.includes(codeOf(outcome) ?? "");

/** Returns all broken rules. The rules depend on the contract, not on the client's code. */
export function problemsOf(outcomes: readonly Outcome[], service: CountingService): string[] {
  return [
    ...outcomes.flatMap((outcome) => untyped(outcome)),
    ...outcomes.flatMap((outcome) => submits(outcome, service)),
    ...outcomes.flatMap((outcome) => streams(outcome, service)),
    ...[...service.jobs.values()].flatMap((job) => retries(job, outcomes, service)),
    ...purges(outcomes, service),
  ];
}

function untyped({ error, action }: Outcome): string[] {
  return error === undefined || error instanceof ServerlessGpuError ? [] : [`${action.kind} threw ${String(error)}`];
}

const effectiveOn = (service: CountingService, about: string, ...operations: Operation[]) =>
  service.effective.filter((each) => each.about === about && operations.includes(each.operation)).length;

/** One submit creates one job, and the client reports it correctly. */
function submits(outcome: Outcome, service: CountingService): string[] {
  const { action, tag, jobId, output, error } = outcome;
  if (action.kind === "wait" && error === undefined) {
    const made = service.jobs.get(jobId ?? "")?.task.tag;
    return (output as { tag?: string }).tag === made ? [] : [`wait gave ${JSON.stringify(output)} for ${made}`];
  }
  if (action.kind !== "run" && action.kind !== "runSync") return [];
  const jobs = [...service.jobs.values()].filter(({ task }) => task.tag === tag).map(({ id }) => id);
  const sent = effectiveOn(service, tag, "run", "runsync");
  const problems: string[] = [];
  if (!action.idempotent && sent > 1) problems.push(`${tag} was sent ${sent} times`);
  if (!action.idempotent && jobs.length > 1) problems.push(`${tag} made ${jobs.join(", ")}`);
  if (error === undefined && !jobs.includes(jobId ?? "")) problems.push(`${tag} is ${jobId}, not ${jobs.join(", ")}`);
  if (error instanceof SubmitUncertainError && error.jobId !== undefined && !jobs.includes(error.jobId)) {
    problems.push(`${tag} may be ${error.jobId}, but is ${jobs.join(", ")}`);
  }
  // The requests after the submit of a runSync may fail in other ways.
  if (action.kind === "run" && error !== undefined && !mayHaveHadEffect(outcome) && jobs.length > 0) {
    problems.push(`${tag} made ${jobs.join(", ")}, but failed with ${codeOf(outcome)}`);
  }
  return problems;
}

/**
 * Each piece that the service returned was yielded once and in order, or the reader was told of a
 * gap.
 */
function streams(outcome: Outcome, service: CountingService): string[] {
  const { action, jobId, pieces = [], gaps = 0, error } = outcome;
  const job = service.jobs.get(jobId ?? "");
  if (action.kind !== "stream" || !job) return [];
  const isAtEnd = error === undefined || codeOf(outcome) === "JOB_FAILED";
  const isToldOfGap = gaps > 0 || codeOf(outcome) === "STREAM_GAP";
  // A response may also come too late for the client, which then reports a gap.
  const expected = isToldOfGap ? job.delivered.filter((piece) => pieces.includes(piece)) : job.delivered;
  const problems: string[] = [];
  if (pieces.join() !== expected.join()) problems.push(`${job.id}: read ${pieces}, delivered were ${job.delivered}`);
  if (isAtEnd && gaps === 0 && job.lost.length > 0) {
    problems.push(`${job.id}: lost ${job.lost.join()} in silence`);
  }
  return problems;
}

/** One call of `retry` causes at most one more run. */
function retries(job: CountedJob, outcomes: readonly Outcome[], service: CountingService): string[] {
  const calls = outcomes.filter(({ action, jobId }) => action.kind === "retry" && jobId === job.id);
  const sent = effectiveOn(service, job.id, "retry");
  const allowed = calls.filter(mayHaveHadEffect).length;
  const problems: string[] = [];
  if (sent > calls.length) problems.push(`${job.id}: ${calls.length} retries were sent ${sent} times`);
  if (job.retries > allowed) problems.push(`${job.id}: ran again ${job.retries} times for ${allowed} retries`);
  return problems;
}

/** One call of `purgeQueue` causes at most one purge, while the call is under way. */
function purges(outcomes: readonly Outcome[], service: CountingService): string[] {
  const calls = outcomes.filter(({ action }) => action.kind === "purge");
  const sent = effectiveOn(service, "", "purge-queue");
  const allowed = calls.filter(mayHaveHadEffect).length;
  const problems: string[] = [];
  if (sent > calls.length) problems.push(`${calls.length} purges were sent ${sent} times`);
  if (service.purgedAt.length > allowed) problems.push(`${service.purgedAt.length} purges for ${allowed} calls`);
  const isWithin = (at: number) => calls.some(({ startedAt, endedAt }) => startedAt <= at && at <= endedAt);
  if (!service.purgedAt.every(isWithin)) problems.push("a purge took place outside of any call");
  return problems;
}
