import type { Clock } from "../contract/clock";
import { ServerlessGpuError } from "../errors";
import type { Diagnoses } from "./diagnosis";
import type { AwaitedWork, Diagnosis } from "./record";

/**
 * How long a wait must last before it is diagnosed, in milliseconds. Most waits are shorter and
 * therefore cost no requests.
 */
export const FIRST_AFTER_MS = 30_000;
/** The minimum time between two diagnoses in one process, in milliseconds. */
export const EVERY_MS = 30_000;
/**
 * The maximum number of requests in one diagnosis without logs. Two diagnoses a minute send fewer
 * than 20.
 */
export const MOST_REQUESTS = 9;

/**
 * The budget that all waits in a process share: one diagnosis every 30 s, so at most two diagnoses
 * with a total of 18 requests per minute. Waits take turns.
 */
interface Budget {
  /** The waits that need a diagnosis, in the order in which they joined the queue. */
  readonly queue: Set<object>;
  /** When the last diagnosis started, in milliseconds of the monotonic clock. */
  startedAt: number;
}

/** The budget of each clock. A process has a single clock, but tests use their own. */
const budgets = new WeakMap<Clock, Budget>();

function budgetOf(clock: Clock): Budget {
  const budget = budgets.get(clock) ?? { queue: new Set(), startedAt: Number.NEGATIVE_INFINITY };
  budgets.set(clock, budget);
  return budget;
}

/** A wait that can explain why it is taking so long. */
export interface ExplainedWait {
  /**
   * Must be called repeatedly during the wait. Starts a diagnosis when it is this wait's turn.
   * Returns the line to show if the line has changed since the last call.
   * @param elapsedMs how long the wait has lasted, in milliseconds
   */
  look(elapsedMs: number): string | undefined;
  /**
   * Returns the text to add to the error if the wait fails: the last diagnosis, or instructions for
   * getting one.
   */
  lastWords(): string;
  /** Must be called when the wait has ended. */
  end(): void;
}

/**
 * Explains a wait for an endpoint. A wait of less than 30 s sends no requests, and a failed
 * diagnosis has no effect.
 */
export function explainWait(
  { diagnose }: Diagnoses,
  clock: Clock,
  endpointId: string,
  awaited: AwaitedWork,
  signal?: AbortSignal,
): ExplainedWait {
  const budget = budgetOf(clock);
  const turn = {};
  const ending = new AbortController();
  let latest: Diagnosis | undefined;
  let shown: string | undefined;
  let isBusy = false;

  async function run(waitedMs: number): Promise<void> {
    isBusy = true;
    try {
      const either = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
      const diagnosis = await diagnose(endpointId, { awaited, waitedMs, signal: either });
      // By now, the wait may already be over.
      if (diagnosis.causes[0]?.id !== "nothing-wrong") latest = diagnosis;
    } catch {
      // A wait must not fail because its diagnosis fails.
    } finally {
      isBusy = false;
    }
  }

  return {
    look(elapsedMs) {
      if (ending.signal.aborted || elapsedMs < FIRST_AFTER_MS) return undefined;
      if (!isBusy && takesTurn(budget, turn, clock.monotonic())) void run(elapsedMs);
      const line = latest && lineOf(latest);
      if (line === undefined || line === shown) return undefined;
      shown = line;
      return line;
    },
    lastWords: () => lastWords(clock, endpointId, latest),
    end() {
      ending.abort();
      budget.queue.delete(turn);
    },
  };
}

/**
 * Returns `true` if a wait may start a diagnosis now. Otherwise, the wait keeps its place in the
 * queue.
 */
function takesTurn(budget: Budget, turn: object, now: number): boolean {
  budget.queue.add(turn);
  const [next] = budget.queue;
  if (next !== turn || now - budget.startedAt < EVERY_MS) return false;
  budget.startedAt = now;
  budget.queue.delete(turn);
  return true;
}

/** Returns the text to add to the error of a wait that has failed. */
export function lastWords(clock: Clock, endpointId: string, latest: Diagnosis | undefined): string {
  if (!latest) return `. To find out why, run: npx pulumi-serverless-gpu explain ${endpointId}`;
  const seconds = Math.max(0, Math.round((clock.now() - latest.madeAt.getTime()) / 1000));
  return `. The reason, as seen ${seconds} s ago: ${lineOf(latest)}`;
}

/** The errors of waits that took too long. Other errors already state their reason. */
const TOO_LATE: readonly string[] = ["DELETE_TIMEOUT", "RECYCLE_TIMEOUT"];

/**
 * Adds the explanation to the error of a wait that took too long. Ends the explained wait in any
 * case.
 */
export async function withLastWords<T>(wait: Promise<T>, why: ExplainedWait): Promise<T> {
  try {
    return await wait;
  } catch (error) {
    throw error instanceof ServerlessGpuError && TOO_LATE.includes(error.code)
      ? error.withDetails(why.lastWords())
      : error;
  } finally {
    why.end();
  }
}

/** Returns the cause and the recommended action in one line. */
function lineOf({ summary, causes: [first] }: Diagnosis): string {
  return `${summary}. ${first?.advice ?? ""}`;
}

/**
 * Returns a function that diagnoses an endpoint after a wait has failed, if the budget allows it.
 * Waits for the same endpoint share a diagnosis. The function returns `undefined` if no diagnosis
 * is available.
 */
export function createLateDiagnoses({ diagnose }: Diagnoses, clock: Clock) {
  const known = new Map<string, { readonly at: number; readonly diagnosis: Promise<Diagnosis | undefined> }>();
  return async (endpointId: string, waitedMs: number): Promise<Diagnosis | undefined> => {
    const now = clock.monotonic();
    const latest = known.get(endpointId);
    if (latest && now - latest.at < EVERY_MS) return latest.diagnosis;
    const budget = budgetOf(clock);
    if (now - budget.startedAt < EVERY_MS) return undefined;
    budget.startedAt = now;
    const diagnosis = diagnose(endpointId, { waitedMs }).catch(() => undefined);
    known.set(endpointId, { at: now, diagnosis });
    return diagnosis;
  };
}
