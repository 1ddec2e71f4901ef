import { z } from "zod";
import {
  type EndpointHealth,
  healthSchema,
  isRetryable,
  type Job,
  type JobState,
  jobSchema,
  jobStateSchema,
  type PurgeResult,
  purgeSchema,
  type StreamChunk,
  streamSchema,
} from "./jobs";
import { pathSegment } from "./pathSegment";
import { jsonOf, type QueueTransport } from "./queueTransport";

/*
 * One function for each operation of the queue that may be sent twice (contract, Queue-based job API). What submits a
 * job is in submit.ts.
 */

const readJob = jsonOf(jobSchema);
const readJobState = jsonOf(jobStateSchema);
const readChunk = jsonOf<StreamChunk>(streamSchema);
const readPurge = jsonOf(purgeSchema);
const readHealthRecord = jsonOf(healthSchema);
const readJson = jsonOf(z.unknown());

/** @param options.ttl the job's new time to live, in milliseconds */
export function readStatus(
  queue: QueueTransport,
  jobId: string,
  { ttl, signal }: { readonly ttl?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Job> {
  const request = jobRequest("status", "GET", jobId);
  const path = ttl === undefined ? request.path : `${request.path}?ttl=${ttl}`;
  return queue.request({ ...request, path, exchange: readJob, signal });
}

const ONE_ATTEMPT = { maxAttempts: 1, maxElapsedMs: Number.POSITIVE_INFINITY };

/** For those who ask again anyway. */
export function readStatusOnce(queue: QueueTransport, jobId: string): Promise<Job> {
  return queue.request({ ...jobRequest("status", "GET", jobId), exchange: readJob }, { retry: ONE_ATTEMPT });
}

/** Hands out what has come since the last read. */
export function readStream(queue: QueueTransport, jobId: string, signal?: AbortSignal): Promise<StreamChunk> {
  return queue.request({ ...jobRequest("stream", "GET", jobId), exchange: readChunk, signal });
}

export function cancelJob(
  queue: QueueTransport,
  jobId: string,
  options: { readonly timeoutMs?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<JobState> {
  return queue.request({ ...jobRequest("cancel", "POST", jobId), exchange: readJobState, ...options });
}

/** A retry whose answer was lost took place when the job is not in a state any more that can be retried. */
export function retryJob(queue: QueueTransport, jobId: string, signal?: AbortSignal): Promise<JobState> {
  const lookUp = async () => {
    const job = await readStatus(queue, jobId, { signal });
    return isRetryable(job.status) ? undefined : job;
  };
  const request = { ...jobRequest("retry", "POST", jobId), exchange: readJobState, signal };
  return queue.request<JobState>({ ...request, repeatability: "create", lookUp });
}

export function purgeQueue(queue: QueueTransport, signal?: AbortSignal): Promise<PurgeResult> {
  const what = "the purge of the queue";
  return queue.request({ name: "purge-queue", what, method: "POST", path: "purge-queue", exchange: readPurge, signal });
}

/** The running workers that it shows may raise the limits. */
export async function readHealth(queue: QueueTransport, signal?: AbortSignal): Promise<EndpointHealth> {
  const request = { name: "health", what: "the health", method: "GET", path: "health", signal } as const;
  const health = await queue.request({ ...request, exchange: readHealthRecord });
  queue.gates.setRunningWorkers(health.workers.running);
  return health;
}

export function readRequests(queue: QueueTransport, signal?: AbortSignal): Promise<unknown> {
  const what = "the list of requests";
  return queue.request({ name: "requests", what, method: "GET", path: "requests", exchange: readJson, signal });
}

function jobRequest(name: string, method: "GET" | "POST", jobId: string) {
  return { name, what: `${name} of job ${jobId}`, method, path: `${name}/${pathSegment("jobId", jobId)}` };
}
