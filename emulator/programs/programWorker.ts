import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { EmulatorClock } from "../time/virtualClock";
import { createJobPolls } from "./jobPolls";
import type { WorkerProgram } from "./program";
import { followJob, type RunningJob } from "./runningJob";
import { createStopRequests } from "./stopRequests";

/**
 * The longest time that a request of a worker waits for a job, in milliseconds (assumed). Workers
 * give up after 90 s.
 */
export const POLL_MS = 20_000;

/** How long until the request to stop a job is repeated, in milliseconds (assumed). */
const STOP_AGAIN_MS = 1000;

/** A worker whose program runs as a process of its own. */
export interface ProgramWorker {
  /** The number of jobs that the worker asks for now. */
  readonly room: number;
  /** Gives it a job. Call this only if it has room. */
  run(job: Job, events: JobRunEvents): JobRun;
  /** Asks the process to end, and kills it if it has not ended in time. */
  stop(): void;
  /** Kills the process. */
  kill(): void;
  /** Suspends the process, so that it hangs. */
  freeze(): void;
}

/** The events of a worker that its pool follows. */
export interface WorkerEvents {
  /** Called whenever the worker asks for jobs. */
  onAsk(): void;
  /**
   * Called if the worker must be replaced: it asked to be, or one of its jobs exceeded its
   * execution timeout.
   */
  onRetire(): void;
  /** Called once, when the process has ended. The jobs that it had are lost after that. */
  onEnd(): void;
}

interface ProgramWorkerEvents extends WorkerEvents {
  /** Called when the worker has sent the result of a job. */
  onResult(): void;
}

/** A worker's process. */
export type WorkerProcess = Pick<ProgramWorker, "stop" | "kill" | "freeze">;

/** A worker, as requests of the worker protocol see it. */
export interface ProgramWorkerCalls {
  /** Resolves with the jobs for a worker that asks for `size`, ≥ 1. */
  take(size: number, signal: AbortSignal): Promise<readonly Job[]>;
  /** Resolves with the ids of the jobs that the worker must stop. */
  jobsToStop(signal: AbortSignal): Promise<readonly string[]>;
  /** Reads the result of a job. A result for a job that has ended has no effect. */
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
      // The signal aborts if the response does not arrive.
      const lose = () => {
        for (const { id } of jobs) running.get(id)?.lose();
      };
      if (jobs.length > 0) signal.addEventListener("abort", lose, { once: true });
      return jobs;
    },
    jobsToStop: stopRequests.open,
    done(jobId, body) {
      // This comes before the outcome, so that the worker gets no other job.
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
