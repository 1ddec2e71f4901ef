import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { EndpointRecord } from "../model/endpointFields";
import type { WorkerProgram } from "../programs/program";
import type { ProgramWorker, WorkerEvents } from "../programs/programWorker";
import type { RuntimeContext } from "./context";
import { handlerFor, programFor } from "./jobHandlers";
import { runJob } from "./runJob";
import { noTimer, type WorkerPod, type WorkerRunner } from "./worker";
import { FAULTY } from "./workerFaults";
import type { WorkerModel } from "./workerModel";

/** The parts of a runner that all workers without a process share. */
export const WITHOUT_PROCESS = {
  program: undefined,
  hasProcess: false,
  hasRoom: true,
  stop() {},
  kill: () => false,
} satisfies Partial<WorkerRunner>;

/** Runs one job at a time with a handler, which is looked up for each job. */
function functionRunner(record: EndpointRecord, pod: WorkerPod, context: RuntimeContext): WorkerRunner {
  let retire = () => {};
  return {
    ...WITHOUT_PROCESS,
    concurrency: 1,
    start(imagePullMs, { onAsk, onRetire }) {
      retire = onRetire;
      return context.clock.schedule(imagePullMs + coldStartMs(record, context), onAsk);
    },
    restMs: () => 0,
    run(job, events) {
      if (isDropped(job, context)) return dropJob(pod, context, events);
      const fault = context.workerFaults.atJob(record.id);
      const handler = fault ? FAULTY[fault] : handlerFor(context.handlers, record);
      return runJob(handler, job, pod, context, events, () => retire());
    },
  };
}

/** How long the service waits for a job that its worker dropped, in milliseconds (assumed). */
const DROPPED_MS = 5_000;

/** The service leaves out an empty input, and workers drop a job without one (observed profile). */
function isDropped({ request }: Job, { profile }: RuntimeContext): boolean {
  return profile === "observed" && Object.keys(request.input).length === 0;
}

/** Drops a job as RunPod's Python worker does: with a line in its log, and without a result. */
function dropJob(pod: WorkerPod, { clock, logs }: RuntimeContext, events: JobRunEvents): JobRun {
  logs?.add(pod.id, "container", "Job has missing field(s): id or input.");
  return { stop: clock.schedule(DROPPED_MS, () => events.onOutcome({ type: "loseJob" })) };
}

/** FLASHBOOT shortens a cold start (contract, Serverless endpoint). The factor is assumed. */
export function coldStartMs(record: EndpointRecord, context: RuntimeContext): number {
  return record.flashBootType === null ? context.coldStartMs : context.coldStartMs / 4;
}

/**
 * Runs jobs with a program, as many at once as it asks for. The start of its process is the cold
 * start.
 */
function programRunner(program: WorkerProgram, pod: WorkerPod, context: RuntimeContext): WorkerRunner {
  let process: ProgramWorker | undefined;

  function launch(events: WorkerEvents): void {
    process = context.workerHost.start(program, pod, context.environments.of(pod), events);
  }

  return {
    program,
    concurrency: 1,
    get hasProcess() {
      return process !== undefined;
    },
    get hasRoom() {
      return process !== undefined && process.room > 0;
    },
    start(imagePullMs, events) {
      if (imagePullMs > 0) return context.clock.schedule(imagePullMs, () => launch(events));
      launch(events);
      return noTimer;
    },
    // The worker's process asks for more jobs itself.
    restMs: ({ jobs }) => (jobs > 0 ? undefined : 0),
    run(job, events): JobRun {
      if (!process) throw new Error(`Worker ${pod.id} took job ${job.id} before its process started.`);
      if (isDropped(job, context)) return dropJob(pod, context, events);
      const fault = context.workerFaults.atJob(pod.endpointId);
      const run = process.run(job, events);
      if (fault === "die") process.kill();
      if (fault === "hang") process.freeze();
      return run;
    },
    stop() {
      process?.stop();
    },
    kill() {
      process?.kill();
      return process !== undefined;
    },
  };
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
