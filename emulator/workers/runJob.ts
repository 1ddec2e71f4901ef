import { jsonCopy } from "../io/json";
import { messageOf } from "../io/messageOf";
import { type JobRun, type JobRunEvents, limitRun, type Outcome } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import { inChunks, itemOf } from "../jobs/streamItems";
import type { Profile } from "../model/fidelity";
import type { RuntimeContext } from "./context";
import type { Handler, HandlerContext } from "./jobHandlers";
import type { WorkerPod } from "./worker";

/** The state of a handler's run of a job. */
interface HandlerRun {
  readonly job: Job;
  readonly runtime: RuntimeContext;
  readonly events: JobRunEvents;
  /** Called if the worker must be replaced after the job. */
  readonly onRefresh: () => void;
  /** `false` once there is an outcome or the run was stopped. */
  isOpen: boolean;
  cancelTimeout: () => void;
  controller: AbortController | undefined;
  /** Functions that end the handler's sleeps. */
  readonly sleepers: Set<(reason: Error) => void>;
}

/** Runs a job with a handler until there is an outcome or the execution timeout expires. */
export function runJob(
  handler: Handler,
  job: Job,
  worker: WorkerPod,
  runtime: RuntimeContext,
  events: JobRunEvents,
  onRefresh: () => void = () => {},
): JobRun {
  const run: HandlerRun = {
    job,
    runtime,
    events,
    onRefresh,
    isOpen: true,
    controller: undefined,
    sleepers: new Set(),
    cancelTimeout: limitRun(runtime.clock, job, () => settle(run, { type: "exceedExecutionTimeout" })),
  };
  callHandler(run, handler, contextOf(run, worker)).then((outcome) => settle(run, outcome));
  return { stop: () => close(run) };
}

function contextOf(run: HandlerRun, worker: WorkerPod): HandlerContext {
  const { imageName } = worker.container;
  const { runtime, events } = run;
  return Object.assign(new SignalOnDemand(() => abortSignal(run)), {
    now: () => runtime.clock.now(),
    random: runtime.random,
    imageName,
    env: runtime.environments.of(worker),
    sleep: (ms: number) => sleep(run, ms),
    log: (line: string) => runtime.logs?.add(worker.id, "container", line),
    progress(output: unknown) {
      if (run.isOpen) events.onProgress(jsonCopy(output));
    },
    crash: () => endByHandler(run, { type: "loseWorker" }),
    timeOut: () => endByHandler(run, { type: "timeOut" }),
  });
}

async function callHandler(run: HandlerRun, handler: Handler, context: HandlerContext): Promise<Outcome> {
  await null; // Let the caller receive the run before anything happens.
  try {
    const { request, id } = run.job;
    // Pass a copy, because a handler may modify its job.
    const own = jsonCopy(request) as typeof request;
    const result = await handler(Object.assign(own, { id }), context);
    if (isIterator(result)) return { type: "complete", output: await drain(run, result) };
    return run.runtime.profile === "observed" ? returned(run, jsonCopy(result)) : complete(jsonCopy(result));
  } catch (error) {
    return { type: "fail", error: errorText(error, run.runtime.profile) };
  }
}

function complete(output: unknown): Outcome {
  return { type: "complete", output };
}

/**
 * Returns the outcome for a handler's return value, as RunPod's Python worker decides: `error`
 * fails the job, and `refresh_worker` replaces the worker and is not part of the output.
 */
function returned({ job, onRefresh }: HandlerRun, output: unknown): Outcome {
  // OpenAI servers return their errors in the response instead.
  const isObject = typeof output === "object" && output !== null && !Array.isArray(output);
  if (!isObject || "openai_route" in job.request.input) return complete(output);
  const { error, refresh_worker: refreshes, ...others }: Record<string, unknown> = { ...output };
  if (refreshes) onRefresh();
  if (error) return { type: "fail", error: typeof error === "string" ? error : JSON.stringify(error) };
  return complete("error" in output || "refresh_worker" in output ? others : output);
}

/** Sends an iterator's items to the job's stream. Returns the job's output. */
async function drain(run: HandlerRun, iterator: AnyIterator): Promise<unknown> {
  const outputs: unknown[] = [];
  for (let index = 0; ; ) {
    const step = await iterator.next();
    if (step.done) return step.value === undefined ? outputs : jsonCopy(step.value);
    if (!run.isOpen) return iterator.return?.();
    const item = itemOf(step.value, index);
    const chunks = inChunks(item);
    outputs.push(item.output);
    index += chunks.length;
    run.events.onItems(chunks);
  }
}

function settle(run: HandlerRun, outcome: Outcome): void {
  if (!run.isOpen) return;
  close(run);
  run.events.onOutcome(outcome);
}

function close(run: HandlerRun): void {
  const { job, controller, sleepers } = run;
  run.isOpen = false;
  run.cancelTimeout();
  if (!controller && sleepers.size === 0) return;
  const reason = new Error(`Job ${job.id} is over.`);
  controller?.abort(reason);
  for (const endSleep of sleepers) endSleep(reason);
}

function endByHandler(run: HandlerRun, outcome: Outcome): never {
  settle(run, outcome);
  throw new Error(`The handler of job ${run.job.id} ended it.`);
}

/** Avoids abort signals, because one per sleep would take more time than the rest of a job. */
function sleep({ job, runtime, isOpen, sleepers }: HandlerRun, ms: number): Promise<void> {
  const slept = new Promise<void>((resolve, reject) => {
    if (!isOpen) return reject(new Error(`Job ${job.id} is over.`));
    const cancel = runtime.clock.schedule(ms, () => {
      sleepers.delete(endSleep);
      resolve();
    });
    const endSleep = (reason: Error) => {
      cancel();
      reject(reason);
    };
    sleepers.add(endSleep);
  });
  slept.catch(() => {}); // A handler may ignore the promise.
  return slept;
}

function abortSignal(run: HandlerRun): AbortSignal {
  run.controller ??= new AbortController();
  if (!run.isOpen) run.controller.abort();
  return run.controller.signal;
}

/**
 * Creates a signal only when a handler asks for it, which few do. All jobs share one getter: a
 * getter per job would cost the garbage collector as much as the rest of the job.
 */
class SignalOnDemand {
  declare readonly signal: AbortSignal;
  readonly #create: () => AbortSignal;

  constructor(create: () => AbortSignal) {
    this.#create = create;
    Object.defineProperty(this, "signal", SignalOnDemand.#property);
  }

  /** An own property, so that a copy of the context contains it too. */
  static readonly #property: PropertyDescriptor & ThisType<SignalOnDemand> = {
    enumerable: true,
    get() {
      return this.#create();
    },
  };
}

type AnyIterator = AsyncIterator<unknown> | Iterator<unknown>;

function isIterator(value: unknown): value is AnyIterator {
  return typeof value === "object" && value !== null && "next" in value && typeof value.next === "function";
}

/** Returns a job's `error`. The observed service shows JSON, as its worker library writes it. */
function errorText(error: unknown, profile: Profile): string {
  const message = messageOf(error);
  if (profile !== "observed") return message;
  return JSON.stringify({
    error_type: error instanceof Error ? messageOf(error.name) : "Error",
    error_message: message,
  });
}
