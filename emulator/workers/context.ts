import type { RateLimitOptions } from "../jobs/rateLimits";
import type { WebhookContext } from "../jobs/webhooks";
import type { EndpointRecord } from "../model/endpointFields";
import type { Place } from "../model/places";
import type { WorkerHost } from "../programs/workerHost";
import type { WorkerContainer } from "./container";
import type { Handlers } from "./jobHandlers";
import type { Watch } from "./watch";
import type { WorkerEnvironments } from "./workerEnv";
import type { WorkerFaults } from "./workerFaults";
import type { WorkerLogs } from "./workerLogs";
import type { WorkerModel } from "./workerModel";

/** The parts of the emulator that an endpoint and its workers use. */
export interface RuntimeContext extends WebhookContext {
  /** Returns a number in [0, 1), the same sequence in every run with the same seed. */
  readonly random: () => number;
  /** How long a worker without a job takes to stop after a scale-down, in milliseconds. */
  readonly drainMs: number;
  /**
   * The time that a new worker takes until it accepts jobs, in milliseconds; with FLASHBOOT a
   * quarter of it.
   */
  readonly coldStartMs: number;
  /** Handlers by endpoint name or template id. A worker without one echoes the input of its job. */
  readonly handlers?: Handlers | undefined;
  /** Starts worker programs. */
  readonly workerHost: WorkerHost;
  readonly workerFaults: WorkerFaults;
  /** The logs of workers. @default none: a forecast reads no logs */
  readonly logs?: WorkerLogs | undefined;
  /** The workers that a forecast assumes. @default the emulator's own */
  readonly model?: WorkerModel | undefined;
  /** @default the contract's table */
  readonly rateLimits?: RateLimitOptions | undefined;
  /** `true` if workers with FLASHBOOT keep a template's old version until `workersMax` is 0. */
  readonly staleFlashBoot: boolean;
  /** Returns the container that a worker starting now gets from a template. */
  readonly containerOf: (templateId: string) => WorkerContainer;
  /** The variables of workers. */
  readonly environments: WorkerEnvironments;
  /** Returns the places where a worker of an endpoint can start now; empty if nothing fits. */
  readonly placesOf: (record: EndpointRecord) => readonly Place[];
  /** Must be called when a worker or an endpoint no longer uses a template. */
  readonly released: (templateId: string) => void;
  /**
   * Must be called at every change to what `snapshot` returns, which is saved before the next
   * response: with a job that was added, changed or deleted, with an endpoint whose jobs are all
   * new, or with neither for any other change.
   */
  readonly changed: (endpointId?: string, jobId?: string) => void;
  /** Must be called at every change that is visible to people. */
  readonly watch: Watch;
}
