import * as z from "zod";
import { ENDED_POD_STATES } from "../contract/enums";
import type { ReleaseCalls } from "../endpoints/releases";
import { decode } from "../transport/decode";
import { number, text } from "../transport/looseFields";
import { readMyself } from "./requests";
import type { GraphqlTransport } from "./transport";

const podsSchema = z.looseObject({
  endpoint: z
    .looseObject({
      version: number,
      pods: z.array(z.looseObject({ id: text, desiredStatus: text, slsVersion: number })).nullish(),
    })
    .nullable(),
});

/** Returns the requests over GraphQL: the versions of pods are compared with the endpoint's. */
export function graphqlReleaseCalls(transport: GraphqlTransport): ReleaseCalls {
  return {
    async workers(operation, endpointId, attempt) {
      const selection = `endpoint(id: ${JSON.stringify(endpointId)}) { version pods { id desiredStatus slsVersion } }`;
      const myself = await readMyself(transport, operation, selection, attempt);
      const { version, pods } = decode(podsSchema, myself, operation).endpoint ?? {};
      const active = (pods ?? []).filter(({ desiredStatus }) => !ENDED_POD_STATES.includes(desiredStatus ?? ""));
      return active.map((pod, index) => ({
        ...{ id: pod.id ?? String(index), status: undefined },
        isStale: version === undefined || pod.slsVersion === undefined ? undefined : pod.slsVersion !== version,
      }));
    },
  };
}
