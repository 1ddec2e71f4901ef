import type { Endpoints } from "../endpoints/endpoints";
import { accessOf, bearerOrBareKey, type Keys } from "../io/auth";
import { type Call, decodeSegment, type HttpRequest, type HttpResponse, json, type QueueRequest } from "../io/http";
import { nextTurn } from "../time/nextTurn";
import { limitedOperation, queueProblem, runOperation } from "./operations";

interface QueueOptions {
  readonly keys: Keys;
  readonly endpoints: Endpoints;
}

/** Parsing a body of this size takes about a tenth of a second on a busy machine. */
const LARGE_BYTES = 2 ** 20;

/** Creates the queue API, a function that turns a request under `/v2/` into a call. */
export function createQueue({ keys, endpoints }: QueueOptions) {
  const isGranted = (request: HttpRequest) => accessOf(bearerOrBareKey(request), keys) === "granted";

  function respond(request: QueueRequest, isOverLimit: boolean): HttpResponse | Promise<HttpResponse> {
    if (!isGranted(request)) return queueProblem(401, "Unauthorized", "invalid api key", "queue.unauthorized-body");
    const endpoint = endpoints.find(request.endpointId);
    if (!endpoint) return queueProblem(404, "Not Found", `endpoint ${request.endpointId} not found`);
    if (endpoint.runtime.balancer && request.segments[0] !== "health") return noQueue();
    return runOperation(request, endpoint.runtime, isOverLimit);
  }

  return function queueCall(request: HttpRequest): Call {
    const { method, path, query, headers, body, signal } = request;
    const [endpointId = "", ...segments] = path.slice("/v2/".length).split("/").map(decodeSegment);
    const payload = readPayload(request);
    const [operation = "unknown", jobId] = segments;
    let isOverLimit = false;
    return {
      interface: "queue",
      operation,
      endpointId,
      arguments: argumentsOf(query, jobId, payload),
      arrive() {
        const limiter = isGranted(request) ? endpoints.find(endpointId)?.runtime.limiter : undefined;
        const limited = limitedOperation(method, segments);
        if (!limiter || !limited) return undefined;
        const end = limiter.begin(limited);
        isOverLimit = end === undefined;
        return end;
      },
      run() {
        // List the properties explicitly, because a spread is six times slower here.
        const read = { method, path, query, headers, body, signal, endpointId, segments, payload };
        if (body.length < LARGE_BYTES) return respond(read, isOverLimit);
        return nextTurn().then(() => respond(read, isOverLimit));
      },
    };
  };
}

function noQueue(): HttpResponse {
  return json(400, { error: "not allowed for QB API" }, "lb.queue-refused");
}

function readPayload({ body }: HttpRequest): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the arguments for the journal and fault rules. They don't need the job's input. */
function argumentsOf(query: URLSearchParams, jobId: string | undefined, payload: unknown): Record<string, unknown> {
  const args: Record<string, unknown> = query.size === 0 ? {} : Object.fromEntries(query);
  if (jobId !== undefined) args.jobId = jobId;
  if (typeof payload === "object" && payload !== null) {
    const { webhook, policy, s3Config } = payload as Record<string, unknown>;
    Object.assign(args, { webhook, policy, s3Config });
  }
  return args;
}
