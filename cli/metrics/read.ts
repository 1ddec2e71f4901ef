import { type Clock, sleep } from "../../sdk/contract/clock";
import { ServerlessGpuError } from "../../sdk/errors/errors";

/** How long the value of a read that is repeated every minute is shown, in milliseconds. */
export const SHOWN_MS = 300_000;

/** A repeated read, and the last value that it returned. */
export interface MetricRead<T> {
  /** The number of failures. */
  readonly errors: number;
  /** The error code of the most recent read; `undefined` if it succeeded. */
  readonly lastError: string | undefined;
  /** When the last successful read ended, in milliseconds since the epoch. */
  readonly readAt: number | undefined;
  /** Returns the last value, until it is too old to be shown. */
  latest(): T | undefined;
  /** Returns the seconds since the last success, or since the start if there was none. */
  ageS(): number;
  /**
   * Reads once. Resolves to the value, or to `undefined` after a failure. A failure is counted and
   * reported; the last value is kept.
   */
  run(): Promise<T | undefined>;
}

/** Returns the error code of a failed read. */
export const codeOf = (error: unknown): string => (error instanceof ServerlessGpuError ? error.code : "OTHER");

/**
 * Creates a read.
 * @param failed called when a read fails, unless the previous one failed with the same error code
 * @param shownMs returns how long a value is shown after it was read, in milliseconds
 */
export function createRead<T>(
  clock: Clock,
  ask: () => Promise<T>,
  failed: (error: unknown) => void,
  shownMs: () => number = () => SHOWN_MS,
): MetricRead<T> {
  let errors = 0;
  let last: { readonly value: T; readonly at: number } | undefined;
  let succeededAt = clock.monotonic();
  let lastError: string | undefined;
  let busy: Promise<T | undefined> | undefined;

  async function read(): Promise<T | undefined> {
    try {
      const value = await ask();
      last = { value, at: clock.now() };
      succeededAt = clock.monotonic();
      lastError = undefined;
      return value;
    } catch (error) {
      const code = codeOf(error);
      errors += 1;
      if (lastError !== code) failed(error);
      lastError = code;
      return undefined;
    }
  }

  return {
    get errors() {
      return errors;
    },
    get lastError() {
      return lastError;
    },
    get readAt() {
      return last?.at;
    },
    latest: () => (clock.monotonic() - succeededAt > shownMs() ? undefined : last?.value),
    ageS: () => (clock.monotonic() - succeededAt) / 1000,
    run() {
      busy ??= read().finally(() => {
        busy = undefined;
      });
      return busy;
    },
  };
}

/**
 * Repeats work until the signal aborts.
 * @param work returns the time from its start to the next start, in milliseconds
 */
export async function repeatRead(clock: Clock, signal: AbortSignal, work: () => Promise<number>): Promise<void> {
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    const everyMs = await work();
    const leftMs = Math.max(0, startedAt + everyMs - clock.monotonic());
    await sleep(clock, leftMs, signal).catch(() => {});
  }
}
