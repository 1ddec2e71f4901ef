import type { JobRequest } from "../jobs/jobStates";
import { echoModel } from "../openai/echoModel";
import { isOpenAiInput } from "../openai/openAiJob";
import type { WorkerProgram } from "../programs/program";
import { type HttpHandler, httpEcho, isHttpHandler } from "./httpHandler";

/** The handler's copy of a job. */
export interface HandlerJob extends JobRequest {
  /** Job identifier. */
  readonly id: string;
}

/**
 * The functions that a handler can use. Time follows the emulator's clock, so hours can pass in an
 * instant.
 */
export interface HandlerContext {
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  /**
   * Resolves after `ms` milliseconds. Rejects if the job has ended because it was cancelled, timed
   * out, or its worker stopped.
   */
  sleep(ms: number): Promise<void>;
  /** Returns a number in [0, 1). The sequence depends on the emulator's `randomSeed`. */
  random(): number;
  /** Writes a line to the worker's log. */
  log(line: string): void;
  /** Sets the output that `/status` shows while the job is in progress. */
  progress(output: unknown): void;
  /** Kills the worker. The job is queued again the first time, and fails the second time. */
  crash(): never;
  /** Ends the job as `TIMED_OUT`. */
  timeOut(): never;
  /** The worker's image, from its template as of the worker's start. */
  readonly imageName: string;
  /**
   * The environment variables of the worker's template as of the worker's start, plus
   * `RUNPOD_DC_ID` (its data center) and, if it mounts one, `RUNPOD_VOLUME_ID` (its network
   * volume).
   */
  readonly env: Readonly<Record<string, string>>;
  /** A signal that aborts when the job ends. */
  readonly signal: AbortSignal;
}

/**
 * Runs a job. The job's output (JSON) is the return value, or what the returned promise resolves
 * to. A generator streams: each value that it yields becomes an item of `/stream` (`{ output,
 * metrics }` is used as the item itself), and the job's output is the generator's return value or,
 * if it returns nothing, the list of its items. If the handler throws, the job fails with the
 * message as its `error`. A promise that never settles ends with the job's execution timeout.
 */
export type Handler = (job: HandlerJob, context: HandlerContext) => unknown;

/**
 * Handlers or worker programs by endpoint name, template id or endpoint id. The name takes
 * precedence. `default` applies to all other endpoints. A load-balancing endpoint takes an object
 * with the method `fetch`, or a program that runs an HTTP server.
 */
export type Handlers = Readonly<Record<string, Handler | HttpHandler | WorkerProgram>>;

/** The endpoint fields that determine its handler. */
type Named = { readonly name: string; readonly templateId: string; readonly id: string };

/**
 * The handler for endpoints without one. For requests to `/openai/*`, it acts as a model that
 * repeats the last message.
 */
export const echo: Handler = ({ id, input }, { now }) => {
  if (!isOpenAiInput(input)) return input;
  return echoModel(input, { jobId: id, created: Math.floor(now() / 1000) });
};

/** Returns an endpoint's handler. Called for each job, because an endpoint can be renamed. */
export function handlerFor(handlers: Handlers | undefined, endpoint: Named): Handler {
  const found = find(handlers, endpoint);
  return typeof found === "function" ? found : echo;
}

/**
 * Returns the program that an endpoint's workers run; `undefined` if a function handles its jobs.
 */
export function programFor(handlers: Handlers | undefined, endpoint: Named): WorkerProgram | undefined {
  const found = find(handlers, endpoint);
  return typeof found === "object" && !isHttpHandler(found) ? found : undefined;
}

/** Returns the HTTP handler of a load-balancing endpoint. Called for each request. */
export function httpHandlerFor(handlers: Handlers | undefined, endpoint: Named): HttpHandler {
  const found = find(handlers, endpoint);
  return isHttpHandler(found) ? found : httpEcho;
}

function find(handlers: Handlers = {}, { name, templateId, id }: Named): Handlers[string] | undefined {
  const key = [name, templateId, id].find((key) => Object.hasOwn(handlers, key));
  return handlers[key ?? "default"];
}
