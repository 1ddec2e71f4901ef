import { z } from "zod";
import { RUNSYNC_WAIT_MS } from "../contract/limits";
import { sendForBody } from "../transport/http";
import { pathSegment } from "../transport/urls";
import { type OutputSchema, parseOutput } from "./jobOutput";
import { checkTimeout, toJson } from "./jobRequest";
import { jsonOf, type QueueRequest, type QueueTransport } from "./queueTransport";
import { type SubmitOptions, submit } from "./submit";

/** A request that is passed through to the OpenAI-compatible server of an endpoint's workers. */
export interface OpenAiRequest extends SubmitOptions {
  /** The HTTP method. @default "POST" with a body, "GET" without */
  readonly method?: "GET" | "POST" | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** How long to wait for the response to begin, and each time to go on, in milliseconds. @default 300,000 */
  readonly timeoutMs?: number | undefined;
}

/** A request whose whole answer is read. */
export interface OpenAiOptions<Output> extends OpenAiRequest {
  /** What the answer looks like. Default: `unknown`. */
  readonly schema?: OutputSchema<Output> | undefined;
}

const readJson = jsonOf(z.unknown());

/** The JSON of the answer. */
export async function openai<Output>(
  queue: QueueTransport,
  path: string,
  { schema, ...request }: OpenAiOptions<Output>,
): Promise<Output> {
  const answer = await pass(queue, path, request, readJson);
  return schema ? parseOutput(schema, answer, `the answer of ${path}`) : (answer as Output);
}

/** The bytes of the answer as they come. */
export function openaiStream(
  queue: QueueTransport,
  path: string,
  request: OpenAiRequest,
): Promise<AsyncIterable<Uint8Array>> {
  return pass(queue, path, request, (http, httpRequest) => sendForBody(http, httpRequest, timeoutOf(request)));
}

function timeoutOf({ timeoutMs = RUNSYNC_WAIT_MS.max }: Pick<OpenAiRequest, "timeoutMs">): number {
  return timeoutMs;
}

/** A request without a body only reads; any other may start a generation, which counts as a submit. */
async function pass<T>(
  queue: QueueTransport,
  path: string,
  { body, method = body === undefined ? "GET" : "POST", timeoutMs: given, ...options }: OpenAiRequest,
  exchange: QueueRequest<T>["exchange"],
): Promise<T> {
  checkTimeout(given);
  const timeoutMs = timeoutOf({ timeoutMs: given });
  const target = ["openai", ...path.split("/").map((segment) => pathSegment("path", segment))].join("/");
  const json = body === undefined ? undefined : toJson("body", body);
  const request = { name: "openai", what: `${method} of ${target}`, method, path: target, body: json, exchange };
  const { retry } = queue.context;
  return submit(queue, request, method === "GET" ? { ...options, idempotent: true } : options, {
    attemptTimeoutMs: timeoutMs,
    retry: { ...retry, maxElapsedMs: timeoutMs + retry.maxElapsedMs },
  });
}
