import { systemClock } from "../sdk/clock";
import { createEndpoints } from "./endpoints";
import { createEndpointTools, type EndpointTools } from "./endpointTools";
import type { ServerlessDiscount } from "./graphql";
import type { Handlers } from "./handlers";
import { type HttpRequest, type HttpResponse, json } from "./http";
import { createJournal, type Journal } from "./journal";
import type { Profile, RuntimeContext } from "./model";
import { createPods, type Pods } from "./pods";
import { seededRandom } from "./random";
import type { RateLimitOptions } from "./rateLimits";
import { type Connection, listen } from "./server";
import { createService, tooLarge } from "./service";
import type { EmulatorClock } from "./virtualClock";

export interface EmulatorOptions {
  /** @default 0, any free port */
  readonly port?: number;
  /** The address to listen at. @default "127.0.0.1", this machine only */
  readonly host?: string;
  /** @default "contract" */
  readonly profile?: Profile;
  /** The key that clients must send. @default LOCAL_API_KEY */
  readonly apiKey?: string;
  /** A second key, known but without any permission. @default none */
  readonly restrictedApiKey?: string;
  /** How long a worker takes to leave after a scale-down, in milliseconds. @default 1000 */
  readonly drainMs?: number;
  /** How long a new worker takes until it accepts jobs, in milliseconds; a quarter with FLASHBOOT. @default 200 */
  readonly coldStartMs?: number;
  /** Ids of the templates that exist. @default any non-empty id does */
  readonly templates?: readonly string[];
  /** Largest sum of `workersMax` over all endpoints. @default no limit */
  readonly workerQuota?: number;
  /** What `myself.serverlessDiscount` shows. @default null */
  readonly serverlessDiscount?: ServerlessDiscount | null;
  /** Makes ids, and everything else that chance decides, the same in every run. @default random */
  readonly seed?: number;
  /** What workers do with jobs, by the name or the template id of their endpoint. @default they echo the input */
  readonly handlers?: Handlers;
  /** @default the limits of the contract */
  readonly rateLimits?: RateLimitOptions;
  /** Whether webhooks may leave this machine. @default false */
  readonly remoteWebhooks?: boolean;
  /** `manualClock()`, `scaledClock(factor)` or `systemClock`. @default systemClock, the machine's own */
  readonly clock?: EmulatorClock;
}

/** The key of an emulator that was given none. It opens nothing but emulators. */
export const LOCAL_API_KEY = "local-emulator-key";

export interface Emulator {
  /** The address of all three interfaces, `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly apiKey: string;
  /** The environment that points this package's client and provider at the emulator. */
  readonly env: Readonly<Record<string, string>>;
  readonly journal: Journal;
  readonly endpoints: EndpointTools;
  readonly pods: Pods;
  /** Ends all connections and timers. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts an emulator of the service on a local port. Any number can run in one process.
 * @example
 * await using emulator = await startEmulator();
 * process.env = { ...process.env, ...emulator.env };
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { port = 0, host = "127.0.0.1", profile = "contract", apiKey = LOCAL_API_KEY, clock = systemClock } = options;
  const keys = { apiKey, restrictedApiKey: options.restrictedApiKey };
  const context: RuntimeContext = {
    clock,
    profile,
    random: seededRandom(options.seed ?? Math.floor(Math.random() * 2 ** 32)),
    drainMs: options.drainMs ?? 1000,
    coldStartMs: options.coldStartMs ?? 200,
    handlers: options.handlers,
    rateLimits: options.rateLimits,
    remoteWebhooks: options.remoteWebhooks,
    changed: () => {},
    dropsWebhook: () => false,
  };
  const endpoints = createEndpoints({
    context,
    templates: new Set(options.templates),
    workerQuota: options.workerQuota,
  });
  const pods = createPods(context.changed);
  const { journal, open } = createJournal(
    clock,
    [apiKey, options.restrictedApiKey].filter((key) => key !== undefined),
  );
  const read = createService({
    profile,
    keys,
    endpoints,
    pods,
    serverlessDiscount: () => options.serverlessDiscount ?? null,
  });

  async function answer(request: HttpRequest, connection: Connection): Promise<HttpResponse | undefined> {
    const call = read(request);
    if (!call) return json(404, { error: "not found", status: 404 }, "server.unknown-path");
    const entry = open(request, call);
    request.signal.addEventListener("abort", () => entry.end(undefined));
    const response = connection.oversized ? tooLarge(call) : await call.run({});
    entry.end(response);
    return response;
  }

  const server = await listen(host, port, answer);
  async function stop() {
    await server.close();
    endpoints.clear();
  }
  return {
    url: server.url,
    apiKey,
    env: {
      SERVERLESS_GPU_API_KEY: apiKey,
      SERVERLESS_GPU_GRAPHQL_URL: server.url,
      SERVERLESS_GPU_REST_URL: server.url,
      SERVERLESS_GPU_QUEUE_URL: server.url,
    },
    journal,
    endpoints: createEndpointTools(endpoints),
    pods,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export { systemClock } from "../sdk/clock";
export type { EmulatedEndpoint, EndpointTools } from "./endpointTools";
export type { ServerlessDiscount } from "./graphql";
export { type Handler, type HandlerContext, type HandlerJob, type Handlers, loadHandlers } from "./handlers";
export type { Interface } from "./http";
export type { Journal, JournalEntry, JournalFilter } from "./journal";
export type { Profile } from "./model";
export type { Gpu, Machine, NetworkVolume, Pod, PodSeed, SavingsPlan } from "./podRecord";
export type { Pods } from "./pods";
export type { RateLimit, RateLimitOptions } from "./rateLimits";
export { type EmulatorClock, type ManualClock, manualClock, scaledClock } from "./virtualClock";
