import { type Clock, sleep } from "../../sdk/contract/clock";
import { ServerlessGpuError } from "../../sdk/errors/errors";

/** How long a value is shown after it was read, in milliseconds. */
export const SHOWN_MS = 300_000;

/** A repeated read, and the last value that it returned. */
export interface MetricRead<T> {
  /** The number of failures, by error code. */
  readonly errors: ReadonlyMap<string, number>;
  /** The error code of the most recent read; `undefined` if it succeeded. */
  readonly lastError: string | undefined;
  /** Returns the last value, for up to five minutes after it was read. */
  latest(): T | undefined;
  /** Returns the seconds since the last success, or since the start if there was none. */
  ageS(): number;
  /**
   * Reads once. Resolves to the value, or to `undefined` after a failure. A failure is counted and
   * reported; the last value is kept.
   */
  run(): Promise<T | undefined>;
}

/**
 * Creates a read.
 * @param failed called when a read fails, unless the previous one failed with the same error code
 */
export function createRead<T>(clock: Clock, ask: () => Promise<T>, failed: (error: unknown) => void): MetricRead<T> {
  const errors = new Map<string, number>();
  let last: { readonly value: T } | undefined;
  let succeededAt = clock.monotonic();
  let lastError: string | undefined;
  let busy: Promise<T | undefined> | undefined;

  async function read(): Promise<T | undefined> {
    try {
      const value = await ask();
      last = { value };
      succeededAt = clock.monotonic();
      lastError = undefined;
      return value;
    } catch (error) {
      const code = error instanceof ServerlessGpuError ? error.code : "OTHER";
      errors.set(code, (errors.get(code) ?? 0) + 1);
      if (lastError !== code) failed(error);
      lastError = code;
      return undefined;
    }
  }

  return {
    errors,
    get lastError() {
      return lastError;
    },
    latest: () => (clock.monotonic() - succeededAt > SHOWN_MS ? undefined : last?.value),
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
