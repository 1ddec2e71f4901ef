import type { RateLimitOptions } from "../jobs/rateLimits";
import type { WebhookContext } from "../jobs/webhooks";
import type { EndpointRecord } from "../model/endpointFields";
import type { Place } from "../model/places";
import type { WorkerHost } from "../programs/workerHost";
import type { Billing } from "./billing";
import type { WorkerContainer } from "./container";
import type { Handlers } from "./jobHandlers";
import type { Watch } from "./watch";
import type { WorkerEnvironments } from "./workerEnv";
import type { WorkerFaults } from "./workerFaults";
import type { WorkerLogs } from "./workerLogs";
import type { WorkerModel } from "./workerModel";

/** The parts of the emulator that an endpoint and its workers use. */
export interface RuntimeContext extends WebhookContext {
  /** Returns a number in [0, 1). The same seed gives the same sequence. */
  readonly random: () => number;
  /** How long a worker without a job takes to stop after scaling down, in milliseconds. */
  readonly drainMs: number;
  /**
   * How long a new worker takes until it accepts jobs, in milliseconds. With FLASHBOOT, it takes a
   * quarter of this time.
   */
  readonly coldStartMs: number;
  /**
   * Handlers by endpoint name or template id. A worker without a handler returns the job's input.
   */
  readonly handlers?: Handlers | undefined;
  /** Starts worker programs. */
  readonly workerHost: WorkerHost;
  readonly workerFaults: WorkerFaults;
  /** The logs of workers. @default none, because a forecast reads no logs */
  readonly logs?: WorkerLogs | undefined;
  /** The account's bill. @default none, because a forecast counts its own worker seconds */
  readonly billing?: Billing | undefined;
  /** The worker model of a forecast. @default the emulator's own */
  readonly model?: WorkerModel | undefined;
  /** @default the contract's table */
  readonly rateLimits?: RateLimitOptions | undefined;
  /**
   * `true` if workers with FLASHBOOT keep using a template's old version until `workersMax` is 0.
   */
  readonly staleFlashBoot: boolean;
  /** Returns the container that a template gives to a worker that starts now. */
  readonly containerOf: (templateId: string) => WorkerContainer;
  /** The variables of workers. */
  readonly environments: WorkerEnvironments;
  /** Returns the places where an endpoint's worker can start now; empty if there is none. */
  readonly placesOf: (record: EndpointRecord) => readonly Place[];
  /** Must be called when a worker or endpoint no longer uses a template. */
  readonly released: (templateId: string) => void;
  /**
   * Must be called at every change to the result of `snapshot`, which is saved before the next
   * response.
   */
  readonly changed: () => void;
  /** Must be called at every change that the page shows. */
  readonly watch: Watch;
}
