import type { z } from "zod";
import { RUNSYNC_WAIT_MS } from "../contract/limits";
import { ServerlessGpuError } from "../errors";
import { decode } from "../transport/decode";
import { decodeJson, send, unexpectedResponse } from "../transport/http";
import { mayHaveHadEffect } from "../transport/retry";
import { isPathSegment, LONGEST_ID } from "../transport/urls";
import { idIn } from "./idScanner";
import { SubmitUncertainError } from "./jobErrors";
import { isTerminal, type Job, type JobState, submittedSchema, submittedSyncSchema } from "./jobRecord";
import type { QueueRequest, QueueTransport } from "./queueTransport";

/** How a job is submitted. */
export interface SubmitOptions {
  /**
   * `true`: the job may run twice without harm, and a submit whose response was lost is sent again. Default `false`: it is
   * sent again only when it certainly did nothing (status 429, or no connection at all).
   */
  readonly idempotent?: boolean;
  /** Ends the call, its pauses included. What was submitted by then stays submitted. */
  readonly signal?: AbortSignal | undefined;
}

/** A job, and when the request was sent that submitted it, in milliseconds since the epoch. */
export interface Submitted<T> {
  readonly job: T;
  readonly sentAt: number;
}

/** Submits a job and leaves it to run. */
export async function submitRun(
  queue: QueueTransport,
  body: string,
  options: SubmitOptions,
  times: Pick<QueueRequest<JobState>, "timeoutMs" | "keepsAttempt"> = {},
): Promise<Submitted<JobState>> {
  let sentAt = 0;
  const path = () => {
    sentAt = queue.context.clock.now();
    return "run";
  };
  const request = { name: "run", what: "the submit of a job", method: "POST", path, body, ...times } as const;
  return { job: await submitJob(queue, request, submittedSchema, options), sentAt };
}

/** How long a job may take that is submitted and waited for in one request. */
export interface RunSyncTimes {
  /** How long the service is to wait, at most, in milliseconds. */
  readonly waitMs: number;
  /** How long all of it may take, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/** Resolves with the job when it has ended, or as it is when the service has waited for as long as it was told to. */
export async function submitRunSync(
  queue: QueueTransport,
  body: string,
  { waitMs, timeoutMs }: RunSyncTimes,
  options: SubmitOptions,
): Promise<Submitted<Job>> {
  const { clock, retry, attemptTimeoutMs } = queue.context;
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() + timeoutMs;
  let sentAt = 0;
  const path = () => {
    sentAt = clock.now();
    return `runsync?wait=${serverWaitMs(waitMs, deadline - clock.monotonic())}`;
  };
  const request = { name: "runsync", what: "the synchronous submit of a job", method: "POST", path, body } as const;
  const bounds = {
    attemptTimeoutMs: waitMs + attemptTimeoutMs,
    retry: { ...retry, maxElapsedMs: waitMs + retry.maxElapsedMs },
  };
  return { job: await submitJob(queue, { ...request, timeoutMs }, submittedSyncSchema, options, bounds), sentAt };
}

/** The service must answer, with the job's id, a little before the caller's time is over. */
export function serverWaitMs(waitMs: number, timeLeftMs: number): number {
  const forTheAnswerMs = Math.min(10_000, Math.max(1_000, timeLeftMs / 10));
  return Math.max(RUNSYNC_WAIT_MS.min, Math.min(waitMs, Math.floor(timeLeftMs - forTheAnswerMs)));
}

/** Submits a job. Where its response cannot be used and yet names the job, the error does, too. */
async function submitJob<T extends JobState>(
  queue: QueueTransport,
  request: Omit<QueueRequest<T>, "exchange">,
  schema: z.ZodType<T>,
  options: SubmitOptions,
  bounds?: Bounds,
): Promise<T> {
  let jobId: string | undefined;
  const exchange: QueueRequest<T>["exchange"] = async (http, httpRequest) => {
    jobId = undefined;
    const { operation } = httpRequest;
    const response = await send(http, httpRequest);
    try {
      const job = decode(schema, decodeJson(response, operation, http.clock.now()), operation);
      // A result that is there already can be handed over. Everything else needs the id.
      if (isPathSegment(job.id) || (request.name === "runsync" && isTerminal(job.status))) return job;
      jobId = job.id;
      throw unexpectedResponse(operation, "id: is no id that could be part of a path", job);
    } catch (error) {
      // An error's response may hold an id of the error.
      if (response.status < 300) jobId ??= idIn(response.body);
      throw error;
    }
  };
  return submit(queue, { ...request, exchange }, options, bounds, () => jobId);
}

type Bounds = Parameters<QueueTransport["request"]>[1];

/**
 * Makes a call that starts something at the service, with the error that fits when its effect is not known.
 * @param jobIdSeen the id that the last response held, if it did
 */
export async function submit<T>(
  queue: QueueTransport,
  request: QueueRequest<T>,
  { idempotent = false, signal }: SubmitOptions,
  bounds?: Bounds,
  jobIdSeen?: () => string | undefined,
): Promise<T> {
  // An idempotent submit may be refused after an attempt that had its effect.
  let hadEffect = false;
  const exchange: QueueRequest<T>["exchange"] = async (http, httpRequest) => {
    try {
      return await request.exchange(http, httpRequest);
    } catch (error) {
      hadEffect ||= error instanceof ServerlessGpuError && mayHaveHadEffect(error);
      throw error;
    }
  };
  const repeatability = idempotent ? "safe" : "submit";
  try {
    return await queue.request({ ...request, exchange, repeatability, signal }, bounds);
  } catch (error) {
    if (!(error instanceof ServerlessGpuError) || !hadEffect) throw error;
    const jobId = jobIdSeen?.();
    throw new SubmitUncertainError(`${error.message}. ${uncertainty(queue, jobId, idempotent)}`, {
      cause: error,
      jobId,
    });
  }
}

function uncertainty({ endpointId }: QueueTransport, jobId: string | undefined, idempotent: boolean): string {
  const notAgain = idempotent ? "" : " It was not sent again, because the job could then run twice.";
  if (jobId !== undefined) {
    const next = isPathSegment(jobId)
      ? `Go on with client.endpoint("${endpointId}").job("${jobId}")`
      : "Look at the endpoint's requests";
    const shown = jobId.length > LONGEST_ID ? "by a very long id" : JSON.stringify(jobId);
    return `The response names the job ${shown}, so it was submitted.${notAgain} ${next}`;
  }
  return (
    `The job may have been submitted all the same.${notAgain} Look at the endpoint's requests, or submit with ` +
    "idempotent: true where running twice does no harm"
  );
}
