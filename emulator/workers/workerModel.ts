import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { EndpointRecord } from "../model/endpointFields";
import type { WorkerProgram } from "../programs/program";
import type { WorkerEvents } from "../programs/programWorker";
import type { RuntimeContext } from "./context";
import { programFor } from "./jobHandlers";
import { functionRunner, programRunner } from "./runners";
import type { WorkerPod } from "./worker";

/** Runs the jobs of one worker: with a function, a program, or a forecast's rule. */
export interface WorkerRunner {
  /** The program. A worker is replaced when its endpoint gets another one. `undefined` for a function. */
  readonly program: WorkerProgram | undefined;
  /** The number of jobs after which the pool offers it no more, whole, ≥ 1. */
  readonly concurrency: number;
  /** `true` while a process runs: the worker counts until it has ended. */
  readonly hasProcess: boolean;
  /** `true` if it can take another job now. */
  readonly hasRoom: boolean;
  /**
   * Starts the container. `onAsk` follows when it accepts jobs.
   * @param imagePullMs the time before that in which the image is pulled, in milliseconds, ≥ 0
   * @returns a function that cancels a start which still waits
   */
  start(imagePullMs: number, events: WorkerEvents): () => void;
  /**
   * Returns the time until a worker that has just finished a job asks for the next one, in milliseconds; 0 for at once,
   * `undefined` if it calls `onAsk` itself.
   */
  restMs(worker: { readonly jobs: number; readonly tookAt: number }): number | undefined;
  run(job: Job, events: JobRunEvents): JobRun;
  /** Asks the process to end. Has no effect without one. */
  stop(): void;
  /** Kills the process, whose end ends its jobs. Returns `false` without one. */
  kill(): boolean;
}

/** The workers of an endpoint and the pace of its autoscaler: those of the emulator, or those that a forecast assumes. */
export interface WorkerModel {
  /** The number of workers that one evaluation starts at most, ≥ 1. */
  readonly startAtOnce: number;
  /** The number of jobs that the autoscaler expects one worker to run at once, whole, ≥ 1. */
  readonly concurrency: number;
  /** Returns the time until the next evaluation of the autoscaler, in milliseconds; 0 for at once. */
  evaluationDelayMs(): number;
  /** Returns the program that workers run if they start now, or `undefined` for a function. */
  program(): WorkerProgram | undefined;
  /** Returns the runner of a worker that starts now. */
  runner(pod: WorkerPod): WorkerRunner;
}

/** Returns the emulator's own workers for an endpoint: its handler can change at any time. */
export function emulatedWorkers(record: EndpointRecord, context: RuntimeContext): WorkerModel {
  const program = () => programFor(context.handlers, record);
  return {
    startAtOnce: Number.POSITIVE_INFINITY,
    concurrency: 1,
    evaluationDelayMs: () => 0,
    program,
    runner(pod) {
      const present = program();
      return present ? programRunner(present, pod, context) : functionRunner(record, pod, context);
    },
  };
}
