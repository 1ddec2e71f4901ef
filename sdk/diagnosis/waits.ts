import type { Clock } from "../contract/clock";
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
 * The budget that all waits in a process share: one diagnosis every 30 s, so at most two diagnoses
 * with a total of 20 requests per minute. Waits take turns. A process has a single clock, but tests
 * use their own.
 */
const budgets = new WeakMap<Clock, Budget>();
type Budget = ReturnType<typeof newBudget>;

const newBudget = () => ({
  /** The waits that need a diagnosis, in the order in which they joined the queue. */
  queue: new Set<object>(),
  /** When the last diagnosis started, in milliseconds of the monotonic clock. */
  startedAt: Number.NEGATIVE_INFINITY,
});

function budgetOf(clock: Clock): Budget {
  const budget = budgets.get(clock) ?? newBudget();
  budgets.set(clock, budget);
  return budget;
}

/** A wait that can explain why it is taking so long. */
export type ExplainedWait = ReturnType<typeof explainWait>;

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
) {
  const budget = budgetOf(clock);
  const turn = {};
  const ending = new AbortController();
  let latest: Diagnosis | undefined;
  let shown: string | undefined;
  let isBusy = false;

  async function run(waitedMs: number): Promise<void> {
    isBusy = true;
    const either = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
    // A wait must not fail because its diagnosis fails.
    const diagnosis = await diagnose(endpointId, { awaited, waitedMs, signal: either }).catch(() => undefined);
    // By now, the wait may already be over.
    if (!/^nothing-wrong|^no-job-waits/.test(diagnosis?.causes[0]?.id ?? "")) latest = diagnosis ?? latest;
    isBusy = false;
  }

  return {
    /**
     * Must be called repeatedly during the wait. Starts a diagnosis when it is this wait's turn.
     * Returns the line to show if the line has changed since the last call.
     * @param elapsedMs how long the wait has lasted, in milliseconds
     */
    look(elapsedMs: number): string | undefined {
      if (ending.signal.aborted || elapsedMs < FIRST_AFTER_MS) return undefined;
      if (!isBusy && takesTurn(budget, turn, clock.monotonic())) void run(elapsedMs);
      const line = latest && lineOf(latest);
      if (line === undefined || line === shown) return undefined;
      shown = line;
      return line;
    },
    /**
     * Returns the text to add to the error if the wait fails: the last diagnosis, or instructions
     * for getting one.
     */
    lastWords: () => lastWords(clock, endpointId, latest),
    /** Must be called when the wait has ended. */
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
