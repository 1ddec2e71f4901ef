import { readdirSync } from "node:fs";
import path from "node:path";
import { systemReason } from "../io/systemReason";
import type { JobRequest } from "../jobs/jobStates";

/** A job as a handler gets it: a copy of its own. */
export interface HandlerJob extends JobRequest {
  /** Job identifier. */
  readonly id: string;
}

/** What a handler can do besides returning. Its time is the emulator's, so that a handler can take hours in no time. */
export interface HandlerContext {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds. Rejects when the job is over: cancelled, out of time, or its worker gone. */
  sleep(ms: number): Promise<void>;
  /** A number in [0, 1) from the emulator's seed. */
  random(): number;
  /** Shows `output` in `/status` while the job is in progress. */
  progress(output: unknown): void;
  /** The worker dies: the job goes back to the queue once, then it fails. */
  crash(): never;
  /** The job becomes TIMED_OUT. */
  timeOut(): never;
  /** Aborts when the job is over. */
  readonly signal: AbortSignal;
}

/**
 * What a worker does with a job. The value that it returns, or resolves to, is the job's output (JSON). A generator streams: each
 * value that it yields is one item of `/stream` (`{ output, metrics }` is taken as the item itself), and the job's output
 * is what it returns, or else the list of what it yielded. To throw is to fail; the message is the job's `error`. A
 * promise that never settles runs into the job's execution timeout.
 */
export type Handler = (job: HandlerJob, context: HandlerContext) => unknown;

/** Handlers by the name or the template id of an endpoint; the name wins. `default` is for all others. */
export type Handlers = Readonly<Record<string, Handler>>;

/** What an endpoint without a handler of its own does. */
export const echo: Handler = (job) => job.input;

/** The handler of an endpoint, looked up anew for each job, so that a renamed endpoint gets the right one. */
export function handlerFor(
  handlers: Handlers = {},
  endpoint: { readonly name: string; readonly templateId: string },
): Handler {
  for (const key of [endpoint.name, endpoint.templateId])
    if (Object.hasOwn(handlers, key)) return handlers[key] ?? echo;
  return handlers.default ?? echo;
}

const MODULE = /\.c?js$/;

/**
 * Loads `<name>.js` and `<name>.cjs` of a folder: each exports its handler (`module.exports = …`, or as `default` or
 * `handler`). Throws when the folder cannot be read, or when a file exports no function.
 */
export function loadHandlers(folder: string): Handlers {
  const files = filesOf(folder).filter((file) => MODULE.test(file));
  return Object.fromEntries(files.map((file) => [file.replace(MODULE, ""), loadHandler(path.resolve(folder, file))]));
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (cause) {
    throw new Error(`the handlers' folder ${folder} cannot be read: ${systemReason(cause)}`, { cause });
  }
}

function loadHandler(file: string): Handler {
  const exported = load(file);
  const candidates = [exported, property(exported, "default"), property(exported, "handler")];
  const handler = candidates.find((candidate) => typeof candidate === "function");
  if (handler) return handler as Handler;
  throw new Error(`${file} exports no handler. Export a function: module.exports = async (job) => ({ ok: true });`);
}

function load(file: string): unknown {
  try {
    return require(file);
  } catch (cause) {
    throw new Error(`the handler ${file} cannot be loaded: ${cause}`, { cause });
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
