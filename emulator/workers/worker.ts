import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { Place } from "../model/places";
import type { WorkerProgram } from "../programs/program";
import type { WorkerEvents } from "../programs/programWorker";
import type { ReusableTimer } from "../time/reusableTimer";
import type { WorkerContainer } from "./container";
import type { WorkerState } from "./watch";

/** A pod that is an endpoint's worker. The REST API adds the other fields of the contract. */
export interface WorkerPod {
  /** Pod identifier. */
  readonly id: string;
  /** The id of the endpoint that the pod is a worker of. */
  readonly endpointId: string;
  /** The endpoint's `version` when the worker started. */
  readonly slsVersion: number;
  /** The image, environment and other container settings that the worker runs with. */
  readonly container: WorkerContainer;
  /** The worker's data center, network volume and processors. */
  readonly place: Place;
  /** The currently expected status. */
  desiredStatus: "RUNNING" | "EXITED" | "TERMINATED";
  /** When the worker started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Description of the last lifecycle event. */
  lastStatusChange: string;
}

/** Runs one worker's jobs with a function, a program, or a forecast's rules. */
export interface WorkerRunner {
  /**
   * The program that the worker runs; `undefined` for a function. The worker is replaced if its
   * endpoint changes to another program.
   */
  readonly program: WorkerProgram | undefined;
  /** The maximum number of jobs that the pool assigns at the same time (integer, ≥ 1). */
  readonly concurrency: number;
  /** `true` while a process is running. The worker counts until the process has ended. */
  readonly hasProcess: boolean;
  /** `true` if the worker can take another job now. */
  readonly hasRoom: boolean;
  /**
   * Starts the container. `onAsk` is called when the worker accepts jobs.
   * @param imagePullMs how long pulling the image takes first, in milliseconds, ≥ 0
   * @returns a function that cancels a start that is still waiting
   */
  start(imagePullMs: number, events: WorkerEvents): () => void;
  /**
   * Returns how long a worker that has just finished a job waits before it asks for another, in
   * milliseconds. 0 means that it asks immediately, and `undefined` that it calls `onAsk` itself.
   */
  restMs(worker: { readonly jobs: number; readonly tookAt: number }): number | undefined;
  run(job: Job, events: JobRunEvents): JobRun;
  /** Shuts the worker down: asks its process to exit and stops health checks. */
  stop(): void;
  /** Kills the process, which ends its jobs. Returns `false` if there is no process. */
  kill(): boolean;
}

/** A worker of an endpoint. */
export interface Worker {
  readonly pod: WorkerPod;
  readonly runner: WorkerRunner;
  /** The number of jobs that the worker has. */
  jobs: number;
  /** The number of jobs that the worker will only take when it next asks. */
  resting: number;
  /** When the worker last took a job, in milliseconds since the epoch. */
  tookAt: number;
  /**
   * `throttled` while the service has no machine for the worker, `initializing` while its container
   * starts, `unhealthy` if that takes too long, `idle` while it waits for a job, and `running`
   * while it has one.
   */
  state: "throttled" | "initializing" | "unhealthy" | "idle" | "running";
  /** `true` if the worker takes no more jobs and stops once it has none. */
  draining: boolean;
  /** When the worker's state last changed, in milliseconds since the epoch. */
  since: number;
  /** Cancels the timer of the cold start, the idle timeout or the drain. */
  cancelTimer: () => void;
  /** The timer of the idle timeout, once the worker has had one. */
  idleTimer: ReusableTimer | undefined;
  /** The timers of pauses that have ended. */
  readonly restTimers: ReusableTimer[];
}

/** The `cancelTimer` of a worker that has no timer. */
export const noTimer = () => {};

/** Returns a worker that has just started. */
export function newWorker(pod: WorkerPod, runner: WorkerRunner, state: Worker["state"]): Worker {
  const untaken = { jobs: 0, resting: 0, tookAt: 0 };
  const timers = { cancelTimer: noTimer, idleTimer: undefined, restTimers: [] };
  return { pod, runner, ...untaken, state, draining: false, since: 0, ...timers };
}

/** Returns the state that is shown to users. */
export function shownState({ state, draining }: Worker): WorkerState {
  if (draining) return "draining";
  return state === "idle" || state === "running" ? state : "starting";
}

/** Returns the workers that are not draining, those without a job first. */
export function byReadiness(workers: ReadonlySet<Worker>): Worker[] {
  const order = { throttled: 0, unhealthy: 0, initializing: 1, idle: 2, running: 3 };
  return [...workers].filter((worker) => !worker.draining).sort((a, b) => order[a.state] - order[b.state]);
}
