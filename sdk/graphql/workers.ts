import * as z from "zod";
import { ENDED_POD_STATES } from "../contract/enums";
import type { EndpointWorker, ReleaseCalls } from "../endpoints/releases";
import { decode } from "../transport/decode";
import { looseNumber, looseText } from "../transport/looseFields";
import { readMyself } from "./requests";
import type { GraphqlTransport } from "./transport";

const podSchema = z.looseObject({
  id: looseText,
  desiredStatus: looseText,
  slsVersion: looseNumber,
  uptimeSeconds: looseNumber,
});

/**
 * An endpoint with its pods, which show its workers. The pods' environment variables are never
 * selected.
 */
export const withPodsSchema = z.looseObject({ version: looseNumber, pods: z.array(podSchema).nullish() });

/** A worker, as its pod shows it. */
interface PodWorker extends EndpointWorker {
  readonly uptimeSeconds: number | undefined;
}

/**
 * Returns the workers that have not ended. A worker is outdated if the version of its pod differs
 * from the version of the endpoint.
 */
export function workersIn({ version, pods }: z.infer<typeof withPodsSchema>): PodWorker[] {
  const active = (pods ?? []).filter(({ desiredStatus }) => !ENDED_POD_STATES.includes(desiredStatus ?? ""));
  return active.map(({ id, slsVersion, uptimeSeconds }, index) => ({
    id: id ?? String(index),
    status: undefined,
    uptimeSeconds,
    isStale: version === undefined || slsVersion === undefined ? undefined : slsVersion !== version,
  }));
}

const oneSchema = z.looseObject({ endpoint: withPodsSchema.nullable() });

/** Returns the requests over GraphQL, which does not show releases. */
export function graphqlReleaseCalls(transport: GraphqlTransport): ReleaseCalls {
  return {
    async workers(operation, endpointId, attempt) {
      const selection = `endpoint(id: ${JSON.stringify(endpointId)}) { version pods { id desiredStatus slsVersion } }`;
      const myself = await readMyself(transport, operation, selection, attempt);
      const { endpoint } = decode(oneSchema, myself, operation);
      const workers = endpoint ? workersIn(endpoint) : [];
      return workers.map(({ id, status, isStale }) => ({ id, status, isStale }));
    },
  };
}
