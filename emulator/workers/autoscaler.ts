import type { JobQueue, Waiting } from "../jobs/jobQueue";
import type { EndpointRecord } from "../model/endpointFields";
import { reusableTimer } from "../time/reusableTimer";
import type { RuntimeContext } from "./context";
import { type Demand, workersWanted } from "./scaling";
import type { WorkerModel } from "./workerModel";
import type { WorkerPool } from "./workerPool";

/** The parts of an endpoint that its autoscaler reads and controls. */
interface Scaled {
  readonly record: EndpointRecord;
  readonly context: RuntimeContext;
  readonly model: WorkerModel;
  readonly queue: Pick<JobQueue<Waiting>, "normal" | "normalSize">;
  readonly pool: WorkerPool;
  /** Returns the number of jobs in progress. */
  readonly inProgress: () => number;
}

/** Starts and stops an endpoint's workers according to its jobs. */
export interface Autoscaler {
  /** Returns the current input of the scaling formula. */
  demand(): Demand;
  /**
   * Scales immediately or at the model's next evaluation. The first worker always starts
   * immediately.
   */
  evaluate(): void;
  /** Scales immediately. */
  scale(): void;
  dispose(): void;
}

export function createAutoscaler(scaled: Scaled): Autoscaler {
  const { record, context, model, queue, pool, inProgress } = scaled;
  const { clock } = context;
  const overdueTimer = reusableTimer(clock, () => evaluate());
  const evaluationTimer = reusableTimer(clock, () => {
    evaluationIsDue = false;
    scale();
  });
  let evaluationIsDue = false;

  function evaluate(): void {
    const delayMs = evaluationIsDue ? undefined : model.evaluationDelayMs();
    if (delayMs === 0) {
      scale();
      return;
    }
    if (pool.size() === 0) pool.scaleTo(Math.min(1, wanted(0)));
    if (delayMs === undefined) return;
    evaluationIsDue = true;
    evaluationTimer.set(delayMs);
  }

  function scale(): void {
    overdueTimer.cancel();
    const { overdue, nextAt } = overdueJobs(record, queue, clock.now());
    const target = wanted(overdue);
    const allowed = pool.size() + model.startAtOnce;
    pool.scaleTo(Math.min(target, allowed));
    if (target > allowed) evaluate();
    context.watch.endpoint(record.id);
    if (nextAt !== undefined && pool.size() < record.workersMax) {
      overdueTimer.set(nextAt - clock.now());
    }
  }

  function wanted(overdue: number): number {
    const isDelay = record.scalerType === "QUEUE_DELAY";
    const busy = isDelay ? Math.ceil(inProgress() / model.concurrency) : inProgress();
    return workersWanted(record, { waiting: queue.normalSize, overdue, inProgress: busy });
  }

  return {
    demand() {
      const { overdue } = overdueJobs(record, queue, clock.now());
      return { waiting: queue.normalSize, overdue, inProgress: inProgress() };
    },
    evaluate,
    scale,
    dispose: overdueTimer.cancel,
  };
}

/**
 * Counts the jobs that have waited too long, up to `workersMax`. `nextAt` is when the next job will
 * have waited too long.
 */
function overdueJobs(
  record: EndpointRecord,
  queue: Scaled["queue"],
  now: number,
): { overdue: number; nextAt?: number } {
  if (record.scalerType !== "QUEUE_DELAY") return { overdue: 0 };
  let overdue = 0;
  for (const { queuedAt } of queue.normal()) {
    const overdueAt = queuedAt + record.scalerValue * 1000;
    if (overdueAt > now) return { overdue, nextAt: overdueAt };
    overdue += 1;
    if (overdue >= record.workersMax) break;
  }
  return { overdue };
}
