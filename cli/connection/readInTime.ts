import type { RequestOptions } from "../../sdk";
import { say } from "../terminal";

/** The longest time of a command's read, in milliseconds: people and pipes wait. */
export const READ_MS = 10_000;

/** The time between two lines of a command that waits, in milliseconds. */
const LINE_MS = 15_000;

/**
 * Returns what a command reads, with all its requests.
 * @param what names it, such as `the releases of endpoint abc`
 * @throws Error if it takes longer than 10 s
 */
export async function readInTime<T>(what: string, read: (limits: RequestOptions) => PromiseLike<T>): Promise<T> {
  const signal = AbortSignal.timeout(READ_MS);
  try {
    return await read({ signal, timeoutMs: READ_MS });
  } catch (error) {
    if (error !== signal.reason) throw error;
    throw new Error(
      `${what}: the service has not shown all of it within ${READ_MS / 1000} s. Nothing was changed. Check the network and ` +
        "the URL, and try again later",
    );
  }
}

/**
 * Returns the result of something that may take long. Until then, prints a line every 15 s.
 * @param what returns the line
 */
export async function sayWhileWaiting<T>(what: () => string, work: () => PromiseLike<T>): Promise<T> {
  const startedAt = Date.now();
  const timer = setInterval(() => say(`${what()} (${Math.round((Date.now() - startedAt) / 1000)} s)`), LINE_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
