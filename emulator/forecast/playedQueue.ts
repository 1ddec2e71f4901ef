import type { JobRunEvents } from "../jobs/jobRun";
import { DEFAULT_POLICY, type Job, type JobRequest, newJob } from "../jobs/jobStates";
import type { JobStore } from "../jobs/jobStore";
import { ENDPOINT_FIELDS, type EndpointRecord } from "../model/endpointFields";
import { fieldsAfter } from "../model/fieldTable";
import type { Place } from "../model/places";
import { createWorkerHost } from "../programs/workerHost";
import type { EventClock } from "../time/eventClock";
import { exampleContainer } from "../workers/container";
import type { RuntimeContext } from "../workers/context";
import { WITHOUT_PROCESS } from "../workers/runners";
import { createScheduler, type Scheduler } from "../workers/scheduler";
import { createWatch } from "../workers/watch";
import { noTimer, type WorkerRunner } from "../workers/worker";
import { createEnvironments } from "../workers/workerEnv";
import type { WorkerModel } from "../workers/workerModel";
import type { Assumptions, PlayedChange, PlayedEndpoint } from "./assumptions";
import type { Starts } from "./starts";
import type { Tally } from "./tally";

/** An endpoint's queue, with the emulator's scheduler and workers. */
export interface PlayedQueue {
  readonly counts: Counts;
  /** Adds a job at the current time. */
  submit(durationMs: number): void;
  /** Records the time up to now. */
  advance(): void;
  /** Changes the endpoint's settings now. */
  change(change: PlayedChange): void;
}

interface Counts {
  submitted: number;
  completed: number;
  timedOut: number;
  lost: number;
  /** When the last job ended, in milliseconds. */
  lastEndMs: number;
  /** The jobs that arrive in the watched time, and what becomes of jobs in it. */
  readonly watched: { submitted: number; timedOut: number; lost: number };
}

interface Parts {
  readonly clock: EventClock;
  readonly random: () => number;
  readonly tally: Tally;
  readonly starts: Starts;
}

/** Record fields that do not affect a run. */
const RECORD: EndpointRecord = {
  ...fieldsAfter(ENDPOINT_FIELDS, undefined, { name: "forecast", templateId: "forecast", gpuIds: "" }, "observed"),
  ...{ id: "forecast", createdAt: 0, version: 0, computeType: "GPU" },
};

/** Every worker finds a machine. */
const PLACE: Place = { dataCenterId: "", volumeId: null, gpuCount: 1, cpu: null };

/**
 * Every job takes at least this long. Otherwise one worker would take all jobs at the same moment.
 */
const SHORTEST_MS = 1;

/** A job, which a run changes in place. */
type PlayedJob = { -readonly [Name in keyof Job]: Job[Name] };

/** The jobs of a run, and the functions that update them. */
interface PlayedJobs extends Parts {
  /** The settings, which may change while the load is played. */
  readonly endpoint: PlayedEndpoint;
  readonly assumptions: Assumptions;
  readonly counts: Counts;
  readonly policy: JobRequest["policy"];
  /** The unfinished jobs, by id. */
  readonly known: Map<string, PlayedJob>;
  /** The number of the first job that may still wait: all jobs have the same time to live. */
  oldest: number;
  /** `true` while the end of that job's time to live is scheduled. */
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
  const advance = () => tally.advance(clock.now(), scheduler.waiting);
  const policy = { ...DEFAULT_POLICY, ttl: assumptions.ttlS * 1000 };
  const waiting = { known: new Map(), oldest: 1, isExpiring: false };
  const jobs: PlayedJobs = { ...parts, endpoint, assumptions, counts, policy, ...waiting, advance };
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
      tally.setWorkersMin(to.workersMin);
      Object.assign(endpoint, to);
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
  const runner: WorkerRunner = {
    ...WITHOUT_PROCESS,
    concurrency: assumptions.concurrency,
    start(_imagePullMs, { onAsk }) {
      const startMs = starts.begun ? starts.draw() : 0;
      return endpoint.failsToStart ? noTimer : clock.schedule(startMs, onAsk);
    },
    // A worker asks for jobs at whole intervals, so it takes jobs that arrive at the same moment
    // together.
    restMs({ tookAt }) {
      if (takeEveryMs === 0) return 0;
      const sinceTake = clock.now() - tookAt;
      return Math.ceil(sinceTake / takeEveryMs) * takeEveryMs - sinceTake;
    },
    run: (job, events) => runJob(jobs, job, events),
  };
  return {
    get startAtOnce() {
      return starts.begun ? scaling.startAtOnce : Number.POSITIVE_INFINITY;
    },
    concurrency: assumptions.concurrency,
    evaluationDelayMs: () => (starts.begun ? scaling.delayMs() : 0),
    program: () => undefined,
    runner: () => runner,
  };
}

/** Runs a job until it completes, or until its execution timeout or time to live expires. */
function runJob({ clock, tally, endpoint, assumptions, counts, advance }: PlayedJobs, job: Job, events: JobRunEvents) {
  const now = clock.now();
  tally.onStart(now, now - job.queuedAt);
  const durationMs = job.request.input.ms as number;
  const timeoutMs = (endpoint.executionTimeoutS ?? assumptions.executionTimeoutS) * 1000;
  const endMs = Math.min(durationMs, timeoutMs, job.submittedAt + job.ttlMs - now);
  const stop = clock.schedule(endMs, () => {
    advance();
    const outcome = endMs === durationMs ? "completed" : endMs === timeoutMs ? "timedOut" : "lost";
    counts[outcome] += 1;
    if (outcome !== "completed" && tally.isWatched(now)) counts.watched[outcome] += 1;
    events.onOutcome({ type: "complete", output: undefined });
  });
  return { stop };
}

function submit(jobs: PlayedJobs, scheduler: Scheduler, durationMs: number): void {
  const { clock, counts, policy, known, tally, advance } = jobs;
  advance();
  counts.submitted += 1;
  if (tally.isWatched(clock.now())) counts.watched.submitted += 1;
  const request = { input: { ms: Math.max(SHORTEST_MS, durationMs) }, policy };
  const job = newJob(String(counts.submitted), "run", request, clock.now());
  known.set(job.id, job);
  scheduler.enqueue(job);
  scheduler.dispatch();
  if (job.status === "IN_QUEUE") expireLater(jobs, scheduler);
}

/** Schedules the end of the oldest waiting job's time to live, one at a time. */
function expireLater(jobs: PlayedJobs, scheduler: Scheduler): void {
  if (jobs.isExpiring) return;
  const { clock, counts, known, policy } = jobs;
  const oldest = () => known.get(String(jobs.oldest));
  while (jobs.oldest <= counts.submitted && oldest()?.status !== "IN_QUEUE") jobs.oldest += 1;
  const job = oldest();
  if (!job) return;
  jobs.isExpiring = true;
  clock.schedule(job.submittedAt + policy.ttl - clock.now(), () => {
    jobs.isExpiring = false;
    if (job.status === "IN_QUEUE") lose(jobs, scheduler, job);
    expireLater(jobs, scheduler);
  });
}

/** Removes a job whose time to live has expired. */
function lose({ counts, known, tally, advance }: PlayedJobs, scheduler: Scheduler, job: Job): void {
  advance();
  known.delete(job.id);
  counts.lost += 1;
  if (tally.isWatched(job.submittedAt)) counts.watched.lost += 1;
  scheduler.withdraw(job);
  scheduler.dispatch();
}

/** Returns a store that deletes jobs when they end, because nothing reads them afterwards. */
function storeOf({ known }: PlayedJobs): Pick<JobStore, "apply" | "addItems"> {
  return {
    apply(id, event) {
      const job = known.get(id) as PlayedJob;
      if (event.type === "start") job.status = "IN_PROGRESS";
      else known.delete(id);
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

function contextOf(clock: EventClock, random: () => number): RuntimeContext {
  return {
    ...{ clock, random, profile: "observed", drainMs: 0, coldStartMs: 0 },
    ...{ staleFlashBoot: false, containerOf: exampleContainer, placesOf: () => [PLACE] },
    environments: createEnvironments(() => undefined, "contract"),
    watch: createWatch(),
    workerHost: createWorkerHost(clock, () => {}),
    workerFaults: { atStart: () => ({ throttledMs: 0, imagePullMs: 0 }), atJob: () => undefined },
    released() {},
    changed() {},
    dropsWebhook: () => false,
  };
}
