import type { JobState } from "../../sdk/contract/enums";
import type { JobView } from "../endpoints/jobView";
import type { Profile } from "../model/fidelity";
import type { ActiveFault } from "../server/faultMatch";
import type { FaultChoice } from "../server/faultRule";
import type { JournalEntry } from "../server/journal";
import type { WorkerView } from "../workers/scheduler";
import type { WorkerState } from "../workers/watch";

/**
 * An endpoint as the page shows it. Times are in milliseconds since the epoch on the emulator's
 * clock.
 */
export interface EndpointOnPage {
  readonly id: string;
  readonly name: string;
  readonly gpuIds: string;
  /** The requests of a load-balancing endpoint, which has no queue or jobs. */
  readonly requests?: { readonly open: number; readonly waiting: number } | undefined;
  readonly scalerType: string;
  readonly workersMin: number;
  readonly workersMax: number;
  /** The number of jobs by status. */
  readonly jobs: Readonly<Record<"inQueue" | "inProgress" | "completed" | "failed" | "retried", number>>;
  /** When the oldest waiting job entered the queue. */
  readonly oldestQueuedAt?: number | undefined;
  /** The autoscaler's calculation. */
  readonly scaling: string;
  readonly workers: readonly WorkerView[];
}

export interface ClockView {
  readonly now: number;
  /** `true` if the clock only moves when it is told to. */
  readonly manual: boolean;
  /** The clock's speed: 1 in real time, 0 for a manual clock. */
  readonly rate: number;
}

/** A worker's change of state. */
export type Move = readonly [at: number, endpointId: string, workerId: string, state: WorkerState | "gone"];

/** A change of a queue's length. */
export type Depth = readonly [at: number, endpointId: string, waiting: number];

/** Facts that do not change while the emulator runs. */
export interface About {
  /**
   * The page's token, which actions must contain. After a restart of the emulator, an open page
   * receives the new token.
   */
  readonly token: string;
  readonly profile: Profile;
  readonly faultChoices: readonly FaultChoice[];
  /** All job statuses, those of ended jobs, and those of jobs that can be retried. */
  readonly jobStates: Readonly<Record<"all" | "ended" | "retryable", readonly JobState[]>>;
}

/** An update for the page. Omitted fields have not changed. */
export interface Change {
  readonly clock: ClockView;
  /** Only set in the first update, whose lists are complete. */
  readonly about?: About;
  readonly endpoints?: readonly EndpointOnPage[];
  readonly endpointsGone?: readonly string[];
  readonly moves?: readonly Move[];
  readonly depths?: readonly Depth[];
  /** The latest jobs that match the filter, newest last. */
  readonly jobs?: readonly JobView[];
  /** The latest requests that match the filter, newest last. */
  readonly requests?: readonly JournalEntry[];
  /** The number of requests since the start. */
  readonly requestCount?: number;
  /** All fault rules. */
  readonly faults?: readonly ActiveFault[];
}
