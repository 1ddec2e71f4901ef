import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import { apply, DEFAULT_POLICY, type Job, type JobEvent, newJob } from "../jobs/jobStates";
import type { EndpointRecord } from "../model/endpointFields";
import { createWorkerHost } from "../programs/workerHost";
import type { EventClock } from "../time/eventClock";
import { exampleContainer } from "../workers/container";
import type { RuntimeContext } from "../workers/context";
import { createScheduler } from "../workers/scheduler";
import { createWatch } from "../workers/watch";
import type { WorkerModel } from "../workers/workerModel";
import type { Assumptions, PlayedEndpoint } from "./assumptions";
import type { Starts } from "./starts";
import type { Tally } from "./tally";

/** The queue of an endpoint, with the emulator's scheduler and workers. */
export interface PlayedQueue {
  readonly counts: Counts;
  /** Adds a job now. */
  submit(durationMs: number): void;
  /** Accounts for the time until now. */
  advance(): void;
}

interface Counts {
  submitted: number;
  completed: number;
  timedOut: number;
  lost: number;
  /** The time when the last job ended, in milliseconds. */
  lastEndMs: number;
}

interface Parts {
  readonly clock: EventClock;
  readonly random: () => number;
  readonly tally: Tally;
  readonly starts: Starts;
}

/** The fields of a record that a run does not depend on. */
const RECORD: Omit<EndpointRecord, keyof PlayedEndpoint> = {
  ...{ id: "forecast", name: "forecast", templateId: "forecast", gpuIds: "", createdAt: 0, version: 0 },
  ...{ locations: "", networkVolumeId: null, flashBootType: null },
};

/** No job takes no time: a worker would take all of them at the same moment. */
const SHORTEST_MS = 1;

/** Creates the queue, with the first `workersMin` workers: they are warm. */
export function createPlayedQueue(
  endpoint: PlayedEndpoint,
  assumptions: Assumptions,
  run: number,
  parts: Parts,
): PlayedQueue {
  const { clock, random, tally, starts } = parts;
  const counts: Counts = { submitted: 0, completed: 0, timedOut: 0, lost: 0, lastEndMs: 0 };
  const policy = { ...DEFAULT_POLICY, ttl: assumptions.ttlS * 1000 };
  const timeoutMs = assumptions.executionTimeoutS * 1000;
  const jobs = new Map<string, Job>();
  const cancelLoss = new Map<string, () => void>();
  const scaling = scalingOf(assumptions, run, clock, random);
  let begun = false;

  const advance = () => tally.advance(clock.now(), scheduler.waiting);

  /** Runs a job until its own end, that of its execution timeout or that of its time to live. */
  function runJob(job: Job, events: JobRunEvents): JobRun {
    const now = clock.now();
    tally.onStart(now, now - job.queuedAt);
    cancelLoss.get(job.id)?.();
    cancelLoss.delete(job.id);
    const durationMs = job.request.input.ms as number;
    const endMs = Math.min(durationMs, timeoutMs, job.submittedAt + job.ttlMs - now);
    const stop = clock.schedule(endMs, () => {
      advance();
      counts[endMs === durationMs ? "completed" : endMs === timeoutMs ? "timedOut" : "lost"] += 1;
      events.onOutcome({ type: "complete", output: undefined });
    });
    return { stop };
  }

  function lose(job: Job): void {
    advance();
    cancelLoss.delete(job.id);
    jobs.delete(job.id);
    counts.lost += 1;
    scheduler.withdraw(job);
    scheduler.dispatch();
  }

  const model: WorkerModel = {
    get startAtOnce() {
      return begun ? scaling.startAtOnce : Number.POSITIVE_INFINITY;
    },
    concurrency: assumptions.concurrency,
    takeEveryMs: assumptions.takeEveryS * 1000,
    evaluationDelayMs: () => (begun ? scaling.delayMs() : 0),
    coldStartMs: () => (begun ? starts.draw() : 0),
    onWorker(worker) {
      advance();
      tally.onWorker(worker, clock.now());
      starts.onWorker(worker);
    },
    run: runJob,
  };
  const store = {
    /** A job that has ended is deleted at once: nobody reads its record. */
    apply(id: string, event: JobEvent) {
      const job = jobs.get(id) as Job;
      if (event.type !== "start") {
        jobs.delete(id);
        return job;
      }
      const started = apply(job, event, clock.now());
      jobs.set(id, started);
      return started;
    },
    addItems() {},
  };
  const scheduler = createScheduler({ ...RECORD, ...endpoint }, contextOf(clock, random, model), store, () => {
    counts.lastEndMs = clock.now();
  });
  scheduler.dispatch();
  clock.runUntil(clock.now());
  begun = true;
  starts.begin();

  return {
    counts,
    advance,
    submit(durationMs) {
      advance();
      counts.submitted += 1;
      const job = newJob(
        String(counts.submitted),
        "run",
        { input: { ms: Math.max(SHORTEST_MS, durationMs) }, policy },
        clock.now(),
      );
      jobs.set(job.id, job);
      scheduler.enqueue(job);
      scheduler.dispatch();
      if (jobs.get(job.id)?.status !== "IN_QUEUE") return;
      cancelLoss.set(
        job.id,
        clock.schedule(policy.ttl, () => lose(job)),
      );
    },
  };
}

/** Returns the scaler's interval and step of a run: each run takes one of the assumed values, in turn. */
function scalingOf(assumptions: Assumptions, run: number, clock: EventClock, random: () => number) {
  const { evaluateEveryS: intervals, startAtOnce: steps } = assumptions;
  const everyMs = (intervals[run % intervals.length] as number) * 1000;
  const startAtOnce = steps[Math.floor(run / intervals.length) % steps.length] as number;
  const phaseMs = random() * everyMs;
  const delayMs = () => (everyMs === 0 ? 0 : everyMs - ((clock.now() + phaseMs) % everyMs));
  return { startAtOnce, delayMs };
}

function contextOf(clock: EventClock, random: () => number, model: WorkerModel): RuntimeContext {
  return {
    ...{ clock, random, model, profile: "observed", drainMs: 0, coldStartMs: 0 },
    ...{ staleFlashBoot: false, containerOf: exampleContainer },
    watch: createWatch(),
    workerHost: createWorkerHost(clock, () => {}),
    workerFaults: { atStart: () => ({ throttledMs: 0, imagePullMs: 0 }), atJob: () => undefined },
    released() {},
    changed() {},
    dropsWebhook: () => false,
  };
}
