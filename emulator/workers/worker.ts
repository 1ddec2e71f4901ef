import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { Place } from "../model/places";
import type { WorkerProgram } from "../programs/program";
import type { WorkerEvents } from "../programs/programWorker";
import type { WorkerContainer } from "./container";
import type { WorkerState } from "./watch";

/** A pod that is an endpoint's worker. The REST interface adds the other fields of the contract. */
export interface WorkerPod {
  /** Pod identifier. */
  readonly id: string;
  /** Id of the endpoint whose worker the pod is. */
  readonly endpointId: string;
  /** The endpoint's `version` when the worker started. */
  readonly slsVersion: number;
  /** The image, the environment and the rest of the template that the worker runs with. */
  readonly container: WorkerContainer;
  /** The data center, the network volume and the processors that the worker has. */
  readonly place: Place;
  /** The currently expected status. */
  desiredStatus: "RUNNING" | "EXITED" | "TERMINATED";
  /** Time of the start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Description of the last lifecycle event. */
  lastStatusChange: string;
}

/** Runs one worker's jobs: with a function, a program, or a forecast's rule. */
export interface WorkerRunner {
  /**
   * The program that the worker runs, `undefined` for a function. The worker is replaced when its
   * endpoint changes to another program.
   */
  readonly program: WorkerProgram | undefined;
  /** The most jobs that the pool gives it at once: an integer, ≥ 1. */
  readonly concurrency: number;
  /** `true` while a process runs: the worker counts until it has ended. */
  readonly hasProcess: boolean;
  /** `true` if it can take another job now. */
  readonly hasRoom: boolean;
  /**
   * Starts the container. `onAsk` follows when it accepts jobs.
   * @param imagePullMs the time before that in which the image is pulled, in milliseconds, ≥ 0
   * @returns a function that cancels a start that is still waiting
   */
  start(imagePullMs: number, events: WorkerEvents): () => void;
  /**
   * Returns the time until a worker that has just finished a job asks for the next one, in
   * milliseconds; 0 for at once, `undefined` if it calls `onAsk` itself.
   */
  restMs(worker: { readonly jobs: number; readonly tookAt: number }): number | undefined;
  run(job: Job, events: JobRunEvents): JobRun;
  /**
   * Ends everything that the worker still does: asks its process to end, and stops health checks.
   */
  stop(): void;
  /** Kills the process, whose end ends its jobs. Returns `false` without one. */
  kill(): boolean;
}

/** A worker of an endpoint. */
export interface Worker {
  readonly pod: WorkerPod;
  readonly runner: WorkerRunner;
  /** The number of its jobs. */
  jobs: number;
  /** The number of its jobs that it will take only when it next asks for jobs. */
  resting: number;
  /** The time when it last took a job, in milliseconds since the epoch. */
  tookAt: number;
  /**
   * `throttled` while the service has no machine for it, `initializing` while its container starts,
   * `unhealthy` if it has tried that for too long, `idle` while it waits for a job, `running` while
   * it has one.
   */
  state: "throttled" | "initializing" | "unhealthy" | "idle" | "running";
  /** `true` if the worker takes no more jobs and stops when it has none. */
  draining: boolean;
  /** The time of the last change of its state, in milliseconds since the epoch. */
  since: number;
  /** Cancels the timer of its cold start, of its idle time or of its draining. */
  cancelTimer: () => void;
}

/** The `cancelTimer` of a worker without a timer. */
export const noTimer = () => {};

/** Returns a worker that has just started. */
export function newWorker(pod: WorkerPod, runner: WorkerRunner, state: Worker["state"]): Worker {
  const untaken = { jobs: 0, resting: 0, tookAt: 0 };
  return { pod, runner, ...untaken, state, draining: false, since: 0, cancelTimer: noTimer };
}

/** Returns the state that people see. */
export function shownState({ state, draining }: Worker): WorkerState {
  if (draining) return "draining";
  return state === "idle" || state === "running" ? state : "starting";
}

/** Returns the workers that do not drain, those without a job first. */
export function byReadiness(workers: ReadonlySet<Worker>): Worker[] {
  const order = { throttled: 0, unhealthy: 0, initializing: 1, idle: 2, running: 3 };
  return [...workers].filter((worker) => !worker.draining).sort((a, b) => order[a.state] - order[b.state]);
}
