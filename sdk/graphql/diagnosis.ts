import * as z from "zod";
import { ENDED_POD_STATES } from "../contract/enums";
import { LIST_CAP } from "../contract/limits";
import type { DiagnosisCalls, PodFacts, ReadEndpoint } from "../diagnosis/calls";
import { RejectedError, UnexpectedResponseError } from "../errors";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { number, text, texts } from "../transport/looseFields";
import { readMyself } from "./requests";
import type { GraphqlTransport } from "./transport";

/** The fields of an endpoint that every service has. */
const CONTRACT = "id name workersMin workersMax gpuIds locations scalerType scalerValue networkVolumeId";
/** Those of the service `runpod`. The variables of pods are never selected: they hold secrets. */
const OBSERVED = `${CONTRACT} version type gpuCount minCudaVersion allowedCudaVersions
  networkVolumeIds { networkVolumeId } compliance pods { id desiredStatus slsVersion uptimeSeconds }`;

const podSchema = z.looseObject({ desiredStatus: text, slsVersion: number, uptimeSeconds: number });

const endpointSchema = z.looseObject({
  ...{ id: z.string(), name: text, workersMin: number, workersMax: number, gpuIds: text, locations: text },
  ...{ scalerType: text, scalerValue: number, networkVolumeId: text, version: number, type: text, gpuCount: number },
  ...{ minCudaVersion: text, allowedCudaVersions: z.union([text, texts]), compliance: texts },
  networkVolumeIds: z
    .array(z.looseObject({ networkVolumeId: text }))
    .nullish()
    .catch(undefined),
  pods: z.array(podSchema).nullish().catch(undefined),
});

const oneSchema = z.looseObject({ endpoint: endpointSchema.nullable() });
const allSchema = z.looseObject({ endpoints: z.array(endpointSchema) });

/**
 * Returns the requests over GraphQL: `myself { endpoint(id) { … pods { … } } }`, or the list
 * `myself { endpoints { … } }` at a service that reads no single endpoint.
 */
export function graphqlDiagnosisCalls(transport: GraphqlTransport): DiagnosisCalls {
  let hasSingleRead = true;

  async function fromList(operation: string, id: string, attempt: Attempt): Promise<ReadEndpoint | undefined> {
    const selection = `endpoints { ${CONTRACT} pods { desiredStatus } }`;
    const { endpoints } = decode(allSchema, await readMyself(transport, operation, selection, attempt), operation);
    const found = endpoints.find((each) => each.id === id);
    if (found) return readEndpoint(found);
    if (!mayBeCut(endpoints)) return undefined;
    throw new UnexpectedResponseError(
      `${operation}: it is not among the ${endpoints.length} endpoints of the list, which may be cut`,
    );
  }

  return {
    source: "GraphQL",
    async endpoint(operation, id, attempt) {
      if (!hasSingleRead) return fromList(operation, id, attempt);
      const selection = `endpoint(id: ${JSON.stringify(id)}) { ${OBSERVED} }`;
      try {
        const { endpoint } = decode(oneSchema, await readMyself(transport, operation, selection, attempt), operation);
        return endpoint ? readEndpoint(endpoint) : undefined;
      } catch (error) {
        if (!(error instanceof RejectedError)) throw error;
        hasSingleRead = false;
        return fromList(operation, id, attempt);
      }
    },
    async isListed(operation, id, attempt) {
      const myself = await readMyself(transport, operation, "endpoints { id }", attempt);
      const { endpoints } = decode(allSchema, myself, operation);
      return endpoints.some((each) => each.id === id) || (mayBeCut(endpoints) ? undefined : false);
    },
    async workersUsed(operation, attempt) {
      const myself = await readMyself(transport, operation, "endpoints { id workersMax }", attempt);
      const { endpoints } = decode(allSchema, myself, operation);
      return mayBeCut(endpoints) ? undefined : endpoints.reduce((sum, { workersMax = 0 }) => sum + workersMax, 0);
    },
  };
}

/** Returns `true` for a list that may be cut: it then does not show what is missing. */
function mayBeCut({ length }: readonly unknown[]): boolean {
  return length >= LIST_CAP;
}

function readEndpoint(raw: z.infer<typeof endpointSchema>): ReadEndpoint {
  const { name, type, gpuIds = "", locations = "", scalerType, scalerValue, minCudaVersion = "" } = raw;
  const { allowedCudaVersions = "", networkVolumeIds, networkVolumeId } = raw;
  const several = (networkVolumeIds ?? []).flatMap((volume) => volume.networkVolumeId ?? []);
  return {
    facts: {
      ...{ name, isLoadBalancer: type === "LB", workersMin: raw.workersMin ?? 0 },
      workersMax: raw.workersMax ?? Number.POSITIVE_INFINITY,
      ...{ scalerType, scalerValue, gpuIds, gpuCount: raw.gpuCount ?? 1, minCudaVersion },
      locations: locations === "Any" ? "" : locations,
      allowedCudaVersions:
        typeof allowedCudaVersions === "string" ? allowedCudaVersions : allowedCudaVersions.join(","),
      volumeIds: several.length > 0 ? several : networkVolumeId ? [networkVolumeId] : [],
      compliance: raw.compliance ?? [],
    },
    pods: raw.pods ? podsIn(raw.pods, raw.version) : undefined,
    env: {},
  };
}

function podsIn(pods: readonly z.infer<typeof podSchema>[], version: number | undefined): PodFacts {
  const active = pods.filter(({ desiredStatus }) => !ENDED_POD_STATES.includes(desiredStatus ?? ""));
  const versions = active.flatMap(({ slsVersion }) => slsVersion ?? []);
  const isVersioned = version !== undefined && versions.length === active.length;
  const uptimes = active.flatMap(({ uptimeSeconds }) => uptimeSeconds ?? []);
  return {
    active: active.length,
    stale: isVersioned ? versions.filter((each) => each !== version).length : undefined,
    newestMs: uptimes.length > 0 ? Math.min(...uptimes) * 1000 : undefined,
  };
}
