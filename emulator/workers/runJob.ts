import { jsonCopy } from "../io/json";
import type { JobRun, JobRunEvents, Outcome } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import { inChunks, itemOf } from "../jobs/streamItems";
import type { Profile } from "../model/fidelity";
import type { WorkerContainer } from "./container";
import type { RuntimeContext } from "./context";
import type { Handler, HandlerContext } from "./jobHandlers";

/** Runs a job with a handler, until there is an outcome or the execution timeout is over. */
export function runJob(
  handler: Handler,
  job: Job,
  { imageName, env }: WorkerContainer,
  runtime: RuntimeContext,
  events: JobRunEvents,
): JobRun {
  const { clock } = runtime;
  let open = true;
  let controller: AbortController | undefined;
  const sleepers = new Set<(reason: Error) => void>();

  function close(): void {
    open = false;
    cancelTimeout();
    if (!controller && sleepers.size === 0) return;
    const reason = new Error(`Job ${job.id} is over.`);
    controller?.abort(reason);
    for (const endSleep of sleepers) endSleep(reason);
  }

  /** Uses no abort signals: one for each sleep would cost more than the rest of a job. */
  function sleep(ms: number): Promise<void> {
    const slept = new Promise<void>((resolve, reject) => {
      if (!open) return reject(new Error(`Job ${job.id} is over.`));
      const cancel = clock.schedule(ms, () => {
        sleepers.delete(endSleep);
        resolve();
      });
      const endSleep = (reason: Error) => {
        cancel();
        reject(reason);
      };
      sleepers.add(endSleep);
    });
    slept.catch(() => {}); // a handler may ignore the promise
    return slept;
  }

  function settle(outcome: Outcome): void {
    if (!open) return;
    close();
    events.onOutcome(outcome);
  }

  function give(outcome: Outcome): never {
    settle(outcome);
    throw new Error(`The handler of job ${job.id} ended it.`);
  }

  function abortSignal(): AbortSignal {
    controller ??= new AbortController();
    if (!open) controller.abort();
    return controller.signal;
  }

  const context: HandlerContext = Object.assign(new SignalOnDemand(abortSignal), {
    now: () => clock.now(),
    random: runtime.random,
    imageName,
    env: { ...env },
    sleep,
    progress(output: unknown) {
      if (open) events.onProgress(jsonCopy(output));
    },
    crash: () => give({ type: "loseWorker" }),
    timeOut: () => give({ type: "timeOut" }),
  });

  async function run(): Promise<Outcome> {
    await null; // the caller has the run before anything happens
    try {
      const { request, id } = job;
      const result = await handler(Object.assign(jsonCopy(request) as typeof request, { id }), context);
      return { type: "complete", output: isIterator(result) ? await drain(result) : jsonCopy(result) };
    } catch (error) {
      return { type: "fail", error: errorText(error, runtime.profile) };
    }
  }

  async function drain(iterator: AnyIterator): Promise<unknown> {
    const outputs: unknown[] = [];
    for (let index = 0; ; ) {
      const step = await iterator.next();
      if (step.done) return step.value === undefined ? outputs : jsonCopy(step.value);
      if (!open) return iterator.return?.();
      const item = itemOf(step.value, index);
      const chunks = inChunks(item);
      outputs.push(item.output);
      index += chunks.length;
      events.onItems(chunks);
    }
  }

  const cancelTimeout = clock.schedule(job.request.policy.executionTimeout, () =>
    settle({ type: "exceedExecutionTimeout" }),
  );
  run().then(settle);
  return { stop: close };
}

/**
 * Creates a signal when a handler asks for it, because few do. All jobs share one getter: one of its own for each costs the
 * garbage collector as much as the rest of a job.
 */
class SignalOnDemand {
  declare readonly signal: AbortSignal;
  readonly #create: () => AbortSignal;

  constructor(create: () => AbortSignal) {
    this.#create = create;
    Object.defineProperty(this, "signal", SignalOnDemand.#property);
  }

  /** An own property, so that a copy of the context has it, too. */
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

/** Returns the `error` of a job. The observed service shows JSON, as its worker library writes it. */
function errorText(error: unknown, profile: Profile): string {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  return profile === "observed" ? JSON.stringify({ error_type: name, error_message: message }) : message;
}
