import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { inspect } from "node:util";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator";
import { type ManualClock, manualClock } from "../../emulator/time/virtualClock";
import { type Client, type ClientOptions, createClient } from "../../sdk/client/client";
import type { Clock } from "../../sdk/contract/clock";

/** The key of every test. It must not appear in any output. */
export const CANARY = "canary-key-e1f2a3b4";

/** The longest virtual time of a call. */
const LONGEST_MS = 4 * 3_600_000;
const STEP_MS = 100;
/** The real time after which requests count as hanging if none of them ends. */
const LONGEST_PAUSE_MS = 10_000;

export interface Emulated {
  readonly emulator: Emulator;
  readonly client: Client;
  readonly clock: ManualClock;
  /** Advances virtual time until the promise is settled, and returns its value. */
  run<T>(promise: Promise<T>): Promise<T>;
  /**
   * Does the same for a promise that must reject. Checks that its error does not contain the key,
   * and returns the error.
   */
  failure(promise: Promise<unknown>): Promise<Error>;
  /** Returns the number of active timers of the client. */
  timers(): number;
  /** Returns the operations that the emulator received, in order. */
  calls(): string[];
  [Symbol.asyncDispose](): Promise<void>;
}

export interface EmulatedOptions {
  readonly emulator?: EmulatorOptions;
  readonly client?: Partial<ClientOptions>;
  /** The initial time, in milliseconds since the epoch. @default the current time */
  readonly startMs?: number;
}

/**
 * Starts an emulator and a client on one manual clock. The clock stops during requests, unless a
 * fault makes them hang.
 */
export async function startEmulated(options: EmulatedOptions = {}): Promise<Emulated> {
  const clock = manualClock(options.startMs);
  const emulator = await startEmulator({ profile: "contract", apiKey: CANARY, drainMs: 0, ...options.emulator, clock });
  const { url } = emulator;
  const { counted, active } = countTimers(clock);
  const client = createClient({
    apiKey: CANARY,
    graphqlUrl: url,
    restUrl: url,
    queueUrl: url,
    clock: counted,
    ...options.client,
  });
  // Don't stop the clock for these requests, because they wait for a job.
  const waiting = ["runsync", "status-sync", "stream", "openai"];
  const isHanging = () =>
    emulator.journal
      .requests({ outcome: "pending" })
      .some(({ fault, operation }) => fault?.includes("hang") || waiting.includes(operation));
  const stopHolding = holdDuringRequests(clock, rarely(isHanging));
  const run = <T>(promise: Promise<T>) => runUntilSettled(clock, promise);
  return {
    emulator,
    client,
    clock,
    run,
    failure: async (promise) =>
      withoutCanary(
        await run(
          promise.then(
            () => undefined,
            (error: unknown) => error,
          ),
        ),
      ),
    timers: () => active.size,
    calls: () => emulator.journal.operations(),
    async [Symbol.asyncDispose]() {
      stopHolding();
      const shown = inspect(emulator.journal.requests(), { depth: 20 });
      await emulator.stop();
      await client.close();
      if (shown.includes(CANARY)) throw new Error("the journal shows the key");
    },
  };
}

/** Advances virtual time until the promise is settled, and returns its value. */
async function runUntilSettled<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  for (let passedMs = 0; !settled; passedMs += STEP_MS) {
    if (passedMs > LONGEST_MS) throw new Error("still not settled after hours of virtual time");
    await clock.advance(STEP_MS);
  }
  return promise;
}

/** Returns the same clock, and its timers that have neither run nor been cancelled. */
function countTimers(clock: Clock): { readonly counted: Clock; readonly active: ReadonlySet<object> } {
  const active = new Set<object>();
  const counted: Clock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule(delayMs, callback) {
      const timer = {};
      active.add(timer);
      const cancel = clock.schedule(delayMs, () => {
        active.delete(timer);
        callback();
      });
      return () => {
        active.delete(timer);
        cancel();
      };
    },
  };
  return { counted, active };
}

/** Checks that the error does not contain the key, and returns the error. */
export function withoutCanary(error: unknown): Error {
  if (!(error instanceof Error)) throw new TypeError(`it should have failed with an error, not ${inspect(error)}`);
  const shown = [inspect(error, { depth: 20, showHidden: true }), error.stack, JSON.stringify(error), String(error)];
  if (shown.join().includes(CANARY)) throw new Error("the error shows the key");
  return error;
}

/**
 * Stops the clock while undici requests are in progress, unless one hangs. Returns a function that
 * restores the clock.
 */
function holdDuringRequests(clock: ManualClock, isHanging: () => boolean): () => void {
  /** Lets time continue after each request that stopped it. */
  const releases = new Map<object, () => void>();
  let movedAt = performance.now();
  let isWatching = false;
  const release = (request: object) => {
    movedAt = performance.now();
    releases.get(request)?.();
    releases.delete(request);
  };
  /**
   * Watches all requests together, because one watch for each request would slow down a busy
   * machine.
   */
  const watch = async () => {
    isWatching = true;
    while (releases.size > 0) {
      // On a busy machine, a thousand requests take long, but some of them end all the time.
      if (isHanging() || performance.now() - movedAt > LONGEST_PAUSE_MS) [...releases.keys()].forEach(release);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    isWatching = false;
  };
  const onCreate = (message: unknown) => {
    const { request } = message as { request: object };
    movedAt = performance.now();
    clock.hold(new Promise<void>((resolve) => releases.set(request, resolve)));
    if (!isWatching) void watch();
  };
  const onEnd = (message: unknown) => release((message as { request: object }).request);
  subscribe("undici:request:create", onCreate);
  subscribe("undici:request:trailers", onEnd);
  subscribe("undici:request:error", onEnd);
  return () => {
    unsubscribe("undici:request:create", onCreate);
    unsubscribe("undici:request:trailers", onEnd);
    unsubscribe("undici:request:error", onEnd);
    [...releases.keys()].forEach(release);
  };
}

/**
 * Returns a function that calls `ask` at most every 2 ms, because hundreds of requests call it at
 * once.
 */
function rarely(ask: () => boolean): () => boolean {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer = false;
  return () => {
    const now = performance.now();
    if (now - askedAt < 2) return answer;
    askedAt = now;
    answer = ask();
    return answer;
  };
}
