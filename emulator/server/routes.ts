import { createGraphql, type GraphqlOptions } from "../graphql/graphql";
import { type GraphqlShown, graphqlParts } from "../graphql/parts";
import { TOO_DEEP } from "../io/depth";
import {
  type Call,
  type DroppedBody,
  type HttpRequest,
  type HttpResponse,
  type Interface,
  json,
  LOAD_BALANCER_PATH,
} from "../io/http";
import { createQuota, type Quota } from "../jobs/quota";
import type { ManagementLimits } from "../jobs/rateLimits";
import { createLoadBalancerCalls, LOAD_BALANCER_OPERATION } from "../loadBalancer/loadBalancerCalls";
import { createRest, type RestOptions } from "../pods/rest";
import { QUEUE_OPERATIONS } from "../queue/operations";
import { createQueue } from "../queue/queue";
import { REST_V2 } from "../restV2/facts";
import { createRestV2, isRestV2, type RestV2Options } from "../restV2/restV2";

/** Returns the call for a request; `undefined` if its path belongs to no API. */
export type ReadCall = (request: HttpRequest) => Call | undefined;

/** The operations of each API, by their names in the journal. */
export type Operations = Readonly<Record<Interface, readonly string[]>>;

type RouteOptions = Omit<GraphqlOptions, "parts"> &
  GraphqlShown &
  RestOptions &
  RestV2Options & { readonly graphqlLimits: ManagementLimits; readonly graphqlEnded: GraphqlEnd | undefined };

/** Creates the service's APIs. The path determines which one handles a request. */
export function createRoutes(options: RouteOptions) {
  const parts = graphqlParts(options, options.profile, options.clock);
  const graphqlCall = createGraphql({ ...options, parts });
  const graphqlQuota = createQuota(options.clock, options.graphqlLimits);
  const restCall = createRest(options);
  const restV2Call = createRestV2(options);
  const queueCall = createQueue(options);
  const loadBalancerCall = createLoadBalancerCalls({
    keys: options.keys,
    find: (endpointId) => options.endpoints.find(endpointId)?.runtime.balancer,
  });

  const ofGraphql = parts.flatMap(({ operations = {} }) => Object.keys(operations));
  const operations: Operations = {
    graphql: ["myself", ...ofGraphql, "unknown"],
    rest: ["getPod", "unknown"],
    v2: [...Object.keys(REST_V2), "unknown"],
    queue: [...QUEUE_OPERATIONS, "unknown"],
    lb: [LOAD_BALANCER_OPERATION],
  };

  const read: ReadCall = (request) => {
    if (request.path === "/graphql") {
      const { graphqlEnded: ended } = options;
      const call = graphqlCall(request);
      return ended === undefined ? withQuota(call, graphqlQuota) : { ...call, run: () => ENDED[ended]() };
    }
    if (request.path.startsWith("/v1/")) return restCall(request);
    if (isRestV2(request.path)) return restV2Call(request);
    if (request.path.startsWith("/v2/")) return queueCall(request);
    if (request.path.startsWith(LOAD_BALANCER_PATH)) return loadBalancerCall(request);
    return undefined;
  };
  return { read, operations };
}

/** The ways in which a service can answer a request to a GraphQL API that it has shut down. */
export type GraphqlEnd = "410" | "404" | "redirect";

/** The responses of a service that has shut down GraphQL. */
const ENDED: Readonly<Record<GraphqlEnd, () => HttpResponse>> = {
  "410": () => json(410, { errors: [{ message: "Gone" }] }, "graphql.ended"),
  "404": () => json(404, { message: "Not Found" }, "graphql.ended"),
  redirect: () => ({ ...json(301, {}, "graphql.ended"), headers: { location: "https://docs.runpod.io/" } }),
};

/** Makes a GraphQL call count when it runs, and refuses it if the quota is used up. */
function withQuota(call: Call, quota: Quota): Call {
  const refusal = () => json(429, { errors: [{ message: "Too Many Requests" }] }, "graphql.quota");
  return { ...call, run: (options) => (quota.count().exceeded ? refusal() : call.run(options)) };
}

/** Returns the response to a request whose body was dropped. */
export function droppedBody(call: Call, dropped: DroppedBody): HttpResponse {
  const isDeep = dropped === "deep";
  const detail = `The request body ${isDeep ? TOO_DEEP : "is too large"}`;
  const status = isDeep || call.interface === "queue" ? 400 : 413;
  const fidelity = isDeep ? "server.too-deep" : call.interface === "queue" ? "queue.too-large" : "server.too-large";
  if (call.interface === "queue") return json(status, { status, title: "Bad Request", detail }, fidelity);
  if (call.interface === "rest" || call.interface === "v2") return json(status, { error: detail, status }, fidelity);
  return json(status, { errors: [{ message: detail }] }, fidelity);
}

/** The interfaces of the service. */
export type Routes = ReturnType<typeof createRoutes>;
