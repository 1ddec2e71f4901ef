import * as z from "zod";
import { RUNSYNC_WAIT_MS } from "../contract/limits";
import { InvalidInputError } from "../errors/errors";
import { type OutputSchema, parseOutput } from "../jobs/jobOutput";
import { toJson } from "../jobs/jobRequest";
import { jsonReader, type QueueCall, type QueueTransport } from "../jobs/queueTransport";
import { SUBMIT_OPTIONS, type SubmitOptions, submit } from "../jobs/submit";
import { anyValue, aSchema, msFrom, type OptionChecks, oneOfWords } from "../transport/callOptions";
import type { ObservedOptions } from "../transport/requestOptions";
import { sendForBody } from "../transport/send";
import { isPathSegment } from "../transport/urls";
import { openAiEvents, throwIfErrorResponse } from "./openAiEvents";

/** A request to the OpenAI-compatible server of an endpoint's workers. */
export interface OpenAiRequest extends SubmitOptions {
  /** The HTTP method. @default "POST" with a body, "GET" without */
  readonly method?: "GET" | "POST" | undefined;
  /** The request body, which is sent as JSON. */
  readonly body?: unknown;
  /**
   * How long the request may go without data from RunPod, in milliseconds, ≥ 0. @default 300,000
   */
  readonly timeoutMs?: number | undefined;
}

/** A request and the schema of its response. */
export interface OpenAiOptions<Output> extends OpenAiRequest {
  /**
   * The schema of the response, or of each event in a stream. @default none: the type is `unknown`
   */
  readonly schema?: OutputSchema<Output> | undefined;
}

export const OPENAI_OPTIONS: OptionChecks<OpenAiOptions<unknown>> = {
  ...SUBMIT_OPTIONS,
  timeoutMs: msFrom(0),
  method: oneOfWords("GET", "POST"),
  body: anyValue,
  schema: aSchema,
};

const readJson = jsonReader(z.unknown());

/** Returns the response's JSON. */
export async function callOpenAi<Output>(
  queue: QueueTransport,
  path: string,
  { schema, ...request }: OpenAiOptions<Output> & ObservedOptions,
): Promise<Output> {
  checkStreaming(request.body, false);
  const response = await pass(queue, path, request, readJson);
  throwIfErrorResponse(response, `the request to ${path}`);
  return schema ? parseOutput(schema, response, { what: `the response of ${path}` }) : (response as Output);
}

/** Streams the response's events. */
export async function openaiStream<Event>(
  queue: QueueTransport,
  path: string,
  { schema, body, ...request }: OpenAiOptions<Event> & ObservedOptions,
): Promise<AsyncIterableIterator<Event, void, undefined>> {
  checkStreaming(body, true);
  const isObject = typeof body === "object" && body !== null && !Array.isArray(body);
  const streaming = isObject ? { stream: true, ...body } : body;
  return pass(queue, path, { ...request, body: streaming }, async (http, httpRequest) => {
    const chunks = await sendForBody(http, httpRequest, timeoutOf(request));
    return openAiEvents(chunks, httpRequest.operation, schema);
  });
}

function timeoutOf({ timeoutMs = RUNSYNC_WAIT_MS.max }: Pick<OpenAiRequest, "timeoutMs">): number {
  return timeoutMs;
}

/** @throws InvalidInputError */
function checkedPath(path: unknown): string {
  if (typeof path === "string" && path.split("/").every(isPathSegment)) return path;
  const message = 'must be a path such as "v1/chat/completions", without a leading slash or a query';
  throw new InvalidInputError("the request", [{ property: "path", message }]);
}

/**
 * Checks that the body requests the kind of response that the call reads: a stream or a whole
 * response.
 * @throws InvalidInputError
 */
function checkStreaming(body: unknown, streams: boolean): void {
  if (typeof body !== "object" || body === null || !("stream" in body)) return;
  if (typeof body.stream !== "boolean" || body.stream === streams) return;
  const message = streams ? "must not be false: use openai" : "must not be true: use openaiStream";
  throw new InvalidInputError("the request", [{ property: "body.stream", message }]);
}

/**
 * Sends a request. A GET only reads, but any other method may start a generation and is therefore
 * treated as a submit.
 */
async function pass<T>(
  queue: QueueTransport,
  path: string,
  { body, method = body === undefined ? "GET" : "POST", timeoutMs: given, ...options }: OpenAiRequest & ObservedOptions,
  sendAndRead: QueueCall<T>["sendAndRead"],
): Promise<T> {
  const timeoutMs = timeoutOf({ timeoutMs: given });
  const target = `openai/${checkedPath(path)}`;
  const json = body === undefined ? undefined : toJson("body", body);
  const request = { name: "openai", what: `${method} of ${target}`, method, path: target, body: json, sendAndRead };
  const { retry } = queue.context;
  return submit(queue, request, method === "GET" ? { ...options, idempotent: true } : options, {
    attemptTimeoutMs: timeoutMs,
    retry: { ...retry, maxElapsedMs: timeoutMs + retry.maxElapsedMs },
  });
}
