import { systemClock, timeLimit } from "../../sdk/contract/clock";
import { RUN_BODY_MAX_BYTES, RUNSYNC_BODY_MAX_BYTES } from "../../sdk/contract/limits";
import type { EndpointRuntime } from "../endpoints/runtime";
import { type HttpResponse, json, type QueueRequest } from "../io/http";
import { canHappen, type Job, jobRecord, RETRYABLE } from "../jobs/jobStates";
import { isLimited, type LimitedOperation } from "../jobs/rateLimits";
import type { FidelityId } from "../model/fidelity";
import { BadRequest, readJobRequest, readStreamWait, readTtl, readWait } from "./jobRequest";
import { openai } from "./openai";

type Operation = (request: QueueRequest, runtime: EndpointRuntime) => HttpResponse | Promise<HttpResponse>;
type JobOperation = (job: Job, runtime: EndpointRuntime, request: QueueRequest) => HttpResponse | Promise<HttpResponse>;

/** All operations, by method and path below the endpoint (contract, Queue-based job API). */
const ROUTES: Readonly<Record<string, Operation>> = {
  "POST run": run,
  "POST runsync": runSync,
  "GET status/:job": forJob(status),
  "GET status-sync/:job": statusSync,
  "GET stream/:job": forJob(stream),
  "POST cancel/:job": forJob(cancel),
  "POST retry/:job": forJob(retry),
  "POST purge-queue": purgeQueue,
  "GET health": health,
  "GET requests": recentRequests,
  "POST openai/*": openai,
  "GET openai/*": openai,
};

/** The names of the operations, in the journal and in the path. */
export const QUEUE_OPERATIONS = [...new Set(Object.keys(ROUTES).map((route) => route.split(/[ /]/)[1] ?? ""))];

/** How many jobs `/requests` lists (assumed). */
const RECENT_JOBS = 100;

/** Executes an operation of an endpoint's queue. */
export async function runOperation(
  request: QueueRequest,
  runtime: EndpointRuntime,
  isOverLimit: boolean,
): Promise<HttpResponse> {
  const { method, segments } = request;
  const operation = routeOf(method, segments);
  if (!operation) return unknownOperation(request);
  if (isOverLimit)
    return queueProblem(429, "Too Many Requests", `rate limit of /${segments[0]} exceeded, try again later`);
  try {
    return await operation(request, runtime);
  } catch (error) {
    if (error instanceof BadRequest) return queueProblem(400, "Bad Request", error.message, error.fidelity);
    throw error;
  }
}

/** Returns the operation whose rate limit applies to a request; `undefined` if none applies. */
export function limitedOperation(method: string, segments: readonly string[]): LimitedOperation | undefined {
  const operation = segments[0] === "status-sync" ? "status" : (segments[0] ?? "");
  return isLimited(operation) && routeOf(method, segments) ? operation : undefined;
}

function routeOf(method: string, segments: readonly string[]): Operation | undefined {
  return ROUTES[`${method} ${pattern(segments)}`];
}

/**
 * Returns an error response of the queue API. Its body is observed for 401 and assumed for other
 * statuses.
 */
export function queueProblem(
  status: number,
  title: string,
  detail: string,
  fidelity: FidelityId = "queue.error-body",
): HttpResponse {
  return { ...json(status, { status, title, detail }, fidelity), error: detail };
}

function unknownOperation({ method, segments }: QueueRequest): HttpResponse {
  return notFound(`unknown operation ${method} /${segments.join("/")}`);
}

function notFound(detail: string): HttpResponse {
  return queueProblem(404, "Not Found", detail);
}

function pattern(segments: readonly string[]): string {
  const [operation = "", argument, ...rest] = segments;
  if (argument === undefined) return operation;
  if (operation === "openai") return "openai/*";
  return [operation, ":job", ...rest].join("/");
}

function forJob(operation: JobOperation): Operation {
  return (request, runtime) => {
    const id = request.segments[1] ?? "";
    const job = runtime.find(id);
    return job ? operation(job, runtime, request) : unknownJob(id);
  };
}

function unknownJob(id: string): HttpResponse {
  return notFound(
    `job ${id} not found: it never existed, or its time to live or the retention of its result has expired`,
  );
}

function run(request: QueueRequest, runtime: EndpointRuntime): HttpResponse {
  assertSize(request, RUN_BODY_MAX_BYTES);
  return idAndStatus(runtime.submit("run", readRequest(request, runtime)));
}

async function runSync(request: QueueRequest, runtime: EndpointRuntime): Promise<HttpResponse> {
  assertSize(request, RUNSYNC_BODY_MAX_BYTES);
  const waitMs = readWait(request.query);
  const { id } = runtime.submit("runsync", readRequest(request, runtime));
  const job = await runtime.waitForEnd(id, waitMs, request.signal());
  return job ? json(200, record(job, runtime)) : unknownJob(id);
}

function status(job: Job, runtime: EndpointRuntime, request: QueueRequest): HttpResponse {
  const ttlMs = readTtl(request.query);
  const current = ttlMs === undefined ? job : runtime.setTtl(job, ttlMs);
  return current ? json(200, record(current, runtime)) : unknownJob(job.id);
}

/**
 * Returns the job when it has ended or `wait` has passed. The contract does not include this
 * operation.
 */
async function statusSync(request: QueueRequest, runtime: EndpointRuntime): Promise<HttpResponse> {
  if (runtime.context.profile === "contract") return unknownOperation(request);
  const [, id = ""] = request.segments;
  const job = await runtime.waitForEnd(id, readWait(request.query), request.signal());
  return job ? json(200, record(job, runtime)) : unknownJob(id);
}

function record(job: Job, { context }: EndpointRuntime): Record<string, unknown> {
  return jobRecord(job, context.clock.now(), context.profile);
}

/**
 * How long `/stream` waits for an item in the observed profile, in real milliseconds (observed).
 */
const STREAM_HOLD_MS = 10_000;

/**
 * Returns the items since the last read. The observed profile waits for an item, because RunPod's
 * clients read a stream without pauses and would otherwise exceed the rate limit.
 */
async function stream(job: Job, runtime: EndpointRuntime, request: QueueRequest): Promise<HttpResponse> {
  if (runtime.context.profile === "contract") return json(200, runtime.takeStream(job));
  const holdMs = readStreamWait(request.query) ?? STREAM_HOLD_MS;
  const hold = timeLimit(systemClock, holdMs, () => undefined, request.signal());
  const now = await runtime.waitForItems(job.id, hold.signal);
  hold.release();
  return now ? json(200, { status: now.status, stream: runtime.takeStream(now) }) : unknownJob(job.id);
}

function cancel(job: Job, runtime: EndpointRuntime): HttpResponse {
  const fidelity = canHappen(job, "cancel") ? undefined : "queue.cancel-ended";
  return idAndStatus(runtime.cancel(job), fidelity);
}

function retry(job: Job, runtime: EndpointRuntime): HttpResponse {
  if (canHappen(job, "retry")) return idAndStatus(runtime.retry(job));
  throw new BadRequest(
    `job ${job.id} is ${job.status}: only ${RETRYABLE} jobs can be retried`,
    "queue.retry-wrong-state",
  );
}

function purgeQueue(_: QueueRequest, runtime: EndpointRuntime): HttpResponse {
  return json(200, { removed: runtime.purge(), status: "completed" });
}

/**
 * Returns the endpoint's health. The observed service shows more worker states than the contract
 * (Health record).
 */
function health(_: QueueRequest, runtime: EndpointRuntime): HttpResponse {
  const { jobs, workers } = runtime.health();
  const { idle, running, initializing, throttled, unhealthy } = workers;
  const more = { initializing, ready: idle, throttled, unhealthy };
  return json(200, { jobs, workers: { idle, running, ...(runtime.context.profile === "observed" && more) } });
}

function recentRequests(_: QueueRequest, runtime: EndpointRuntime): HttpResponse {
  const recent = [...runtime.jobs()].slice(-RECENT_JOBS).reverse();
  const requests = recent.map((job) => {
    const { output: _, ...rest } = record(job, runtime);
    return rest;
  });
  return json(200, { requests }, "queue.requests");
}

function idAndStatus({ id, status }: Job, fidelity?: FidelityId): HttpResponse {
  return json(200, { id, status }, fidelity);
}

function assertSize(request: QueueRequest, maxBytes: number): void {
  if (request.body.length <= maxBytes) return;
  throw new BadRequest(`the body has ${request.body.length} bytes, at most ${maxBytes} are allowed`, "queue.too-large");
}

function readRequest({ payload }: QueueRequest, runtime: EndpointRuntime) {
  return readJobRequest(payload, runtime.context.profile, runtime.policy());
}
