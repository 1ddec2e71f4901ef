import type { WorkerProgram } from "../programs/program";
import type { WorkerPod, WorkerRunner } from "./worker";

/**
 * The behavior of an endpoint's workers and the pace of its autoscaler, either of the emulator or
 * as assumed by a forecast.
 */
export interface WorkerModel {
  /** How many workers one evaluation may start, ≥ 1. */
  readonly startAtOnce: number;
  /** How many jobs the autoscaler expects a worker to run at the same time (integer, ≥ 1). */
  readonly concurrency: number;
  /**
   * `true` if a worker without a request stops after `idleTimeout` with every scaler.
   * @default false: REQUEST_COUNT has no idle timeout
   */
  readonly usesIdleTimeout?: boolean;
  /**
   * Returns how long until the autoscaler's next evaluation, in milliseconds; 0 for immediately.
   */
  evaluationDelayMs(): number;
  /** Returns the program that a worker starting now would run; `undefined` for a function. */
  program(): WorkerProgram | undefined;
  /** Returns the runner of a worker that starts now. */
  runner(pod: WorkerPod): WorkerRunner;
}
