import type { JobRun, JobRunEvents, Outcome } from "../jobs/jobRun";
import { DEFAULT_POLICY, type Job, type JobRequest, type JobStatus, type StreamItem } from "../jobs/jobStates";
import type { JobStore } from "../jobs/jobStore";
import { ENDPOINT_FIELDS, type EndpointRecord } from "../model/endpointFields";
import { fieldsAfter } from "../model/fieldTable";
import type { EventClock } from "../time/eventClock";
import { type ReusableTimer, reusableTimer } from "../time/reusableTimer";
import { WITHOUT_PROCESS } from "../workers/runners";
import { createScheduler, type JobScheduler, type ScheduledJob, type Scheduler } from "../workers/scheduler";
import { noTimer, type WorkerRunner } from "../workers/worker";
import type { WorkerModel } from "../workers/workerModel";
import type { Assumptions, PlayedChange, PlayedEndpoint } from "./assumptions";
import { contextOf } from "./playedContext";
import type { Period } from "./schedule";
import type { Starts } from "./starts";
import type { Tally } from "./tally";

/** An endpoint's queue, with the emulator's scheduler and workers. */
export interface PlayedQueue {
  readonly counts: Counts;
  /** Adds a job at the current time. */
  submit(durationMs: number): void;
  /** Records the time up to now. */
  advance(): void;
  /** Changes these settings of the endpoint now. */
  change(change: PlayedChange<Partial<PlayedEndpoint>>): void;
}

interface Counts {
  submitted: number;
  completed: number;
  timedOut: number;
  lost: number;
  /** When the last job ended, in milliseconds. */
  lastEndMs: number;
  /** Counts of the jobs that arrive, time out or are lost during the observed period. */
  readonly watched: { submitted: number; timedOut: number; lost: number };
}

interface Parts {
  readonly clock: EventClock;
  readonly random: () => number;
  readonly tally: Tally;
  readonly starts: Starts;
  /** Returns the period of the schedule at a time; `undefined` without a schedule. */
  readonly periodAt: (now: number) => Period | undefined;
}

/** Record fields that do not affect a run. */
const RECORD: EndpointRecord = {
  ...fieldsAfter(ENDPOINT_FIELDS, undefined, { name: "forecast", templateId: "forecast", gpuIds: "" }, "observed"),
  id: "forecast",
  createdAt: 0,
  version: 0,
  computeType: "GPU",
};

/**
 * Every job takes at least this long. Otherwise one worker would take all jobs at the same moment.
 */
const SHORTEST_MS = 1;

/** A job, which a run changes in place. When it has ended, its object is used for a later job. */
class PlayedJob implements Job {
  readonly id: string;
  readonly operation = "run";
  readonly request: JobRequest;
  status: JobStatus = "IN_QUEUE";
  submittedAt = 0;
  queuedAt = 0;
  durationMs = 0;
  /** The period of the schedule in which it arrived. */
  period: Period | undefined = undefined;
  /** The number of submitted jobs, including this one. */
  number = 0;
  readonly retries = 0;
  readonly stream: StreamItem[] = [];
  readonly ttlMs: number;
  readonly retentionMs = 0;

  constructor(id: string, request: JobRequest) {
    this.id = id;
    this.request = request;
    this.ttlMs = request.policy.ttl;
  }
}

/** The jobs of a run, and the functions that update them. */
interface PlayedJobs extends Parts {
  /** The settings, which may change while the load is played. */
  readonly endpoint: PlayedEndpoint;
  readonly assumptions: Assumptions;
  readonly counts: Counts;
  /** The request of all jobs. */
  readonly request: JobRequest;
  /** Objects for later jobs. */
  readonly unusedJobs: PlayedJob[];
  /** Objects for later runs of jobs. */
  readonly unusedRuns: PlayedRun[];
  /** `true` while the end of a job's time to live is scheduled. */
  isExpiring: boolean;
  /** Records the time up to now. */
  readonly advance: () => void;
}

/**
 * Creates the queue, with the first `workersMin` workers already warm.
 * @param endpoint is changed by `change`
 */
export function createPlayedQueue(
  endpoint: PlayedEndpoint,
  assumptions: Assumptions,
  run: number,
  parts: Parts,
): PlayedQueue {
  const { clock, random, tally, starts } = parts;
  const counts: Counts = {
    submitted: 0,
    completed: 0,
    timedOut: 0,
    lost: 0,
    lastEndMs: 0,
    watched: { submitted: 0, timedOut: 0, lost: 0 },
  };
  const advance = () => tally.advance(clock.now(), scheduler.queue.size);
  const request = { input: {}, policy: { ...DEFAULT_POLICY, ttl: assumptions.ttlS * 1000 } };
  const jobs: PlayedJobs = {
    ...parts,
    endpoint,
    assumptions,
    counts,
    request,
    unusedJobs: [],
    unusedRuns: [],
    isExpiring: false,
    advance,
  };
  const scaling = scalingOf(assumptions, run, clock, random);
  const context = contextOf(clock, random);
  context.watch.add({
    endpoint() {},
    job() {},
    worker(_, id, state) {
      if (state === "draining") return;
      advance();
      tally.onWorker(id, state, clock.now());
      starts.onWorker(state);
    },
  });
  const model = modelOf(jobs, scaling);
  const record = { ...RECORD, ...endpoint };
  const scheduler = createScheduler(record, { ...context, model }, storeOf(jobs), () => {
    counts.lastEndMs = clock.now();
  });
  scheduler.dispatch();
  clock.runUntil(clock.now());
  starts.begin();
  return {
    counts,
    advance,
    submit: (durationMs) => submit(jobs, scheduler, durationMs),
    change({ to, isReleased }) {
      advance();
      Object.assign(endpoint, to);
      tally.setWorkersMin(endpoint.workersMin);
      Object.assign(record, to);
      record.version += 1;
      scheduler.reconcile();
      if (isReleased) scheduler.rollOut();
    },
  };
}

/**
 * Returns a worker model that starts and runs jobs according to the assumptions. The initial
 * `workersMin` workers start immediately.
 */
function modelOf(jobs: PlayedJobs, scaling: ReturnType<typeof scalingOf>): WorkerModel {
  const { clock, starts, assumptions, endpoint } = jobs;
  const takeEveryMs = assumptions.takeEveryS * 1000;
  const shared = {
    ...WITHOUT_PROCESS,
    concurrency: assumptions.concurrency,
    // A worker asks for jobs at whole intervals, so it takes jobs that arrive at the same moment
    // together.
    restMs({ tookAt }: { readonly tookAt: number }) {
      if (takeEveryMs === 0) return 0;
      const sinceTake = clock.now() - tookAt;
      return Math.ceil(sinceTake / takeEveryMs) * takeEveryMs - sinceTake;
    },
  };
  const newRunner = (): WorkerRunner => {
    let readyAt = 0;
    return {
      ...shared,
      start(_imagePullMs, { onAsk }) {
        const startMs = starts.begun ? starts.draw() : 0;
        readyAt = clock.now() + startMs;
        return endpoint.failsToStart ? noTimer : clock.schedule(startMs, onAsk);
      },
      run(job, events) {
        const run = jobs.unusedRuns.pop() ?? new PlayedRun(jobs);
        run.begin(job as PlayedJob, events, readyAt);
        return run;
      },
    };
  };
  return {
    get startAtOnce() {
      return starts.begun ? scaling.startAtOnce : Number.POSITIVE_INFINITY;
    },
    concurrency: assumptions.concurrency,
    evaluationDelayMs: () => (starts.begun ? scaling.delayMs() : 0),
    program: () => undefined,
    runner: newRunner,
  };
}

/**
 * Runs a job until it completes, or until its execution timeout or time to live expires. The object
 * is then used for a later job.
 */
class PlayedRun implements JobRun {
  readonly #jobs: PlayedJobs;
  readonly #timer: ReusableTimer;
  #events: JobRunEvents | undefined = undefined;
  #outcome: "completed" | "timedOut" | "lost" = "completed";
  #startedAt = 0;

  constructor(jobs: PlayedJobs) {
    this.#jobs = jobs;
    this.#timer = reusableTimer(jobs.clock, () => this.#end());
  }

  begin(job: PlayedJob, events: JobRunEvents, readyAt: number): void {
    const { clock, tally, endpoint, assumptions } = this.#jobs;
    const now = clock.now();
    tally.onStart(now, now - job.queuedAt);
    job.period?.onStart(now, job.queuedAt, readyAt);
    const { durationMs } = job;
    const timeoutMs = (endpoint.executionTimeoutS ?? assumptions.executionTimeoutS) * 1000;
    const endMs = Math.min(durationMs, timeoutMs, job.submittedAt + job.ttlMs - now);
    this.#outcome = endMs === durationMs ? "completed" : endMs === timeoutMs ? "timedOut" : "lost";
    this.#events = events;
    this.#startedAt = now;
    this.#timer.set(endMs);
  }

  stop(): void {
    this.#timer.cancel();
  }

  #end(): void {
    const { tally, counts, advance, unusedRuns } = this.#jobs;
    advance();
    counts[this.#outcome] += 1;
    if (this.#outcome !== "completed" && tally.isWatched(this.#startedAt)) counts.watched[this.#outcome] += 1;
    unusedRuns.push(this);
    this.#events?.onOutcome(COMPLETE);
  }
}

/** Ends a job. The counts distinguish what happened to it. */
const COMPLETE: Outcome = { type: "complete", output: undefined };

function submit(jobs: PlayedJobs, scheduler: JobScheduler, durationMs: number): void {
  const { clock, counts, tally, advance } = jobs;
  const now = clock.now();
  advance();
  counts.submitted += 1;
  if (tally.isWatched(now)) counts.watched.submitted += 1;
  // No unfinished job has this id, because the number of submitted jobs only grows.
  const job = jobs.unusedJobs.pop() ?? new PlayedJob(String(counts.submitted), jobs.request);
  job.number = counts.submitted;
  job.status = "IN_QUEUE";
  job.submittedAt = now;
  job.queuedAt = now;
  job.durationMs = Math.max(SHORTEST_MS, durationMs);
  job.period = jobs.periodAt(now);
  job.period?.onSubmit();
  scheduler.enqueue(job);
  scheduler.dispatch();
  if (job.status === "IN_QUEUE") expireLater(jobs, scheduler);
}

/**
 * Schedules the end of the oldest waiting job's time to live, one at a time: all jobs have the same
 * time to live.
 */
function expireLater(jobs: PlayedJobs, scheduler: JobScheduler): void {
  const job = scheduler.queue.first?.job as PlayedJob | undefined;
  if (jobs.isExpiring || !job) return;
  const { number } = job;
  jobs.isExpiring = true;
  jobs.clock.schedule(job.submittedAt + job.ttlMs - jobs.clock.now(), () => {
    jobs.isExpiring = false;
    const { first } = scheduler.queue;
    if (first && (first.job as PlayedJob).number === number) lose(jobs, scheduler, first);
    expireLater(jobs, scheduler);
  });
}

/** Removes a waiting job whose time to live has expired. */
function lose(jobs: PlayedJobs, scheduler: Scheduler, scheduled: ScheduledJob): void {
  const { counts, unusedJobs, tally, advance } = jobs;
  const job = scheduled.job as PlayedJob;
  advance();
  counts.lost += 1;
  if (tally.isWatched(job.submittedAt)) counts.watched.lost += 1;
  scheduler.withdraw(scheduled);
  unusedJobs.push(job);
  scheduler.dispatch();
}

/** Returns a store that forgets jobs when they end, because nothing reads them afterwards. */
function storeOf({ unusedJobs }: PlayedJobs): Pick<JobStore, "apply" | "addItems"> {
  return {
    apply(job, event) {
      if (event.type === "start") (job as PlayedJob).status = "IN_PROGRESS";
      else unusedJobs.push(job as PlayedJob);
      return job;
    },
    addItems() {},
  };
}

/** Returns a run's scaler interval and step. The runs use the assumed values in turn. */
function scalingOf(assumptions: Assumptions, run: number, clock: EventClock, random: () => number) {
  const { evaluateEveryS: intervals, startAtOnce: steps } = assumptions;
  const everyMs = (intervals[run % intervals.length] as number) * 1000;
  const startAtOnce = steps[Math.floor(run / intervals.length) % steps.length] as number;
  const phaseMs = random() * everyMs;
  const delayMs = () => (everyMs === 0 ? 0 : everyMs - ((clock.now() + phaseMs) % everyMs));
  return { startAtOnce, delayMs };
}
