import type { WorkerProgram } from "../programs/program";
import type { WorkerPod, WorkerRunner } from "./worker";

/**
 * The workers of an endpoint and the pace of its autoscaler: those of the emulator, or those that a
 * forecast assumes.
 */
export interface WorkerModel {
  /** The number of workers that one evaluation starts at most, ≥ 1. */
  readonly startAtOnce: number;
  /** The number of jobs that the autoscaler expects one worker to run at once (integer, ≥ 1). */
  readonly concurrency: number;
  /**
   * `true`: a worker without a request stops after `idleTimeout` with every scaler.
   * @default false: not with REQUEST_COUNT
   */
  readonly usesIdleTimeout?: boolean;
  /**
   * Returns the time until the next evaluation of the autoscaler, in milliseconds; 0 for at once.
   */
  evaluationDelayMs(): number;
  /** Returns the program that workers run if they start now, or `undefined` for a function. */
  program(): WorkerProgram | undefined;
  /** Returns the runner of a worker that starts now. */
  runner(pod: WorkerPod): WorkerRunner;
}
