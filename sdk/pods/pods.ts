import type { Secret } from "../secret";
import { decode } from "../transport/decode";
import { decodeJson, type Http, send } from "../transport/http";
import { type CallContext, type CallOptions, makeCall } from "../transport/retryingCall";
import { INTERFACE_PATHS, pathSegment } from "../transport/urls";
import type { Pod } from "./podRecord";
import { podSchema } from "./podSchema";

/** What to add to a pod's record (contract, REST). Each defaults to `false`. */
export interface PodIncludes {
  /** Adds the machine that the pod runs on. */
  readonly includeMachine?: boolean;
  /** Adds the attached network volume, if any. */
  readonly includeNetworkVolume?: boolean;
  /** Adds the savings plans applied. */
  readonly includeSavingsPlans?: boolean;
  /** Adds the template that the pod uses, if any. */
  readonly includeTemplate?: boolean;
  /** Also finds pods that are serverless workers. */
  readonly includeWorkers?: boolean;
}

/** Looks pods up (contract, REST). */
export interface Pods {
  /**
   * Reads one pod.
   * @throws NotFoundError when there is no such pod
   * @throws InvalidInputError, before any call, when the id cannot be part of a path
   */
  get(podId: string, options?: PodIncludes & CallOptions): Promise<Pod>;
}

export interface PodsContext extends CallContext {
  readonly http: Http;
  /** Without the path `/v1`. */
  readonly restUrl: string;
  readonly apiKey: Secret;
}

const INCLUDES = [
  "includeMachine",
  "includeNetworkVolume",
  "includeSavingsPlans",
  "includeTemplate",
  "includeWorkers",
] as const satisfies readonly (keyof PodIncludes)[];

/** The REST interface of one account. */
export function createPods(context: PodsContext): Pods {
  return {
    async get(podId, { signal, ...includes } = {}) {
      const operation = `the look-up of pod ${podId}`;
      const url = new URL(`${context.restUrl}${INTERFACE_PATHS.restUrl}/pods/${pathSegment("podId", podId)}`);
      for (const include of INCLUDES) if (includes[include]) url.searchParams.set(include, "true");
      return makeCall(context, {
        operation,
        repeatability: "safe",
        signal,
        async attempt(attempt) {
          const response = await send(context.http, {
            name: "getPod",
            operation,
            method: "GET",
            url: url.href,
            headers: { authorization: `Bearer ${context.apiKey.reveal()}` },
            attempt,
          });
          return decode(podSchema, decodeJson(response, operation, context.clock.now()), operation);
        },
      });
    },
  };
}
