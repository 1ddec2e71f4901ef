import { RUNSYNC_BODY_MAX_BYTES } from "../../sdk/contract/limits";
import { TOO_DEEP } from "../io/depth";
import { type DroppedBody, decodeSegment, type HttpRequest, type HttpResponse, json } from "../io/http";
import type { Job } from "../jobs/jobStates";
import type { ProgramWorkerCalls } from "./programWorker";
import type { WorkerHost } from "./workerHost";

/**
 * The pause before a request with a wrong key is refused, in real milliseconds, because workers
 * retry immediately.
 */
const REFUSAL_MS = 1000;

const MAX_MEGABYTES = RUNSYNC_BODY_MAX_BYTES / 1e6;

/** A request of the worker protocol. Its path is `/v2/<endpoint>/<operation>/<worker>[/<job>]`. */
interface WorkerRequest {
  readonly request: HttpRequest;
  readonly worker: ProgramWorkerCalls;
  readonly jobId: string;
  /** Set if the body was dropped. */
  readonly dropped: DroppedBody | undefined;
}

const OPERATIONS: Readonly<Record<string, (call: WorkerRequest) => HttpResponse | Promise<HttpResponse>>> = {
  async "GET job-take"({ request, worker }) {
    const [job] = await worker.take(1, request.signal());
    return job ? json(200, shownJob(job), "worker.take") : nothing();
  },
  async "GET job-take-batch"({ request, worker }) {
    const size = Math.max(1, Math.trunc(Number(request.query.get("batch_size"))) || 1);
    const jobs = await worker.take(size, request.signal());
    return jobs.length > 0 ? json(200, jobs.map(shownJob), "worker.take-batch") : nothing();
  },
  async "GET job-stop"({ request, worker }) {
    const jobsToStop = await worker.jobsToStop(request.signal());
    return jobsToStop.length > 0 ? json(200, { jobsToStop }, "worker.stop-job") : nothing();
  },
  "POST job-done"(call) {
    const { request, worker, jobId, dropped } = call;
    if (dropped) return failJob(call, "result");
    const body = readBody(request);
    if (!body) return json(400, { error: "the body must be a JSON object" });
    worker.done(jobId, body);
    return json(200, {});
  },
  "POST job-stream"(call) {
    const { request, worker, jobId, dropped } = call;
    if (dropped) return failJob(call, "streamed item");
    const body = readBody(request);
    if (!body) return json(400, { error: "the body must be a JSON object" });
    worker.stream(jobId, body.output);
    return json(200, {});
  },
  "GET ping": () => json(200, {}),
};

/**
 * Creates the worker protocol: a function that returns the response to a worker's request, or
 * `undefined` for any other request.
 */
export function createWorkerCalls(host: WorkerHost) {
  return function respond(request: HttpRequest, dropped: DroppedBody | undefined): Promise<HttpResponse> | undefined {
    const [, version, endpointId = "", operation = "", workerId = "", jobId = "", ...more] = request.path.split("/");
    const run = OPERATIONS[`${request.method} ${operation}`];
    if (version !== "v2" || !run || workerId === "" || more.length > 0) return undefined;
    const key = request.headers.authorization?.replace(/^bearer +/i, "");
    const worker = host.find(endpointId, workerId, key);
    return worker ? Promise.resolve(run({ request, worker, jobId: decodeSegment(jobId), dropped })) : refusal();
  };
}

/**
 * Fails the job. Workers send a rejected result only once, so the job would otherwise never end.
 */
function failJob({ worker, jobId, dropped }: WorkerRequest, what: string): HttpResponse {
  const isDeep = dropped === "deep";
  const problem = isDeep ? TOO_DEEP : `is larger than ${MAX_MEGABYTES} MB: store it elsewhere and return its URL`;
  const error = `the ${what} ${problem}`;
  worker.done(jobId, { error });
  return isDeep ? json(400, { error }, "worker.result-depth") : json(413, { error }, "worker.result-limit");
}

async function refusal(): Promise<HttpResponse> {
  await new Promise((resolve) => setTimeout(resolve, REFUSAL_MS));
  return json(401, { error: "this is not the key of a running worker" }, "worker.key");
}

function nothing(): HttpResponse {
  return { status: 204, headers: {}, body: "" };
}

/** Returns a job as a worker receives it: its id and the body that submitted it. */
function shownJob({ id, request: { input, webhook, policy, s3Config } }: Job): Record<string, unknown> {
  return { id, input, webhook, policy, s3Config };
}

/** The body is JSON, although RunPod's own workers send another content type. */
function readBody({ body }: HttpRequest): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
