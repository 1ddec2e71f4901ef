import * as z from "zod";
import { LIST_CAP } from "../contract/limits";
import type { DiagnosisCalls, PodFacts, ReadEndpoint } from "../diagnosis/calls";
import { factsOf } from "../diagnosis/facts";
import { GRAPHQL_TABLE } from "../endpoints/fields";
import type { Endpoint } from "../endpoints/record";
import { RejectedError, UnexpectedResponseError } from "../errors";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { looseNumber, looseTexts } from "../transport/looseFields";
import { settingsIn } from "./format";
import { createKeptFields } from "./keptFields";
import { readMyself } from "./requests";
import type { GraphqlTransport } from "./transport";
import { withPodsSchema, workersIn } from "./workers";

/** The fields of an endpoint that every service supports. */
const CONTRACT = "id name workersMin workersMax gpuIds locations scalerType scalerValue networkVolumeId";
/**
 * The fields that the service `runpod` supports. The environment variables of pods are never
 * selected, because they contain secrets.
 */
const OBSERVED = `${CONTRACT} version type gpuCount minCudaVersion allowedCudaVersions
  networkVolumeIds { networkVolumeId } pods { id desiredStatus slsVersion uptimeSeconds }`;

// Fields may be missing, because a diagnosis has to use whatever is available.
const endpointSchema = z.looseObject({
  id: z.string(),
  workersMax: looseNumber,
  compliance: looseTexts,
  version: looseNumber,
  pods: withPodsSchema.shape.pods.catch(undefined),
});

const oneSchema = z.looseObject({ endpoint: endpointSchema.nullable() });
const allSchema = z.looseObject({ endpoints: z.array(endpointSchema) });

/**
 * Returns the requests over GraphQL. They use `myself { endpoint(id) { … pods { … } } }`, or the
 * list `myself { endpoints { … } }` if the service cannot read a single endpoint.
 */
export function graphqlDiagnosisCalls(transport: GraphqlTransport): DiagnosisCalls {
  let hasSingleRead = true;
  const uncertain = createKeptFields({ compliance: { isUncertain: true } }, "endpoints", undefined);

  async function fromList(operation: string, id: string, attempt: Attempt): Promise<ReadEndpoint | undefined> {
    const selection = `endpoints { ${CONTRACT} pods { desiredStatus } }`;
    const { endpoints } = decode(allSchema, await readMyself(transport, operation, selection, attempt), operation);
    const found = endpoints.find((each) => each.id === id);
    if (found) return readEndpoint(found);
    if (!mayBeCut(endpoints)) return undefined;
    throw new UnexpectedResponseError(
      `${operation}: the endpoint is not among the ${endpoints.length} endpoints of the list, which may be cut off`,
    );
  }

  return {
    source: "GraphQL",
    async endpoint(operation, id, attempt) {
      if (!hasSingleRead) return fromList(operation, id, attempt);
      const read = () => {
        const selection = `endpoint(id: ${JSON.stringify(id)}) { ${OBSERVED} ${uncertain.selection()} }`;
        return readMyself(transport, operation, selection, attempt);
      };
      try {
        const { endpoint } = decode(oneSchema, await uncertain.send(read), operation);
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

/**
 * Returns `true` if a list may be truncated. A record that is missing from such a list may still
 * exist.
 */
function mayBeCut({ length }: readonly unknown[]): boolean {
  return length >= LIST_CAP;
}

function readEndpoint(raw: z.infer<typeof endpointSchema>): ReadEndpoint {
  const shown: Partial<Endpoint> = settingsIn(GRAPHQL_TABLE, raw);
  return { facts: factsOf(shown, raw.compliance), pods: raw.pods ? podsIn(raw) : undefined, env: {} };
}

function podsIn(raw: z.infer<typeof endpointSchema>): PodFacts {
  const workers = workersIn(raw);
  const isVersioned = raw.version !== undefined && workers.every(({ isStale }) => isStale !== undefined);
  const uptimes = workers.flatMap(({ uptimeSeconds }) => uptimeSeconds ?? []);
  return {
    active: workers.length,
    stale: isVersioned ? workers.filter(({ isStale }) => isStale).length : undefined,
    newestMs: uptimes.length > 0 ? Math.min(...uptimes) * 1000 : undefined,
  };
}
