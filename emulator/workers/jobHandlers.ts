import type { JobRequest } from "../jobs/jobStates";
import { echoModel } from "../openai/echoModel";
import { isOpenAiInput } from "../openai/openAiJob";
import type { WorkerProgram } from "../programs/program";
import { type HttpHandler, httpEcho, isHttpHandler } from "./httpHandler";

/** A copy of the job, for the handler. */
export interface HandlerJob extends JobRequest {
  /** Job identifier. */
  readonly id: string;
}

/**
 * The functions that a handler can use. Time follows the emulator's clock, so hours can pass at
 * once.
 */
export interface HandlerContext {
  /** Returns the time in milliseconds since the epoch. */
  now(): number;
  /**
   * Resolves after `ms` milliseconds. Rejects if the job has ended: cancelled, timed out, or its
   * worker stopped.
   */
  sleep(ms: number): Promise<void>;
  /** Returns a number in [0, 1) that follows from the emulator's `randomSeed`. */
  random(): number;
  /** Writes a line to the worker's log. */
  log(line: string): void;
  /** Shows `output` in `/status` while the job is in progress. */
  progress(output: unknown): void;
  /** Kills the worker. The job is queued again once; the second time it fails. */
  crash(): never;
  /** Ends the job as `TIMED_OUT`. */
  timeOut(): never;
  /** The image of the worker, from its template as it was when the worker started. */
  readonly imageName: string;
  /**
   * The environment variables of the worker's template, as they were when the worker started, and
   * `RUNPOD_DC_ID`, its data center, and `RUNPOD_VOLUME_ID`, its network volume if it has one.
   */
  readonly env: Readonly<Record<string, string>>;
  /** A signal that aborts when the job ends. */
  readonly signal: AbortSignal;
}

/**
 * Runs a job. The return value, or the value of the returned promise, is the job's output (JSON). A
 * generator streams: each value that it yields is one item of `/stream` (`{ output, metrics }` is
 * used as the item itself), and the job's output is its return value or, without one, the list of
 * its items. A handler that throws fails the job, with the message as its `error`. A promise that
 * never settles ends with the job's execution timeout.
 */
export type Handler = (job: HandlerJob, context: HandlerContext) => unknown;

/**
 * Handlers, or worker programs, by an endpoint's name, template id or id; the name takes
 * precedence. `default` is for all other endpoints. A load-balancing endpoint takes an object with
 * the method `fetch`, or a program that is an HTTP server.
 */
export type Handlers = Readonly<Record<string, Handler | HttpHandler | WorkerProgram>>;

/** The fields of an endpoint that choose its handler. */
type Named = { readonly name: string; readonly templateId: string; readonly id: string };

/**
 * The handler for endpoints that have none. For requests to `/openai/*` it is a model that repeats
 * the last message.
 */
export const echo: Handler = ({ id, input }, { now }) => {
  if (!isOpenAiInput(input)) return input;
  return echoModel(input, { jobId: id, created: Math.floor(now() / 1000) });
};

/**
 * Returns the handler of an endpoint. It is called for each job, because an endpoint can be
 * renamed.
 */
export function handlerFor(handlers: Handlers | undefined, endpoint: Named): Handler {
  const found = find(handlers, endpoint);
  return typeof found === "function" ? found : echo;
}

/** Returns the program of an endpoint's workers, or `undefined` if a function handles its jobs. */
export function programFor(handlers: Handlers | undefined, endpoint: Named): WorkerProgram | undefined {
  const found = find(handlers, endpoint);
  return typeof found === "object" && !isHttpHandler(found) ? found : undefined;
}

/** Returns the HTTP handler of a load-balancing endpoint. It is called for each request. */
export function httpHandlerFor(handlers: Handlers | undefined, endpoint: Named): HttpHandler {
  const found = find(handlers, endpoint);
  return isHttpHandler(found) ? found : httpEcho;
}

function find(handlers: Handlers = {}, { name, templateId, id }: Named): Handlers[string] | undefined {
  const key = [name, templateId, id].find((key) => Object.hasOwn(handlers, key));
  return handlers[key ?? "default"];
}
