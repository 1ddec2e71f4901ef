import type { Clock } from "../../sdk/contract/clock";
import type { AccountUse } from "../catalog/accountLimits";
import type { Catalog } from "../catalog/catalog";
import { accessOf, bearerKey, type Keys } from "../io/auth";
import {
  type Call,
  type CallOptions,
  decodeSegment,
  type HttpRequest,
  type HttpResponse,
  json,
  stream,
} from "../io/http";
import { createQuota } from "../jobs/quota";
import type { ManagementLimits } from "../jobs/rateLimits";
import { problemsOf } from "../model/shapes";
import type { Pods } from "../pods/pods";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import type { Secrets } from "../secrets/secrets";
import type { Volumes } from "../volumes/volumes";
import type { Billing } from "../workers/billing";
import type { WorkerLogs } from "../workers/workerLogs";
import { billingHandlers } from "./billingHandlers";
import { catalogHandlers } from "./catalogHandlers";
import { type EndpointParts, endpointHandlers } from "./endpointHandlers";
import { type OperationFacts, type OperationName, REST_V2 } from "./facts";
import type { V2Call, V2Handler } from "./handler";
import { podHandlers } from "./podHandlers";
import { problem, refusalOf, V2Refusal } from "./problem";
import { registryHandlers, templateHandlers, volumeHandlers } from "./recordHandlers";
import { secretHandlers } from "./secretHandlers";
import { workerHandlers } from "./workerHandlers";

/** The parts of the emulator that REST v2 uses. */
export interface RestV2Options extends EndpointParts {
  readonly keys: Keys;
  readonly clock: Clock;
  readonly registryAuths: RegistryAuths;
  readonly secrets: Secrets;
  readonly volumes: Volumes;
  readonly pods: Pods;
  readonly managementLimits: ManagementLimits;
  readonly catalog: Catalog;
  readonly billing: Billing;
  readonly logs: WorkerLogs;
  /** Returns how much of its limits the account uses. */
  readonly use: () => AccountUse;
}

interface Route {
  readonly name: OperationName;
  readonly facts: OperationFacts;
  readonly pattern: RegExp;
}

const ROUTES: readonly Route[] = (Object.entries(REST_V2) as [OperationName, OperationFacts][]).map(
  ([name, facts]) => ({
    name,
    facts,
    pattern: new RegExp(`^/v2${facts.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}/?$`),
  }),
);

/** The ids in a request's path; empty if there are none. */
type PathIds = Pick<V2Call, "id" | "workerId">;

const FIRST_SEGMENTS = new Set([...Object.values(REST_V2).map(({ path }) => path.split("/")[1])]);

/** Returns `true` for a path of REST v2. All other paths below `/v2` belong to queues. */
export function isRestV2(path: string): boolean {
  return path.startsWith("/v2/") && FIRST_SEGMENTS.has(path.split("/")[2] ?? "");
}

/**
 * Creates the adapter for REST v2, RunPod's newer management API. The adapter is a function that
 * turns a request into an API call.
 */
export function createRestV2(options: RestV2Options) {
  const { keys, clock, registryAuths, volumes, pods, templates } = options;
  const quota = createQuota(clock, options.managementLimits);
  const handlers: Readonly<Record<OperationName, V2Handler>> = {
    ...endpointHandlers(options),
    ...workerHandlers(options),
    ...templateHandlers(templates),
    ...volumeHandlers(volumes),
    ...registryHandlers(registryAuths, pods),
    ...secretHandlers(options.secrets),
    ...podHandlers(pods),
    ...catalogHandlers(options.catalog, options.use),
    ...billingHandlers(options.billing, clock),
  };
  let requests = 0;

  function execute(route: Route, ids: PathIds, request: HttpRequest, { listLagMs }: CallOptions): HttpResponse {
    const { name, facts } = route;
    const body = facts.body ? checkedBody(request, facts) : {};
    const { query, headers, signal } = request;
    const call = { ...ids, body, query, headers, signal, listLagMs, origin: originOf(request) };
    const result = handlers[name](call as never);
    if (result === undefined) return { status: facts.status, headers: {}, body: "" };
    if (Symbol.asyncIterator in result) return stream(facts.status, "text/event-stream", result);
    const endpointId = name === "createEndpoint" ? (result as { id: string }).id : undefined;
    return { ...json(facts.status, result), endpointId };
  }

  function respond(request: HttpRequest, route: Route | undefined, ids: PathIds, call: CallOptions): HttpResponse {
    const access = accessOf(bearerKey(request), keys);
    if (access === "missing") return problem(new V2Refusal(401, "missing bearer token"));
    if (access === "wrong") return problem(new V2Refusal(401, "invalid bearer token", "v2.unauthorized-body"));
    const { headers, exceeded } = quota.count();
    let response: HttpResponse;
    try {
      if (exceeded !== undefined) throw new V2Refusal(429, `rate limit exceeded for the ${exceeded} window`);
      if (access === "forbidden") throw new V2Refusal(403, "access denied");
      if (!route) throw refusalOfPath(request);
      response = execute(route, ids, request, call);
    } catch (error) {
      const refusal = refusalOf(error);
      if (!(refusal instanceof V2Refusal)) throw refusal;
      response = problem(refusal);
    }
    return { ...response, headers: { ...response.headers, ...headers } };
  }

  return function restV2Call(request: HttpRequest): Call {
    const route = ROUTES.find(({ facts, pattern }) => facts.method === request.method && pattern.test(request.path));
    const groups = route?.pattern.exec(request.path)?.groups ?? {};
    const ids = { id: decodeSegment(groups.id ?? ""), workerId: decodeSegment(groups.workerId ?? "") };
    const { id, workerId } = ids;
    const input = jsonOf(request);
    const endpointId = route?.facts.path.startsWith("/serverless/{id}") ? id : undefined;
    return {
      interface: "v2",
      operation: route?.name ?? "unknown",
      endpointId,
      arguments: {
        ...(id && { id }),
        ...(workerId && { workerId }),
        ...Object.fromEntries(request.query),
        ...(input !== undefined && { input }),
      },
      run(call) {
        const response = respond(request, route, ids, call);
        return { ...response, headers: { ...response.headers, "x-request-id": `emulated-${++requests}` } };
      },
    };
  };
}

function checkedBody(request: HttpRequest, { body: shape = {} }: OperationFacts): object {
  const body = jsonOf(request);
  if (body === undefined) throw new V2Refusal(400, "the body must be JSON", "v2.malformed");
  const problems = problemsOf(shape, body);
  if (problems.length > 0) throw new V2Refusal(422, "Request validation failed.", undefined, problems);
  return body as object;
}

function jsonOf({ body }: HttpRequest): unknown {
  try {
    return body.length === 0 ? undefined : JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Returns the error for a path that is unknown or does not support the method. */
function refusalOfPath({ path }: HttpRequest): V2Refusal {
  const isKnown = ROUTES.some(({ pattern }) => pattern.test(path));
  return isKnown
    ? new V2Refusal(405, "The requested method is not allowed for this path.", "v2.method")
    : new V2Refusal(404, "resource not found", "v2.other-paths");
}

/** Returns the URL at which the client reached the emulator. */
function originOf({ headers }: HttpRequest): string {
  return `http://${headers.host ?? "localhost"}`;
}
