import type { Secret } from "../secret";
import { aBoolean, type OptionChecks, REQUEST_OPTIONS } from "../transport/callOptions";
import { decode } from "../transport/decode";
import { send } from "../transport/http";
import type { Http } from "../transport/httpRequest";
import { type ObservedOptions, type RequestOptions, requestOptions } from "../transport/requestOptions";
import { decodeJson } from "../transport/responseErrors";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { type CallContext, makeCall } from "../transport/retryingCall";
import { INTERFACE_PATHS, pathSegment } from "../transport/urls";
import type { Pod } from "./podRecord";
import { podSchema } from "./podSchema";

/** Additions to a pod's record (contract, REST). */
export interface PodIncludes {
  /** Adds the machine that the pod runs on. @default false */
  readonly includeMachine?: boolean;
  /** Adds the attached network volume, if any. @default false */
  readonly includeNetworkVolume?: boolean;
  /** Adds the active savings plans. @default false */
  readonly includeSavingsPlans?: boolean;
  /** Adds the template that the pod uses, if any. @default false */
  readonly includeTemplate?: boolean;
  /** Also finds pods that are serverless workers. @default false */
  readonly includeWorkers?: boolean;
}

/** Reads pods (contract, REST). */
export interface Pods {
  /**
   * Returns a pod.
   * @throws NotFoundError if the pod does not exist
   * @throws InvalidInputError if the id cannot be part of a path; nothing was sent
   * @throws AuthenticationError if the service does not accept the API key
   */
  get(podId: string, options?: PodIncludes & RequestOptions): ResponsePromise<Pod>;
}

/** The settings that the calls of the REST interface need. */
export interface PodsContext extends CallContext {
  readonly http: Http;
  /** URL of the REST interface, without the path `/v1`. */
  readonly restUrl: string;
  readonly apiKey: Secret;
}

const INCLUDE_OPTIONS: OptionChecks<PodIncludes> = {
  includeMachine: aBoolean,
  includeNetworkVolume: aBoolean,
  includeSavingsPlans: aBoolean,
  includeTemplate: aBoolean,
  includeWorkers: aBoolean,
};

const INCLUDES = Object.keys(INCLUDE_OPTIONS) as (keyof PodIncludes)[];
const GET_OPTIONS = { ...REQUEST_OPTIONS, ...INCLUDE_OPTIONS };

/** Returns the REST interface of one account. */
export function createPods(context: PodsContext): Pods {
  return {
    get: (podId, given) => checkedCall(given, GET_OPTIONS, async (options) => readPod(context, podId, options)),
  };
}

function readPod(context: PodsContext, podId: string, options: PodIncludes & ObservedOptions): Promise<Pod> {
  const url = new URL(`${context.restUrl}${INTERFACE_PATHS.restUrl}/pods/${pathSegment("podId", podId)}`);
  const operation = `reading pod ${podId}`;
  for (const include of INCLUDES) if (options[include]) url.searchParams.set(include, "true");
  return makeCall(context, {
    ...requestOptions(options),
    name: "getPod",
    operation,
    repeatability: "safe",
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
}
