import * as z from "zod";
import { type DiagnosisCalls, LIST_CONTINUES, type ReadWorkers } from "../diagnosis/calls";
import type { WorkerFacts } from "../diagnosis/evidence";
import { factsOf } from "../diagnosis/facts";
import { UnexpectedResponseError } from "../errors/errors";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { looseFlag, looseNumber, loosePart, looseText } from "../transport/looseFields";
import { endpointSettingsIn } from "./endpointFormat";
import { pathOf } from "./requests";
import { type RestV2Transport, requestV2 } from "./transport";
import { countedWorkersSchema, getReleases, getWorkers, rolloutSchema } from "./workers";

// Fields may be missing, because a diagnosis has to use whatever is available.
const endpointSchema = z.looseObject({ workers: z.looseObject({}) });

const usedSchema = z.looseObject({
  endpoints: z.array(z.looseObject({ id: looseText, workers: loosePart({ max: looseNumber }) })),
  pagination: loosePart({ hasNextPage: looseFlag, nextCursor: looseText }),
});

const secretsSchema = z.looseObject({ secrets: z.array(z.looseObject({ name: z.string() })) });

/** The states of a worker. States whose logs are most informative come first. */
const STATES = ["UNHEALTHY", "INITIALIZING", "RUNNING", "THROTTLED", "IDLE"] as const;

/**
 * Returns the requests over REST v2: `GET /serverless/{id}`, `GET /serverless/{id}/workers`,
 * `GET /serverless/{id}/releases?limit=1` and the first page of `GET /serverless`.
 */
export function v2DiagnosisCalls(transport: RestV2Transport): DiagnosisCalls {
  const get = (name: string, operation: string, path: string, attempt: Attempt) =>
    requestV2(transport, { name, operation, method: "GET", path }, attempt);
  return {
    source: "REST v2",
    async endpoint(operation, attempt, id) {
      const response = await get("getEndpoint", operation, pathOf({ path: "/serverless" }, id), attempt);
      const shown = endpointSettingsIn(decode(endpointSchema, response, operation));
      return { facts: factsOf(shown), pods: undefined, env: shown.env ?? {} };
    },
    async workers(operation, attempt, id, now) {
      return countsIn(await getWorkers(transport, countedWorkersSchema, operation, id, attempt), now);
    },
    async releases(operation, attempt, id) {
      const read = await getReleases(transport, rolloutSchema, operation, id, { limit: "1" }, attempt);
      const { inProgress = false, workersOnLatest = 0, workersTotal = 0 } = read.rollout ?? {};
      const latest = read.releases?.[0];
      // Keep only the names of the fields, because the values of a change can be secret.
      const changed = [...new Set(latest?.diff?.map(({ field }) => field))];
      return { inProgress, workersOnLatest, workersTotal, changed, releasedAt: latest?.createdAt };
    },
    async isListed(operation, attempt, id) {
      const response = await get("listEndpoints", operation, "/serverless", attempt);
      const { endpoints, pagination } = decode(usedSchema, response, operation);
      const isListed = endpoints.some((each) => each.id === id);
      if (isListed || !hasMore(pagination)) return isListed;
      throw new UnexpectedResponseError(LIST_CONTINUES);
    },
    async workersUsed(operation, attempt) {
      const response = await get("listEndpoints", operation, "/serverless", attempt);
      const { endpoints, pagination } = decode(usedSchema, response, operation);
      return hasMore(pagination) ? undefined : endpoints.reduce((sum, { workers }) => sum + (workers?.max ?? 0), 0);
    },
    async secretNames(operation, attempt) {
      const response = await get("listSecrets", operation, "/account/secrets", attempt);
      return decode(secretsSchema, response, operation).secrets.map(({ name }) => name);
    },
  };
}

/**
 * Returns `true` if the list continues after this page. In that case, a record that is missing from
 * the page may still exist.
 */
function hasMore(pagination: z.infer<typeof usedSchema>["pagination"]): boolean {
  return pagination?.hasNextPage ?? Boolean(pagination?.nextCursor);
}

function countsIn({ workers: given, summary }: z.infer<typeof countedWorkersSchema>, now: number): ReadWorkers {
  const workers = given ?? [];
  const stateOf = ({ status }: { status?: string | undefined }) => status?.toUpperCase() ?? "";
  const isStaleOne = ({ isStale }: { isStale?: boolean | undefined }) => isStale === true;
  const stale = workers.filter(isStaleOne).map(stateOf);
  const listed = (state: string) => workers.filter((worker) => stateOf(worker) === state.toUpperCase()).length;
  // Use either the list or the summary, because both count the same workers.
  const count = (state: keyof NonNullable<typeof summary>) =>
    given ? listed(String(state)) : Number(summary?.[state] ?? 0);
  const starting = workers
    .filter((worker) => stateOf(worker) === "INITIALIZING")
    .flatMap(({ uptimeSeconds, startedAt }) => {
      const at = startedAt === undefined ? Number.NaN : Date.parse(startedAt);
      const ms = Number.isNaN(at) ? (uptimeSeconds ?? Number.NaN) * 1000 : now - at;
      return Number.isNaN(ms) ? [] : [ms];
    });
  const states = { running: count("running"), idle: count("idle"), initializing: count("initializing") };
  const others = { throttled: count("throttled"), unhealthy: count("unhealthy") };
  const facts: WorkerFacts = {
    ...states,
    ...others,
    total: Math.max(workers.length, total({ ...states, ...others })),
    stale: stale.length,
    staleReady: stale.filter((state) => state === "RUNNING" || state === "IDLE").length,
    staleUnhealthy: stale.filter((state) => state === "UNHEALTHY").length,
    startingMs: starting.length > 0 ? Math.max(...starting) : undefined,
  };
  // An old version's log says nothing about the present one.
  const ofLatest = workers.filter((worker) => !isStaleOne(worker));
  const logOrder: readonly string[] = STATES;
  const order = (worker: { status?: string | undefined }) => {
    const index = logOrder.indexOf(stateOf(worker));
    return index < 0 ? logOrder.length : index;
  };
  return {
    facts,
    ids: [...(ofLatest.length > 0 ? ofLatest : workers)]
      .sort((one, other) => order(one) - order(other))
      .map(({ id }) => id),
  };
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}
