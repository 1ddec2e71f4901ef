import { LOAD_BALANCER_BODY_MAX_BYTES } from "../../sdk/contract/limits";
import { accessOf, bearerKey, type Keys } from "../io/auth";
import { type Call, decodeSegment, type HttpRequest, type HttpResponse, LOAD_BALANCER_PATH } from "../io/http";
import * as answers from "./answers";
import type { Balancer } from "./balancer";

interface Options {
  readonly keys: Keys;
  /**
   * Returns the balancer of a load-balancing endpoint, or `undefined` if no such endpoint exists.
   */
  readonly find: (endpointId: string) => Pick<Balancer, "serve"> | undefined;
}

/** The operation of every request in the journal and in fault rules. */
export const LOAD_BALANCER_OPERATION = "request";

/** Creates a function that returns the call for a request under `/lb/<endpoint>/`. */
export function createLoadBalancerCalls({ keys, find }: Options) {
  function respond(request: HttpRequest, endpointId: string): HttpResponse | Promise<HttpResponse> {
    const { method, headers, passed } = request;
    if (accessOf(bearerKey(request), keys) !== "granted") return answers.unauthorized();
    const balancer = find(endpointId);
    if (!balancer || !passed) return answers.unknownEndpoint();
    if (headers.upgrade?.toLowerCase() === "websocket") return answers.webSocket();
    if (Number(headers["content-length"] ?? 0) > LOAD_BALANCER_BODY_MAX_BYTES) return answers.tooLarge();
    const target = passed.target.slice(LOAD_BALANCER_PATH.length).replace(/^[^/?]*/, "");
    const path = target.startsWith("/") ? target : `/${target}`;
    return balancer.serve({ method, target: path, headers, body: passed.body }, request.signal());
  }

  return function loadBalancerCall(request: HttpRequest): Call {
    const [, , encodedId = ""] = request.path.split("/", 3);
    const endpointId = decodeSegment(encodedId);
    return {
      interface: "lb",
      operation: LOAD_BALANCER_OPERATION,
      endpointId,
      arguments: {},
      run: () => respond(request, endpointId),
    };
  };
}
