import type { Job, JobStatus } from "../jobs/jobStates";
import type { Endpoints } from "./endpoints";

/**
 * A job as shown in a list, without its input and output. Times are in milliseconds since the
 * epoch.
 */
export interface JobView {
  readonly id: string;
  readonly endpointId: string;
  readonly operation: Job["operation"];
  readonly status: JobStatus;
  readonly submittedAt: number;
  /** When the job last entered the queue. */
  readonly queuedAt: number;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly workerId?: string | undefined;
  /** How many workers have started the job since it was submitted or retried. */
  readonly attempts: number;
  readonly lowPriority: boolean;
  readonly error?: string | undefined;
}

/** A job with its input and output. */
interface JobDetails extends JobView {
  readonly input: unknown;
  /** The result, or the latest progress update while the job is in progress. */
  readonly output?: unknown;
  readonly policy: Job["request"]["policy"];
}

/** Selects jobs that match all given fields. */
export interface JobFilter {
  readonly endpointId?: string | undefined;
  readonly status?: JobStatus | undefined;
}

export function jobView(endpointId: string, job: Job): JobView {
  const { id, operation, status, submittedAt, queuedAt, startedAt, endedAt, workerId, retries, error } = job;
  const attempts = retries + (startedAt === undefined ? 0 : 1);
  const { lowPriority } = job.request.policy;
  const times = { submittedAt, queuedAt, startedAt, endedAt };
  return { id, endpointId, operation, status, ...times, workerId, attempts, lowPriority, error };
}

export function jobDetails(endpointId: string, job: Job): JobDetails {
  const { input, policy } = job.request;
  return { ...jobView(endpointId, job), input, output: job.output, policy };
}

function matchesJob({ endpointId, status }: JobFilter, ofEndpoint: string, job: Job): boolean {
  return (endpointId === undefined || endpointId === ofEndpoint) && (status === undefined || status === job.status);
}

/** A job and the id of its endpoint. */
interface FoundJob {
  readonly endpointId: string;
  readonly job: Job;
}

/** Returns the latest matching jobs, newest last. */
export function latestJobs(endpoints: Endpoints, filter: JobFilter, limit: number): FoundJob[] {
  let found: FoundJob[] = [];
  const trim = () => {
    found.sort((a, b) => a.job.submittedAt - b.job.submittedAt);
    found = found.slice(-limit);
  };
  for (const { record, runtime } of endpoints.all()) {
    if (filter.endpointId !== undefined && filter.endpointId !== record.id) continue;
    for (const job of runtime.jobs()) {
      if (!matchesJob(filter, record.id, job)) continue;
      found.push({ endpointId: record.id, job });
      if (found.length >= 4 * limit) trim();
    }
  }
  trim();
  return found;
}

/** Finds a job by id at any endpoint. */
export function findJob(endpoints: Endpoints, id: string) {
  for (const { record, runtime } of endpoints.all()) {
    const job = runtime.find(id);
    if (job) return { endpointId: record.id, runtime, job };
  }
  return undefined;
}
