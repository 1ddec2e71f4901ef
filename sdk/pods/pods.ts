import type { Attempt, CallContext } from "../transport/call";
import { aBoolean, type OptionChecks, REQUEST_OPTIONS } from "../transport/callOptions";
import { makeCall } from "../transport/makeCall";
import { type ObservedOptions, type RequestOptions, requestOptions } from "../transport/requestOptions";
import { unexpectedResponse } from "../transport/responseErrors";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { pathSegment } from "../transport/urls";
import type { Pod } from "./podRecord";

/** Optional additions to a pod's record (contract, REST). */
export interface PodIncludes {
  /** Adds the machine that the pod runs on. @default false */
  readonly includeMachine?: boolean | undefined;
  /** Adds the attached network volume, if any. @default false */
  readonly includeNetworkVolume?: boolean | undefined;
  /** Adds the active savings plans. @default false */
  readonly includeSavingsPlans?: boolean | undefined;
  /** Adds the template that the pod uses, if any. @default false */
  readonly includeTemplate?: boolean | undefined;
  /** Also returns pods that are serverless workers. @default false */
  readonly includeWorkers?: boolean | undefined;
}

/** Reads pods (contract, REST). */
export interface Pods {
  /**
   * Returns a pod.
   * @throws NotFoundError if the pod does not exist
   * @throws UnexpectedResponseError if the response is not the record of this pod
   * @throws InvalidInputError if the id cannot be part of a path; nothing was sent
   * @throws AuthenticationError if RunPod does not accept the API key
   */
  get(podId: string, options?: PodIncludes & RequestOptions): ResponsePromise<Pod>;
}

/** The requests for pods. Each function sends one request, without retries. */
export interface PodCalls {
  /** Reads a pod. */
  readonly get: (operation: string, podId: string, includes: PodIncludes, attempt: Attempt) => Promise<Pod>;
}

const INCLUDE_OPTIONS: OptionChecks<PodIncludes> = {
  includeMachine: aBoolean,
  includeNetworkVolume: aBoolean,
  includeSavingsPlans: aBoolean,
  includeTemplate: aBoolean,
  includeWorkers: aBoolean,
};

/** The names of all additions. */
export const INCLUDES = Object.keys(INCLUDE_OPTIONS) as (keyof PodIncludes)[];

const GET_OPTIONS = { ...REQUEST_OPTIONS, ...INCLUDE_OPTIONS };

/** Returns the pods of one account. */
export function createPods(context: CallContext, calls: () => PodCalls): Pods {
  return {
    get: (podId, given) =>
      checkedCall(given, GET_OPTIONS, async (options) => readPod(context, calls(), podId, options)),
  };
}

function readPod(
  context: CallContext,
  calls: PodCalls,
  given: string,
  options: PodIncludes & ObservedOptions,
): Promise<Pod> {
  const podId = pathSegment("podId", given);
  const operation = `reading pod ${podId}`;
  const attempt = async (each: Attempt) => {
    const pod = await calls.get(operation, podId, options, each);
    if (pod.id === given) return pod;
    throw unexpectedResponse(operation, "id: it is the id of another pod", { id: pod.id });
  };
  return makeCall(context, { ...requestOptions(options), name: "getPod", operation, repeatability: "safe", attempt });
}
