import * as z from "zod";
import { LIST_CAP } from "../contract/limits";
import { type DiagnosisCalls, LIST_CONTINUES, type PodFacts, type ReadEndpoint } from "../diagnosis/calls";
import { factsOf } from "../diagnosis/facts";
import { GRAPHQL_TABLE } from "../endpoints/fields";
import type { Endpoint } from "../endpoints/record";
import { RejectedError, UnexpectedResponseError } from "../errors/errors";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { looseNumber, loosePart } from "../transport/looseFields";
import { GRAPHQL_TYPES } from "./containers";
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
  networkVolumeIds { networkVolumeId } pods { id desiredStatus slsVersion uptimeSeconds }
  env { key value } template { env { key value } }`;

// Fields may be missing, because a diagnosis has to use whatever is available.
const endpointSchema = z.looseObject({
  id: z.string(),
  workersMax: looseNumber,
  version: looseNumber,
  pods: withPodsSchema.shape.pods.catch(undefined),
  env: GRAPHQL_TYPES.env.catch({}),
  template: loosePart({ env: GRAPHQL_TYPES.env.catch({}) }),
});

const oneSchema = z.looseObject({ endpoint: endpointSchema.nullable() });
const secretsSchema = z.looseObject({ secrets: z.array(z.looseObject({ name: z.string() })) });
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
    async endpoint(operation, attempt, id) {
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
    async isListed(operation, attempt, id) {
      const myself = await readMyself(transport, operation, "endpoints { id }", attempt);
      const { endpoints } = decode(allSchema, myself, operation);
      const isListed = endpoints.some((each) => each.id === id);
      if (isListed || !mayBeCut(endpoints)) return isListed;
      throw new UnexpectedResponseError(LIST_CONTINUES);
    },
    async workersUsed(operation, attempt) {
      const myself = await readMyself(transport, operation, "endpoints { id workersMax }", attempt);
      const { endpoints } = decode(allSchema, myself, operation);
      return mayBeCut(endpoints) ? undefined : endpoints.reduce((sum, { workersMax = 0 }) => sum + workersMax, 0);
    },
    async secretNames(operation, attempt) {
      const myself = await readMyself(transport, operation, "secrets { name }", attempt);
      return decode(secretsSchema, myself, operation).secrets.map(({ name }) => name);
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
  const env = { ...raw.template?.env, ...raw.env };
  return { facts: factsOf(shown), pods: raw.pods ? podsIn(raw) : undefined, env };
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
