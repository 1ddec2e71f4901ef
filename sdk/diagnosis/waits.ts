import type { Clock } from "../contract/clock";
import { ServerlessGpuError } from "../errors";
import type { Diagnoses } from "./diagnosis";
import type { AwaitedWork, Diagnosis } from "./record";

/** No wait is diagnosed earlier, in milliseconds: most end before, and cost no request. */
export const FIRST_AFTER_MS = 30_000;
/** The time between two diagnoses of a process, in milliseconds. */
export const EVERY_MS = 30_000;
/** The most requests of one diagnosis without logs. Two a minute stay below 20. */
export const MOST_REQUESTS = 9;

/**
 * The budget that all waits of a process share: one diagnosis in 30 s, so at most two with 18
 * requests a minute. Waits take turns.
 */
interface Budget {
  /** The waits that want a diagnosis, the one that has waited longest first. */
  readonly queue: Set<object>;
  /** The time of the last start, in milliseconds of the monotonic clock. */
  startedAt: number;
}

/** The budget of each clock: a process has one, tests have their own. */
const budgets = new WeakMap<Clock, Budget>();

function budgetOf(clock: Clock): Budget {
  const budget = budgets.get(clock) ?? { queue: new Set(), startedAt: Number.NEGATIVE_INFINITY };
  budgets.set(clock, budget);
  return budget;
}

/** A wait that says why it waits. */
export interface ExplainedWait {
  /**
   * Must be called while the wait goes on. Starts a diagnosis if it is this wait's turn. Returns
   * the line to show if the cause has changed since the last call.
   * @param elapsedMs how long it has waited, in milliseconds
   */
  look(elapsedMs: number): string | undefined;
  /** Returns the end of the error when the wait fails: the last diagnosis, or how to get one. */
  lastWords(): string;
  /** Must be called when the wait has ended. */
  end(): void;
}

/**
 * Follows a wait for an endpoint. A wait of less than 30 s sends no request, and a failed diagnosis
 * changes nothing.
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
  let latest: Diagnosis | undefined;
  let shown: string | undefined;
  let isBusy = false;
  let isOver = false;

  async function run(waitedMs: number): Promise<void> {
    isBusy = true;
    try {
      latest = await diagnose(endpointId, { awaited, waitedMs, ...(signal && { signal }) });
    } catch {
      // A wait must not fail because nobody can say why it waits.
    } finally {
      isBusy = false;
    }
  }

  return {
    look(elapsedMs) {
      if (isOver || elapsedMs < FIRST_AFTER_MS) return undefined;
      if (!isBusy && takesTurn(budget, turn, clock.monotonic())) void run(elapsedMs);
      const line = latest && lineOf(latest);
      if (line === undefined || line === shown) return undefined;
      shown = line;
      return line;
    },
    lastWords: () => lastWords(clock, endpointId, latest),
    end() {
      isOver = true;
      budget.queue.delete(turn);
    },
  };
}

/**
 * Returns `true` if a wait may start a diagnosis now. Otherwise it keeps its place in the queue.
 */
function takesTurn(budget: Budget, turn: object, now: number): boolean {
  budget.queue.add(turn);
  const [next] = budget.queue;
  if (next !== turn || now - budget.startedAt < EVERY_MS) return false;
  budget.startedAt = now;
  budget.queue.delete(turn);
  return true;
}

/** Returns the end of the error of a wait that failed. */
export function lastWords(clock: Clock, endpointId: string, latest: Diagnosis | undefined): string {
  if (!latest) return `. To find out why, run: npx pulumi-serverless-gpu explain ${endpointId}`;
  const seconds = Math.max(0, Math.round((clock.now() - latest.madeAt.getTime()) / 1000));
  return `. The reason, as seen ${seconds} s ago: ${lineOf(latest)}`;
}

/** The errors of waits that took too long. Other failures have reasons of their own. */
const TOO_LATE: readonly string[] = ["DELETE_TIMEOUT", "RECYCLE_TIMEOUT"];

/** Adds why it waited to the error of a wait that failed. Ends the explained wait. */
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

/** Returns the cause and what to do, in one line. */
function lineOf({ summary, causes: [first] }: Diagnosis): string {
  return `${summary}. ${first?.advice ?? ""}`;
}

/**
 * Returns a function that diagnoses an endpoint for waits that have just failed, within the budget.
 * Waits for the same endpoint share a diagnosis. Returns `undefined` if there is none.
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
