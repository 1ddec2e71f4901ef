import { z } from "zod";
import { RUNSYNC_WAIT_MS } from "../contract/limits";
import { sendForBody } from "../transport/http";
import type { ObservedOptions } from "../transport/requestOptions";
import { pathSegment } from "../transport/urls";
import { type OutputSchema, parseOutput } from "./jobOutput";
import { checkTimeout, toJson } from "./jobRequest";
import { jsonOf, type QueueRequest, type QueueTransport } from "./queueTransport";
import { type SubmitOptions, submit } from "./submit";

/** A request to the OpenAI-compatible server of an endpoint's workers. */
export interface OpenAiRequest extends SubmitOptions {
  /** The HTTP method. @default "POST" with a body, "GET" without */
  readonly method?: "GET" | "POST" | undefined;
  /** The body, which is sent as JSON. */
  readonly body?: unknown;
  /** The longest time without data from the service, in milliseconds, ≥ 0. @default 300,000 */
  readonly timeoutMs?: number | undefined;
}

/** A request whose whole response is read. */
export interface OpenAiOptions<Output> extends OpenAiRequest {
  /** The schema of the response. @default none: the response is `unknown` */
  readonly schema?: OutputSchema<Output> | undefined;
}

const readJson = jsonOf(z.unknown());

/** Returns the JSON of the response. */
export async function openai<Output>(
  queue: QueueTransport,
  path: string,
  { schema, ...request }: OpenAiOptions<Output> & ObservedOptions,
): Promise<Output> {
  const response = await pass(queue, path, request, readJson);
  return schema ? parseOutput(schema, response, `the response of ${path}`) : (response as Output);
}

/** Streams the bytes of the response. */
export function openaiStream(
  queue: QueueTransport,
  path: string,
  request: OpenAiRequest & ObservedOptions,
): Promise<AsyncIterable<Uint8Array>> {
  return pass(queue, path, request, (http, httpRequest) => sendForBody(http, httpRequest, timeoutOf(request)));
}

function timeoutOf({ timeoutMs = RUNSYNC_WAIT_MS.max }: Pick<OpenAiRequest, "timeoutMs">): number {
  return timeoutMs;
}

/** Sends a request. A GET only reads; any other may start a generation, which counts as a submit. */
async function pass<T>(
  queue: QueueTransport,
  path: string,
  { body, method = body === undefined ? "GET" : "POST", timeoutMs: given, ...options }: OpenAiRequest & ObservedOptions,
  sendAndRead: QueueRequest<T>["sendAndRead"],
): Promise<T> {
  checkTimeout(given);
  const timeoutMs = timeoutOf({ timeoutMs: given });
  const target = ["openai", ...path.split("/").map((segment) => pathSegment("path", segment))].join("/");
  const json = body === undefined ? undefined : toJson("body", body);
  const request = { name: "openai", what: `${method} of ${target}`, method, path: target, body: json, sendAndRead };
  const { retry } = queue.context;
  return submit(queue, request, method === "GET" ? { ...options, idempotent: true } : options, {
    attemptTimeoutMs: timeoutMs,
    retry: { ...retry, maxElapsedMs: timeoutMs + retry.maxElapsedMs },
  });
}
