import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { EmulatorClock } from "../time/virtualClock";
import { createJobPolls } from "./jobPolls";
import type { WorkerProgram } from "./program";
import { followJob, type RunningJob } from "./runningJob";
import { createStopRequests } from "./stopRequests";

/**
 * How long a worker's request waits for a job, in milliseconds (assumed). Workers give up after 90
 * s.
 */
const POLL_MS = 20_000;

/** How long until a request to stop a job is repeated, in milliseconds (assumed). */
const STOP_AGAIN_MS = 1000;

/** A worker that runs as a separate process. */
export interface ProgramWorker {
  /** How many jobs the worker currently asks for. */
  readonly room: number;
  /** Assigns a job to the worker, which must have room. */
  run(job: Job, events: JobRunEvents): JobRun;
  /** Asks the process to exit, and kills it if it does not exit in time. */
  stop(): void;
  /** Kills the process. */
  kill(): void;
  /** Suspends the process, so that it hangs. */
  freeze(): void;
}

/** The worker events that its pool follows. */
export interface WorkerEvents {
  /** Called whenever the worker asks for jobs. */
  onAsk(): void;
  /**
   * Called if the worker must be replaced, because it asked for it or because a job exceeded its
   * execution timeout.
   */
  onRetire(): void;
  /** Called once, when the process has ended. Its remaining jobs are lost afterwards. */
  onEnd(): void;
}

interface ProgramWorkerEvents extends WorkerEvents {
  /** Called when the worker has sent a job's result. */
  onResult(): void;
}

/** A worker's process. */
export type WorkerProcess = Pick<ProgramWorker, "stop" | "kill" | "freeze">;

/** A worker as seen by requests of the worker protocol. */
export interface ProgramWorkerCalls {
  /** Resolves with jobs for a worker that asks for `size` of them, ≥ 1. */
  take(size: number, signal: AbortSignal): Promise<readonly Job[]>;
  /** Resolves with the ids of jobs that the worker must stop. */
  jobsToStop(signal: AbortSignal): Promise<readonly string[]>;
  /** Records a job's result. It has no effect if the job has already ended. */
  done(jobId: string, body: Readonly<Record<string, unknown>>): void;
  stream(jobId: string, output: unknown): void;
  /** Must be called when the process has ended. */
  ended(): void;
}

export function createProgramWorker(
  { concurrency = Number.POSITIVE_INFINITY }: WorkerProgram,
  clock: EmulatorClock,
  process: WorkerProcess,
  events: ProgramWorkerEvents,
): { readonly worker: ProgramWorker; readonly calls: ProgramWorkerCalls } {
  const hold = (callback: () => void) => clock.schedule(POLL_MS, callback);
  const polls = createJobPolls(hold);
  const stopRequests = createStopRequests(hold, (callback) => clock.schedule(STOP_AGAIN_MS, callback, true));
  const running = new Map<string, RunningJob>();

  const worker: ProgramWorker = {
    get room() {
      return Math.max(0, Math.min(polls.room, concurrency - running.size));
    },
    run(job, runEvents) {
      const taken = followJob(job, clock, runEvents, (type) => {
        running.delete(job.id);
        if (type === "stopped") stopRequests.add(job.id);
        if (type === "exceedExecutionTimeout") events.onRetire();
        if (type === "complete" || type === "fail") events.onResult();
      });
      running.set(job.id, taken);
      polls.give(job);
      return taken;
    },
    stop() {
      polls.close();
      stopRequests.close();
      process.stop();
    },
    kill: process.kill,
    freeze: process.freeze,
  };

  const calls: ProgramWorkerCalls = {
    async take(size, signal) {
      const asked = polls.open(size, signal);
      events.onAsk();
      const jobs = await asked;
      // The signal aborts if the response is not delivered.
      const lose = () => {
        for (const { id } of jobs) running.get(id)?.lose();
      };
      if (jobs.length > 0) signal.addEventListener("abort", lose, { once: true });
      return jobs;
    },
    jobsToStop: stopRequests.open,
    done(jobId, body) {
      // Retire the worker before the outcome, so that it gets no other job.
      if (body.stopPod === true) events.onRetire();
      running.get(jobId)?.post(body);
    },
    stream(jobId, output) {
      running.get(jobId)?.stream(output);
    },
    ended() {
      polls.close();
      stopRequests.close();
      events.onEnd();
      for (const job of [...running.values()]) job.lose();
    },
  };
  return { worker, calls };
}
