import type { ExplainedWait } from "../../sdk/diagnosis/waits";
import type { DeleteProgress } from "../../sdk/endpoints/deleteOptions";
import { type ErrorCode, ServerlessGpuError } from "../../sdk/errors/errors";
import { redact } from "../../sdk/errors/secretText";
import { type RateLimitEvent, waitText } from "../../sdk/transport/observers";

/** The minimum time between two log lines about the same wait. */
const LINE_EVERY_MS = 10_000;

/**
 * The minimum time between two log lines about a rate limit, which may delay a run by many minutes.
 */
const RATE_LIMIT_LINE_EVERY_MS = 60_000;

/**
 * Receives the log lines. The engine shows everything that a process prints as a message of the
 * stack, so each line starts with the name of the resource.
 */
let receive = (name: string, text: string): void => console.log(`${name}: ${text}`);

/** Sends all further log lines to the given function, redacted. */
export function logTo(receiver: (name: string, text: string) => void): void {
  receive = receiver;
}

/**
 * Logs a line about a resource, identified by its name. A line that begins with `warning: ` is a
 * warning.
 */
export function log(name: string, text: string): void {
  receive(redact(name), redact(text));
}

/** Logs the reason for a wait if the reason has changed. */
export function logChange(name: string, line: string | undefined): void {
  if (line !== undefined) log(name, `why it waits: ${line}`);
}

/**
 * Returns a function that logs the progress of a deletion, with at most one line every ten seconds,
 * and logs each change of the reason why the deletion waits.
 */
export function drainLogger(endpointName: string, why: ExplainedWait): (progress: DeleteProgress) => void {
  const logWait = waitLogger(endpointName);
  return ({ phase, activePods, elapsedMs, refusal }) => {
    if (refusal !== undefined) logWait(`the service has not deleted it yet, trying again: ${refusal}`, elapsedMs);
    if (phase !== "draining") return;
    const workers = activePods === 1 ? "1 worker" : `${activePods} workers`;
    logWait(`waiting for ${workers} to stop before deleting the endpoint`, elapsedMs);
    logChange(endpointName, why.look(elapsedMs));
  };
}

/** Returns a function that logs a wait, with at most one line every ten seconds. */
export function waitLogger(name: string): (text: string, elapsedMs: number) => void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (text, elapsedMs) => {
    if (elapsedMs - loggedAtMs < LINE_EVERY_MS) return;
    loggedAtMs = elapsedMs;
    log(name, `${text} (${Math.round(elapsedMs / 1000)} s)`);
  };
}

/**
 * Returns a function that logs the waits for RunPod's rate limit, with at most one line per minute.
 */
export function rateLimitLogger(now: () => number = () => performance.now()): (event: RateLimitEvent) => void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (event) => {
    if (now() - loggedAtMs < RATE_LIMIT_LINE_EVERY_MS) return;
    loggedAtMs = now();
    console.log(redact(`serverless-gpu: ${waitText(event)}`));
  };
}

/** The errors of waits that took too long. Other errors already state their reason. */
const TOO_LATE: readonly ErrorCode[] = ["DELETE_TIMEOUT", "RECYCLE_TIMEOUT"];

/** A deletion reads `drainTimeout` from the state, not from the program. */
const MORE_TIME = ". To allow more time, set a longer drainTimeout and run pulumi up before you delete it";

/**
 * Adds the explanation to the error of a wait that took too long. Ends the explained wait in any
 * case.
 */
export async function withLastWords<T>(wait: Promise<T>, why: ExplainedWait): Promise<T> {
  try {
    return await wait;
  } catch (error) {
    if (!(error instanceof ServerlessGpuError) || !TOO_LATE.includes(error.code)) throw error;
    throw error.withDetails(`${error.code === "DELETE_TIMEOUT" ? MORE_TIME : ""}${why.lastWords()}`);
  } finally {
    why.end();
  }
}
