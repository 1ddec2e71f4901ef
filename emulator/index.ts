/**
 * An emulator of RunPod's APIs on a local port, for tests and development.
 *
 * Start it with `startEmulator`.
 *
 * @module pulumi-serverless-gpu/emulator
 */

import "../sdk/contract/requireNode";

import { checkOptions } from "./checkOptions";
import { hostRefusal } from "./control/access";
import { createControl } from "./control/control";
import type { EndpointControl } from "./endpoints/endpointKind";
import type { Profile } from "./model/fidelity";
import type { EmulatorOptions } from "./options";
import { createParts, type Parts } from "./parts";
import type { Pods } from "./pods/pods";
import { createWorkerCalls } from "./programs/workerCalls";
import type { RegistryAuthControl } from "./registryAuths/registryAuthKind";
import type { SecretControl } from "./secrets/secretKind";
import type { Seed } from "./server/account";
import type { Faults } from "./server/faultMatch";
import { createRequestHandler } from "./server/handleRequest";
import type { Journal } from "./server/journal";
import { listen } from "./server/listen";
import type { TemplateControl } from "./templates/templateKind";
import type { EmulatorClock } from "./time/virtualClock";
import type { VolumeControl } from "./volumes/volumeKind";

/** A running emulator. */
export interface Emulator {
  /** The base URL of all APIs, `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** The API key that clients must send. */
  readonly apiKey: string;
  /** The environment variables that point this package's client and provider to the emulator. */
  readonly env: Readonly<Record<string, string>>;
  /** The clock that the emulator uses. */
  readonly clock: EmulatorClock;
  /** The requests that the emulator has received. */
  readonly journal: Journal;
  /** The fault rules, which make the emulator misbehave. */
  readonly faults: Faults;
  /** Reads and changes endpoints directly, without a request. */
  readonly endpoints: EndpointControl;
  /** Reads and changes templates directly, without a request. */
  readonly templates: TemplateControl;
  /** Reads and changes network volumes directly, without a request. */
  readonly volumes: VolumeControl;
  /** Reads and changes registry credentials directly, without a request. */
  readonly registryAuths: RegistryAuthControl;
  /** Reads and changes secrets directly, without a request. */
  readonly secrets: SecretControl;
  /** The pods that the REST API shows in addition to workers. */
  readonly pods: Pods;
  /**
   * Adds endpoints, templates, volumes, registry credentials, secrets and pods.
   * @throws TypeError if the seed is malformed
   * @throws RangeError if the seed violates a rule of the service
   */
  seed(seed: Seed): void;
  /**
   * Changes the worker quota while the emulator is running; `undefined` removes it. Endpoints above
   * a lower quota keep their workers, but no `workersMax` can be raised. The data file does not
   * save the quota.
   * @throws RangeError if `workers` is not a number ≥ 0
   */
  setWorkerQuota(workers: number | undefined): void;
  /**
   * Changes the spend limit, in US dollars an hour, while the emulator is running; `undefined`
   * removes it. A worker does not start if it would exceed the limit. The data file does not save
   * the limit.
   * @throws RangeError if `dollars` is not a number ≥ 0
   */
  setSpendLimit(dollars: number | undefined): void;
  /** Restores the initial state: the seed, an empty journal, and no fault rules. */
  reset(): void;
  /** Stops the emulator and closes all connections. */
  stop(): Promise<void>;
  /** Same as `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts an emulator of the service on a local port. Any number of emulators can run in one
 * process.
 * @throws Error if the port cannot be used, or if the data file cannot be read or written
 * @example
 * await using emulator = await startEmulator();
 * Object.assign(process.env, emulator.env);
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkOptions(options);
  const parts = createParts(options);
  const { apiKey, clock, context, account, journal, faults, random, dataFile, workerHost } = parts;

  function seed() {
    account.seed({ templates: options.templates });
    account.seed(options.seed ?? {});
  }

  function reset() {
    account.clear();
    journal.clear();
    parts.logs.clear();
    parts.billing.clear();
    faults.clear();
    random.restart();
    seed();
  }

  const server = await start(parts, options, { seed, reset }).catch(async (error) => {
    account.clear();
    await dataFile?.close();
    throw error;
  });

  async function stop() {
    await server.close();
    try {
      await dataFile?.saved();
    } finally {
      account.clear();
      await dataFile?.close();
      await workerHost.ended();
    }
  }

  return {
    url: server.url,
    apiKey,
    env: environmentOf(server.url, apiKey, context.profile),
    clock,
    journal,
    faults,
    endpoints: account.kinds.endpoints.control,
    templates: account.kinds.templates.control,
    volumes: account.kinds.volumes.control,
    registryAuths: account.kinds.registryAuths.control,
    secrets: account.kinds.secrets.control,
    pods: account.pods,
    seed: account.seed,
    setWorkerQuota: (workerQuota) => account.setLimits({ workerQuota }),
    setSpendLimit: (spendLimit) => account.setLimits({ spendLimit }),
    reset,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Loads the data file or the seed, and starts to listen on the port. */
async function start(parts: Parts, options: EmulatorOptions, { seed, reset }: { seed(): void; reset(): void }) {
  const { dataFile, account } = parts;
  await dataFile?.open();
  if (!dataFile?.load(account.restore)) seed();
  // If the data file cannot be written, fail now rather than at the first request.
  dataFile?.changed();
  await dataFile?.saved();
  return serve(parts, options, reset);
}

async function serve(parts: Parts, options: EmulatorOptions, reset: () => void) {
  const { port = 0, host = "127.0.0.1" } = options;
  const { apiKey, keys, clock, context, account, journal, tail, faults, workerHost, dataFile } = parts;
  const { read, operations } = parts.routes;
  const shown = { context, account, journal, operations, tail, faults, clock };
  const handler = createRequestHandler({
    refuse: (request) => hostRefusal(request, { keys, host }),
    read,
    control: createControl({ ...shown, reset }, { apiKey, host }),
    workerCalls: createWorkerCalls(workerHost),
    nextFault: parts.next,
    open: parts.open,
    clock,
    saved: () => dataFile?.saved(),
    changes: () => dataFile?.changes ?? 0,
  });
  const server = await listen(host, port, handler);
  workerHost.listening(server.url);
  return server;
}

function environmentOf(url: string, apiKey: string, profile: Profile): Record<string, string> {
  return {
    // Clients adapt to the observed service because of its name.
    ...(profile === "observed" && { SERVERLESS_GPU_SERVICE: "runpod" }),
    SERVERLESS_GPU_API_KEY: apiKey,
    SERVERLESS_GPU_GRAPHQL_URL: url,
    SERVERLESS_GPU_REST_URL: url,
    SERVERLESS_GPU_QUEUE_URL: url,
  };
}

export { systemClock } from "../sdk/contract/clock";
export type { ServerlessDiscount } from "./catalog/accountLimits";
export type { EmulatedEndpoint, EndpointControl } from "./endpoints/endpointKind";
export type { Interface } from "./io/http";
export type { LimitedOperation, ManagementLimits, RateLimit, RateLimitOptions } from "./jobs/rateLimits";
export type { EndpointContainer, EnvironmentVariable } from "./model/containerFields";
export type { CpuInstance } from "./model/cpuInstances";
export type { EndpointFields, EndpointInput, EndpointSeed } from "./model/endpointFields";
export type { Profile } from "./model/fidelity";
export type { RepoReference, Variable, VolumeReference } from "./model/observedFields";
export type { Place } from "./model/places";
export type { StockLevel, StockPart } from "./model/stock";
export type { EmulatorOptions } from "./options";
export type { Gpu, Machine, NetworkVolume, Pod, PodSeed } from "./pods/podRecord";
export type { Pods } from "./pods/pods";
export type { WorkerOutput } from "./programs/launchWorker";
export type { WorkerProgram } from "./programs/program";
export type { RecordControl } from "./records/kind";
export type {
  RegistryAuthFields,
  RegistryAuthInput,
  RegistryAuthRecord,
  RegistryAuthSeed,
} from "./registryAuths/registryAuthFields";
export type { RegistryAuthControl } from "./registryAuths/registryAuthKind";
export type { EmulatedSecret, SecretFields, SecretSeed } from "./secrets/secretFields";
export type { SecretControl } from "./secrets/secretKind";
export type { Seed } from "./server/account";
export type { ActiveFault, Faults } from "./server/faultMatch";
export type { FaultEffect, FaultMatch, FaultRule } from "./server/faultRule";
export type { Journal, JournalEntry, JournalFilter, WorkerLine, WorkerLineFilter } from "./server/journal";
export type { GraphqlEnd } from "./server/routes";
export type {
  PortConfig,
  SeededTemplate,
  TemplateFields,
  TemplateInput,
  TemplateRecord,
  TemplateSeed,
} from "./templates/templateFields";
export type { TemplateControl } from "./templates/templateKind";
export { type EmulatorClock, type ManualClock, manualClock, scaledClock } from "./time/virtualClock";
export type { VolumeFields, VolumeInput, VolumeRecord, VolumeSeed } from "./volumes/volumeFields";
export type { VolumeControl } from "./volumes/volumeKind";
export type { WorkerContainer } from "./workers/container";
export type { HttpContext, HttpHandler } from "./workers/httpHandler";
export type { Handler, HandlerContext, HandlerJob, Handlers } from "./workers/jobHandlers";
export { loadHandlers } from "./workers/loadHandlers";
export type { WorkerPod } from "./workers/worker";
