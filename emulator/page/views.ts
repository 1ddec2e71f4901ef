import type { JobState } from "../../sdk/contract/enums";
import type { JobView } from "../endpoints/jobView";
import type { Profile } from "../model/fidelity";
import type { ActiveFault } from "../server/faultMatch";
import type { FaultChoice } from "../server/faultRule";
import type { JournalEntry } from "../server/journal";
import type { WorkerView } from "../workers/scheduler";
import type { WorkerState } from "../workers/watch";

/**
 * An endpoint as the page shows it. All times are in milliseconds since the epoch on the emulator's
 * clock.
 */
export interface EndpointOnPage {
  readonly id: string;
  readonly name: string;
  readonly gpuIds: string;
  /** The requests of a load-balancing endpoint, which has no queue and no jobs. */
  readonly requests?: { readonly open: number; readonly waiting: number } | undefined;
  readonly scalerType: string;
  readonly workersMin: number;
  readonly workersMax: number;
  /** Numbers of jobs, by outcome. */
  readonly jobs: Readonly<Record<"inQueue" | "inProgress" | "completed" | "failed" | "retried", number>>;
  /** The time when the first waiting job entered the queue. */
  readonly oldestQueuedAt?: number | undefined;
  /** The arithmetic of the autoscaler. */
  readonly scaling: string;
  /** Ids of the assumed rows of the fidelity table that the workers of this endpoint follow. */
  readonly assumed: readonly string[];
  readonly workers: readonly WorkerView[];
}

export interface ClockView {
  readonly now: number;
  /** `true` if only people and programs move the clock. */
  readonly manual: boolean;
  /** The speed: 1 in real time, 0 for a manual clock. */
  readonly rate: number;
}

/** A worker that entered a state. */
export type Move = readonly [at: number, endpointId: string, workerId: string, state: WorkerState | "gone"];

/** A change in a queue's length. */
export type Depth = readonly [at: number, endpointId: string, waiting: number];

/** Facts that never change while the emulator runs. */
export interface About {
  /**
   * The page's own token: actions must contain it. If the emulator restarts, an open page gets the
   * new one.
   */
  readonly token: string;
  readonly profile: Profile;
  /** The assumed rows of the fidelity table by id. */
  readonly assumed: Readonly<Record<string, string>>;
  /** The number of jobs and of requests that the page lists. */
  readonly listed: number;
  readonly faultChoices: readonly FaultChoice[];
  /** All states of jobs, those that have ended, and those that can be retried. */
  readonly jobStates: Readonly<Record<"all" | "ended" | "retryable", readonly JobState[]>>;
}

/** A change for the page. A field that is left out has not changed. */
export interface Change {
  readonly clock: ClockView;
  /** Only the first change has it. All lists of that change are complete. */
  readonly about?: About;
  readonly endpoints?: readonly EndpointOnPage[];
  readonly endpointsGone?: readonly string[];
  readonly moves?: readonly Move[];
  readonly depths?: readonly Depth[];
  /** Jobs that are new or have changed, the newest last. */
  readonly jobs?: readonly JobView[];
  /** Ids of jobs that are gone, or that no longer match the filter. */
  readonly jobsGone?: readonly string[];
  /** Requests that are new or have changed, the newest last. */
  readonly requests?: readonly JournalEntry[];
  /** `true` if the journal was cleared before `requests`. */
  readonly requestsCleared?: boolean;
  /** The number of all requests since the start. */
  readonly requestCount?: number;
  /** All fault rules. */
  readonly faults?: readonly ActiveFault[];
}
