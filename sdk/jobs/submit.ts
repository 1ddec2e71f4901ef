import type { z } from "zod";
import { RUNSYNC_WAIT_MS } from "../contract/limits";
import { ServerlessGpuError } from "../errors/errors";
import { aBoolean, type OptionChecks, REQUEST_OPTIONS } from "../transport/callOptions";
import { decode } from "../transport/decode";
import { type ObservedOptions, type RequestOptions, requestOptions } from "../transport/requestOptions";
import { decodeJson, unexpectedResponse } from "../transport/responseErrors";
import { mayHaveHadEffect } from "../transport/retryPolicy";
import { send } from "../transport/send";
import { isPathSegment, LONGEST_ID } from "../transport/urls";
import { idIn } from "./idScanner";
import { SubmitUncertainError } from "./jobErrors";
import { isTerminal, type Job, submittedSchema, submittedSyncSchema } from "./jobRecord";
import type { QueueCall, QueueTransport } from "./queueTransport";

/** Options for a submit. */
export interface SubmitOptions extends RequestOptions {
  /**
   * `true` if the job may run twice without harm. In that case, a submit whose response was lost is
   * sent again. With `false`, a submit is sent again only if it had no effect (status 429, or no
   * connection).
   * @default false
   */
  readonly idempotent?: boolean | undefined;
  /** Aborts the call, including its pauses. A job that was already submitted stays submitted. */
  readonly signal?: AbortSignal | undefined;
}

export const SUBMIT_OPTIONS: OptionChecks<SubmitOptions> = { ...REQUEST_OPTIONS, idempotent: aBoolean };

/** A job, and the time at which its submit was sent, in milliseconds since the epoch. */
export interface Submitted<T> {
  readonly job: T;
  readonly sentAt: number;
}

/** Controls the attempts of a submit. */
export interface SubmitTimes extends Pick<QueueCall<Job>, "keepsAttempt"> {
  /** Called right before each attempt. If it throws, nothing is sent. */
  readonly beforeSend?: () => void;
}

/** Submits a job without waiting for its end. */
export async function submitRun(
  queue: QueueTransport,
  body: string,
  options: SubmitOptions & ObservedOptions,
  { keepsAttempt, beforeSend }: SubmitTimes = {},
): Promise<Submitted<Job>> {
  let sentAt = 0;
  const path = () => {
    beforeSend?.();
    sentAt = queue.context.clock.now();
    return "run";
  };
  const request = { name: "run", what: "the submit of a job", method: "POST", path, body, keepsAttempt } as const;
  return { job: await submitJob(queue, request, submittedSchema, options), sentAt };
}

/**
 * Submits a job. Returns the job when it has ended, or when the service has waited for `waitMs`, in
 * milliseconds.
 */
export async function submitRunSync(
  queue: QueueTransport,
  body: string,
  waitMs: number,
  options: SubmitOptions,
): Promise<Submitted<Job>> {
  const { clock, retry, attemptTimeoutMs } = queue.context;
  const { timeoutMs } = options;
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
  return { job: await submitJob(queue, request, submittedSyncSchema, options, bounds), sentAt };
}

/**
 * Returns how long the service may wait so that its response still arrives within the caller's
 * time.
 */
export function serverWaitMs(waitMs: number, timeLeftMs: number): number {
  const forTheResponseMs = Math.min(10_000, Math.max(1_000, timeLeftMs / 10));
  return Math.max(RUNSYNC_WAIT_MS.min, Math.min(waitMs, Math.floor(timeLeftMs - forTheResponseMs)));
}

/**
 * Submits a job. If the response is not valid but contains the job's id, the error contains it too.
 */
async function submitJob<T extends Job>(
  queue: QueueTransport,
  request: Omit<QueueCall<T>, "sendAndRead">,
  schema: z.ZodType<T>,
  options: SubmitOptions,
  bounds?: Bounds,
): Promise<T> {
  let jobId: string | undefined;
  const sendAndRead: QueueCall<T>["sendAndRead"] = async (http, httpRequest) => {
    jobId = undefined;
    const { operation } = httpRequest;
    const response = await send(http, httpRequest);
    try {
      const job = decode(schema, decodeJson(response, operation, http.clock.now()), operation);
      // A result of an ended job can be returned even without a valid id. Everything else needs the
      // id.
      if (isPathSegment(job.id) || (request.name === "runsync" && isTerminal(job.status))) return job;
      jobId = job.id;
      throw unexpectedResponse(operation, "id: cannot be part of a path", job);
    } catch (error) {
      // The id in an error response may be the id of the error.
      if (response.status < 300) jobId ??= idIn(response.body);
      throw error;
    }
  };
  return submit(queue, { ...request, sendAndRead }, options, bounds, () => jobId);
}

type Bounds = Parameters<QueueTransport["request"]>[1];

/**
 * Sends a request that starts something at the service.
 * @param jobIdSeen returns the id in the last response, if it contained one
 * @throws SubmitUncertainError if it is not known whether the request took effect
 */
export async function submit<T>(
  queue: QueueTransport,
  request: QueueCall<T>,
  { idempotent = false, ...options }: SubmitOptions,
  bounds?: Bounds,
  jobIdSeen?: () => string | undefined,
): Promise<T> {
  // An idempotent submit may be rejected even though an earlier attempt took effect.
  let hadEffect = false;
  const sendAndRead: QueueCall<T>["sendAndRead"] = async (http, given) => {
    let hasBegun = false;
    const onBegin = () => {
      hasBegun = true;
    };
    try {
      return await request.sendAndRead(http, { ...given, attempt: { ...given.attempt, onBegin } });
    } catch (error) {
      // An error that is not from this package is the reason of an abort.
      hadEffect ||= error instanceof ServerlessGpuError ? mayHaveHadEffect(error) : hasBegun;
      throw error;
    }
  };
  const repeatability = idempotent ? "safe" : "submit";
  try {
    return await queue.request({ ...request, ...requestOptions(options), sendAndRead, repeatability }, bounds);
  } catch (error) {
    if (!hadEffect) throw error;
    if (!(error instanceof ServerlessGpuError)) {
      logAborted(queue, request);
      throw error;
    }
    const jobId = jobIdSeen?.();
    throw new SubmitUncertainError(`${error.message}. ${uncertainty(queue, jobId, idempotent)}`, {
      cause: error,
      jobId,
    });
  }
}

/**
 * Logs the abort, because the caller only gets its own abort reason, which does not say that the
 * request may still take effect.
 */
function logAborted({ context, endpointId }: QueueTransport, { what, name }: QueueCall<unknown>): void {
  context.log?.(
    "error",
    `${what} at endpoint ${endpointId} was aborted after it was sent. A job may run, and you may be charged for it: check ` +
      "the endpoint's requests",
    { operation: name, endpointId },
  );
}

function uncertainty({ endpointId }: QueueTransport, jobId: string | undefined, idempotent: boolean): string {
  const notAgain = idempotent ? "" : " It was not sent again, because the job could then run twice.";
  if (jobId !== undefined) {
    const next = isPathSegment(jobId)
      ? `Continue with client.endpoint("${endpointId}").job("${jobId}")`
      : "Check the endpoint's requests";
    const shown = jobId.length > LONGEST_ID ? "with a very long id" : JSON.stringify(jobId);
    return `The response names the job ${shown}, so it was submitted.${notAgain} ${next}`;
  }
  return (
    `The job may have been submitted.${notAgain} Check the endpoint's requests, or submit with ` +
    "idempotent: true if it is safe for the job to run twice"
  );
}
