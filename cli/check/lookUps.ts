import type { GpuOptions } from "../../sdk/catalog/catalog";
import { readGpus } from "../../sdk/catalog/read";
import type { AccountLimits, CatalogCpu, CatalogDataCenter, CatalogGpu } from "../../sdk/catalog/record";
import { type Client, createClient } from "../../sdk/client/client";
import type { EnvironmentSettings } from "../../sdk/connection/settings";
import type { Endpoint } from "../../sdk/endpoints/record";
import { ServerlessGpuError, UnexpectedResponseError } from "../../sdk/errors/errors";
import { redact } from "../../sdk/errors/secretText";

/** Something that could not be looked up, and the reason. */
export interface NotLookedUp {
  readonly what: string;
  readonly why: string;
}

/** The lookups that a check needs. */
export interface Questions {
  /** The GPU counts to look up stock for. */
  readonly gpuCounts: readonly number[];
  readonly cpus: boolean;
  /** `true` if the change places endpoints or volumes in data centers. */
  readonly places: boolean;
  readonly account: boolean;
  readonly volumes: boolean;
}

/** Whose catalog and limits are read. */
export type Owner = "the service" | "the emulator";

/** The results of the lookups. A part that failed is `undefined`. */
export interface Answers {
  /** GPU types, by the number of GPUs per worker. */
  readonly gpus: ReadonlyMap<number, readonly CatalogGpu[]>;
  readonly dataCenters: readonly CatalogDataCenter[] | undefined;
  readonly cpus: readonly CatalogCpu[] | undefined;
  readonly limits: AccountLimits | undefined;
  /** All endpoints of the account. */
  readonly endpoints: readonly Endpoint[] | undefined;
  /** The data center of each volume of the account. */
  readonly volumes: ReadonlyMap<string, string> | undefined;
  /** Whose catalog was read. */
  readonly owner: Owner;
  /** The API that provided the stock levels, as shown in messages. */
  readonly source: string;
  readonly readAt: Date;
  readonly missed: readonly NotLookedUp[];
}

/** Make a single attempt: people are waiting, and the check works without the answers. */
const ONCE = { timeoutMs: 5_000, maxRetries: 0 };

const NO_KEY = "there is no API key (set SERVERLESS_GPU_API_KEY)";

/**
 * Runs all lookups at the same time. If there is a key, REST v2 is preferred, because only REST v2
 * shows worker prices. Without a key, GraphQL still shows the data centers. Failures become part of
 * the answers.
 */
export async function lookUp(
  settings: EnvironmentSettings,
  questions: Questions,
  owner: Owner = "the service",
): Promise<Answers> {
  const missed: NotLookedUp[] = [];
  const hasKey = settings.apiKey !== "";
  const clients = clientsFor(settings, missed);
  const read = reader(clients, missed);
  const ofAccount = <T>(isAsked: boolean, what: string, ask: (client: Client, api: string) => Promise<T>) => {
    const isNew = !missed.some((each) => each.what === what);
    if (isAsked && !hasKey && clients.length > 0 && isNew) missed.push({ what, why: NO_KEY });
    return isAsked && hasKey ? read(what, ask) : Promise.resolve(undefined);
  };
  let source = "";
  const gpusFor = async (gpuCount: number) => {
    const options: GpuOptions = { ...ONCE, gpuCount };
    const found = await ofAccount(true, "GPU types, stock and pools", async (client, api) => {
      const gpus = await readGpus(client.catalog, options);
      source = api;
      return gpus;
    });
    return found ? [[gpuCount, found] as const] : [];
  };
  const [gpus, dataCenters, cpus, limits, endpoints, volumes] = await Promise.all([
    Promise.all(questions.gpuCounts.map(gpusFor)),
    questions.places ? read("data centers", ({ catalog }) => catalog.dataCenters(ONCE)) : undefined,
    ofAccount(questions.cpus, "prices of CPU workers", ({ catalog }) => catalog.cpus(ONCE)),
    ofAccount(questions.account, "worker quota and spend limit", limitsOf(clients)),
    ofAccount(questions.account, "workersMax of the account's other endpoints", readEndpoints),
    ofAccount(questions.volumes, "data centers of network volumes", readVolumes),
  ]).finally(() => Promise.all(clients.map(({ client }) => client.close())));
  return {
    gpus: new Map(gpus.flat()),
    dataCenters,
    cpus,
    limits,
    endpoints,
    volumes,
    owner,
    source,
    readAt: new Date(),
    missed,
  };
}

interface NamedClient {
  readonly client: Client;
  readonly api: string;
}

/** Returns the clients to ask, preferred first; none if the environment selects no service. */
function clientsFor(settings: EnvironmentSettings, missed: NotLookedUp[]): NamedClient[] {
  const { apiKey, service, graphqlUrl } = settings;
  if (service === undefined && graphqlUrl === undefined) {
    missed.push({
      what: "everything at the service",
      why: "no service is set (SERVERLESS_GPU_SERVICE)",
    });
    return [];
  }
  const clientOf = (api: "v2" | "graphql") => ({
    // Requests that need no key do not send this placeholder.
    client: createClient({ ...settings, apiKey: apiKey || "none", api }),
    api: api === "v2" ? "REST v2" : "GraphQL",
  });
  return apiKey === "" ? [clientOf("graphql")] : [clientOf("v2"), clientOf("graphql")];
}

/** Returns a function that asks the clients in order until one succeeds. */
function reader(clients: readonly NamedClient[], missed: NotLookedUp[]) {
  return async <T>(what: string, ask: (client: Client, api: string) => Promise<T>): Promise<T | undefined> => {
    const reasons: string[] = [];
    for (const { client, api } of clients) {
      try {
        return await ask(client, api);
      } catch (error) {
        if (!(error instanceof ServerlessGpuError)) throw error;
        reasons.push(`${api}: ${error.message}`);
      }
    }
    if (reasons.length > 0 && !missed.some((each) => each.what === what)) {
      missed.push({ what, why: redact(reasons.join("; ")) });
    }
    return undefined;
  };
}

/** Returns a function that reads the limits, preferring an API that shows the quota. */
function limitsOf(clients: readonly NamedClient[]) {
  return async (client: Client): Promise<AccountLimits> => {
    const limits = await client.account.limits(ONCE);
    if (limits.workerQuota !== null || client === clients.at(-1)?.client) return limits;
    const other = await clients
      .at(-1)
      ?.client.account.limits(ONCE)
      .catch(() => undefined);
    return other?.workerQuota == null ? limits : other;
  };
}

/**
 * @throws UnexpectedResponseError if the list may be incomplete, because a partial sum would be too
 * small
 */
async function readEndpoints({ endpoints }: Client): Promise<readonly Endpoint[]> {
  const listed = await endpoints.listReadable(ONCE);
  if (listed.mayBeCut || listed.unreadable.length > 0)
    throw new UnexpectedResponseError("the list of endpoints is not complete, or some cannot be read");
  return listed.records;
}

async function readVolumes({ volumes }: Client): Promise<Map<string, string>> {
  const { records } = await volumes.listReadable(ONCE);
  return new Map(records.map(({ id, dataCenterId }) => [id, dataCenterId]));
}
