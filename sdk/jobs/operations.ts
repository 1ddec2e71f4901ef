import * as z from "zod";
import { ServerlessGpuError } from "../errors/errors";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { unexpectedResponse } from "../transport/responseErrors";
import { mayHaveHadEffect } from "../transport/retryPolicy";
import { pathSegment } from "../transport/urls";
import { PurgeUncertainError, RetryUncertainError } from "./jobErrors";
import {
  type EndpointHealth,
  healthSchema,
  isRetryable,
  type Job,
  jobSchema,
  jobStatusSchema,
  type PurgeResult,
  purgeSchema,
  type StreamChunk,
  streamSchema,
} from "./jobRecord";
import { jsonReader, type QueueCall, type QueueTransport } from "./queueTransport";

/*
 * One function for each operation of the queue (contract, Queue-based job API). Those that submit a
 * job are in submit.ts. A purge, a retry of a job and a read of a stream have a different effect if
 * they are sent twice, so they are not sent again once they may have taken effect.
 */

const readJob = ofJob(jsonReader(jobSchema));
const readJobStatus = ofJob(jsonReader(jobStatusSchema));
const readChunk = ofJob(jsonReader<StreamChunk>(streamSchema));
const readPurge = jsonReader(purgeSchema);
const readHealthRecord = jsonReader(healthSchema);
const readJson = jsonReader(z.unknown());

/**
 * Reads a job.
 * @param options.ttl the job's new time to live, in milliseconds
 */
export function readStatus(
  queue: QueueTransport,
  jobId: string,
  options: ObservedOptions & { readonly ttl?: number | undefined } = {},
): Promise<Job> {
  const { ttl, timeoutMs, maxRetries, signal, headers, onResponse } = options;
  const { name, what, method, path: plainPath } = jobRequest("status", "GET", jobId);
  const path = ttl === undefined ? plainPath : `${plainPath}?ttl=${ttl}`;
  const sendAndRead = readJob(jobId);
  // This is the most frequent call, and spreads would take a fifth of the client's CPU time here.
  return queue.request({
    name,
    what,
    method,
    path,
    jobId,
    sendAndRead,
    timeoutMs,
    maxRetries,
    signal,
    headers,
    onResponse,
  });
}

/** Reads a job in a single attempt, for callers that poll. */
export function readStatusOnce(queue: QueueTransport, jobId: string, signal?: AbortSignal): Promise<Job> {
  return readStatus(queue, jobId, { signal, maxRetries: 0 });
}

/**
 * Reads a job in a single attempt. The service holds the request until the job has ended, for at
 * most `holdMs` (observed). The request counts toward the limit of `/status`, because no separate
 * limit is known.
 */
export function holdStatusOnce(
  queue: QueueTransport,
  jobId: string,
  holdMs: number,
  signal: AbortSignal,
): Promise<Job> {
  const request = jobRequest("status-sync", "GET", jobId);
  const path = `${request.path}?wait=${holdMs}`;
  const { retry, attemptTimeoutMs } = queue.context;
  return queue.request(
    { ...request, path, limit: "status", maxRetries: 0, sendAndRead: readJob(jobId), signal },
    { attemptTimeoutMs: holdMs + attemptTimeoutMs, retry: { ...retry, maxElapsedMs: holdMs + retry.maxElapsedMs } },
  );
}

/**
 * Reads the pieces that have arrived since the last read. If a response is lost, the service does
 * not return its pieces again.
 */
export function readStream(queue: QueueTransport, jobId: string, options: RequestOptions): Promise<StreamChunk> {
  const request = { ...options, ...jobRequest("stream", "GET", jobId), sendAndRead: readChunk(jobId) };
  return queue.request({ ...request, repeatability: "submit" });
}

export function cancelJob(queue: QueueTransport, jobId: string, options: ObservedOptions): Promise<Job> {
  return queue.request({ ...options, ...jobRequest("cancel", "POST", jobId), sendAndRead: readJobStatus(jobId) });
}

/**
 * Retries a job. If the response is lost, the job's status is read. If this status no longer allows
 * a retry, the retry took effect. If it still allows a retry, the outcome is uncertain, because the
 * job may have run and failed again.
 */
export async function retryJob(queue: QueueTransport, jobId: string, options: ObservedOptions): Promise<Job> {
  const request = { ...options, ...jobRequest("retry", "POST", jobId), sendAndRead: readJobStatus(jobId) };
  return sendOnce(queue, request, async (cause) => {
    const job = await readStatus(queue, jobId, options).catch((error: unknown) => {
      if (error instanceof ServerlessGpuError) return undefined;
      throw error;
    });
    if (job && !isRetryable(job.status)) return job;
    const found = job ? `The job is ${job.status}` : "The job's status could not be read";
    const message =
      `${cause.message}. ${found}: the retry may not have taken effect, or the job may have run again. It was not sent again, ` +
      "because the job could then run twice. Check status() and the worker's log. Call retry() only if running twice is safe";
    throw new RetryUncertainError(message, jobId, { cause });
  });
}

export function purgeQueue(queue: QueueTransport, options: ObservedOptions): Promise<PurgeResult> {
  const what = "the purge of the queue";
  const request = { ...options, name: "purge-queue", what, method: "POST", path: "purge-queue" } as const;
  return sendOnce(queue, { ...request, sendAndRead: readPurge }, (cause) => {
    const message =
      `${cause.message}. The purge may have taken effect. It was not sent again, because it could then ` +
      "remove jobs that were submitted since. Check jobs.inQueue of health(); purge again only if all jobs now waiting " +
      "may be removed";
    throw new PurgeUncertainError(message, { cause });
  });
}

/**
 * Makes a call that is not sent again once it may have taken effect. In that case, `onUncertain`
 * returns the result or throws.
 */
async function sendOnce<T>(
  queue: QueueTransport,
  request: QueueCall<T>,
  onUncertain: (cause: ServerlessGpuError) => T | Promise<T>,
): Promise<T> {
  try {
    return await queue.request({ ...request, repeatability: "submit" });
  } catch (error) {
    if (!(error instanceof ServerlessGpuError) || !mayHaveHadEffect(error)) throw error;
    return onUncertain(error);
  }
}

/**
 * Reads the endpoint's health. The number of running workers in the response may raise the rate
 * limits.
 */
export async function readHealth(queue: QueueTransport, options: ObservedOptions): Promise<EndpointHealth> {
  const request = { ...options, name: "health", what: "the health", method: "GET", path: "health" } as const;
  const health = await queue.request({ ...request, sendAndRead: readHealthRecord });
  queue.gates.setRunningWorkers(health.workers.running);
  return health;
}

export function readRequests(queue: QueueTransport, options: ObservedOptions): Promise<unknown> {
  const what = "the list of requests";
  const request = { ...options, name: "requests", what, method: "GET", path: "requests" } as const;
  return queue.request({ ...request, sendAndRead: readJson });
}

function jobRequest(name: string, method: "GET" | "POST", jobId: string) {
  const path = `${name}/${pathSegment("jobId", jobId)}`;
  return { name, what: `${name} of job ${jobId}`, method, path, jobId };
}

/**
 * Returns a function that reads a response about one job. The function throws an error if the
 * response is about another job.
 */
function ofJob<T extends { readonly id?: string }>(
  sendAndRead: QueueCall<T>["sendAndRead"],
): (jobId: string) => QueueCall<T>["sendAndRead"] {
  return (jobId) => async (http, httpRequest) => {
    const read = await sendAndRead(http, httpRequest);
    if (read.id === undefined || read.id === jobId) return read;
    throw unexpectedResponse(httpRequest.operation, `id: must be ${jobId}`, read);
  };
}
