import type { RateLimitOptions } from "./jobs/rateLimits";
import type { EmulatorClock } from "./time/virtualClock";
import type { Handlers } from "./workers/handlers";

/** Which reading of the service the emulator plays: the published contract, or what was seen at a running service. */
export type Profile = "contract" | "observed";

/** A serverless endpoint as the service keeps it (contract, Serverless endpoint). */
export interface EndpointRecord {
  /** Identifier that it was given when it was created. */
  readonly id: string;
  /** Name of the endpoint. */
  name: string;
  /** GPU tiers in priority order, then exclusions, as a comma list. */
  gpuIds: string;
  /** Id of the serverless template. */
  templateId: string;
  /** Seconds before an idle worker shuts down under `QUEUE_DELAY`; without effect under `REQUEST_COUNT`. */
  idleTimeout: number;
  /** Countries or data centers as a comma list; `""` for any region. */
  locations: string;
  /** `FLASHBOOT` for faster cold starts, or `null`. */
  flashBootType: "FLASHBOOT" | null;
  /** How the number of workers follows the load. */
  scalerType: "QUEUE_DELAY" | "REQUEST_COUNT";
  /** Target of the scaler: seconds of delay for `QUEUE_DELAY`, requests per worker for `REQUEST_COUNT`. */
  scalerValue: number;
  /** Workers that always run. */
  workersMin: number;
  /** Workers that may run at once. */
  workersMax: number;
  /** Network volume that the workers mount, or `null`. */
  networkVolumeId: string | null;
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Counts the changes; a worker's pod shows it as `slsVersion`. */
  version: number;
}

/** A pod that is a worker of an endpoint. The REST interface dresses it up with the contract's other fields. */
export interface WorkerPod {
  /** Pod identifier. */
  readonly id: string;
  /** The endpoint whose worker it is. */
  readonly endpointId: string;
  /** The endpoint's `version` when the worker started. */
  readonly slsVersion: number;
  /** The currently expected status. */
  desiredStatus: "RUNNING" | "EXITED" | "TERMINATED";
  /** When it started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Free text describing the last lifecycle event. */
  lastStatusChange: string;
}

/** What a runtime is given by the emulator. */
export interface RuntimeContext {
  readonly clock: EmulatorClock;
  readonly profile: Profile;
  /** A source of randomness in [0, 1), seeded, so that runs can be repeated. */
  readonly random: () => number;
  /** How long a busy or idle worker takes to leave after a scale-down, in milliseconds. */
  readonly drainMs: number;
  /** How long a new worker takes until it accepts jobs, in milliseconds; with FLASHBOOT it takes a quarter of it. */
  readonly coldStartMs: number;
  /** What workers do with jobs, by endpoint name or template id; they echo the input where there is none. */
  readonly handlers?: Handlers | undefined;
  /** Default: the contract's table. */
  readonly rateLimits?: RateLimitOptions | undefined;
  /** Whether webhooks may leave this machine. Default: no. */
  readonly remoteWebhooks?: boolean | undefined;
  /** To be called at every change of what `snapshot` holds or of the endpoint's record: it is saved before the next answer. */
  readonly changed: () => void;
  /** Whether a fault rule swallows the next delivery of a webhook; asked before each try. */
  readonly dropsWebhook: (endpointId: string) => boolean;
}
