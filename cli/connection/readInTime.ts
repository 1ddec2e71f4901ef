import type { RequestOptions } from "../../sdk";
import { say } from "../terminal";

/**
 * The time limit of a command's read, in milliseconds. A person or a pipeline is waiting for it.
 */
const READ_MS = 10_000;

/** How often a waiting command prints a line, in milliseconds. */
const LINE_MS = 15_000;

/**
 * Runs a read with a time limit that covers all of its requests.
 * @param what describes what is read, such as `the releases of endpoint abc`
 * @throws Error if the read takes longer than 10 s
 */
export async function readInTime<T>(what: string, read: (limits: RequestOptions) => PromiseLike<T>): Promise<T> {
  const signal = AbortSignal.timeout(READ_MS);
  try {
    return await read({ signal, timeoutMs: READ_MS });
  } catch (error) {
    if (error !== signal.reason) throw error;
    throw new Error(
      `${what}: could not be read completely within ${READ_MS / 1000} s. Nothing was changed. Check the network and ` +
        "the URL, and try again later",
    );
  }
}

/**
 * Runs work that may take long, and prints a line every 15 s until it finishes.
 * @param what returns the line to print
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
