import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { ServerlessGpuError } from "../errors/errors";
import { chunksOf } from "./bodyChunks";
import { clientClosed, failureOf } from "./connectionErrors";
import { codingsOf, decoded, decodedWhole } from "./contentCoding";
import type { Http, OutgoingRequest, WholeResponse } from "./httpRequest";
import { type BegunResponse, type CompleteResponse, post } from "./post";
import { errorFromStatus } from "./responseErrors";
import type { ReceivedResponse } from "./responseInfo";

/**
 * The user agent. It is set because a gateway in front of the service rejects user agents that look
 * like a library.
 */
const USER_AGENT = "serverless-gpu/1";

/**
 * Sends one request and streams the body of the response until the client is closed or no data
 * arrives for `idleMs`.
 * @throws the typed error of a response with an error status
 */
export async function sendForBody(
  http: Http,
  httpRequest: OutgoingRequest,
  idleMs: number,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await send(http, httpRequest, "success");
  if (!("stream" in response)) throw errorFromStatus(response, httpRequest.operation, http.clock.now());
  return chunksOf(http, httpRequest, response.stream, idleMs);
}

/** A response whose body is streamed. */
export interface StreamedResponse extends ReceivedResponse {
  readonly chunks: AsyncIterableIterator<Uint8Array>;
}

/**
 * Sends one request and streams the body of the response, regardless of its status, until the
 * client is closed or no data arrives for `idleMs`.
 */
export async function sendForResponse(http: Http, given: OutgoingRequest, idleMs: number): Promise<StreamedResponse> {
  const { signal } = given.attempt;
  let isReceived = false;
  const goesOn = () => {
    const end = given.attempt.goesOn?.();
    return () => {
      end?.();
      isReceived = true;
      http.closing.bodies.delete(signal);
    };
  };
  const httpRequest = { ...given, attempt: { ...given.attempt, goesOn } };
  const { status, headers, stream } = await send(http, httpRequest, "all");
  const chunks = chunksOf(http, httpRequest, stream, idleMs);
  // The whole body has arrived, so it does not have to end when the client is closed.
  if (isReceived) http.closing.bodies.delete(signal);
  return { status, headers, chunks };
}

/** Determines by status which responses have their bodies streamed. */
const STREAMED = { none: () => false, success: (status: number) => status < 300, all: () => true };

/** A response whose body is decoded but has not been read yet. */
interface OpenResponse extends ReceivedResponse {
  readonly stream: Readable;
}

/**
 * Sends one request, and reports its outcome to the observers. Returns the whole response,
 * regardless of its status, or the response as soon as it begins if its body is to be streamed.
 * Turns a failure into a typed error, in which keys are redacted.
 */
export function send(http: Http, httpRequest: OutgoingRequest): Promise<WholeResponse>;
export function send(http: Http, httpRequest: OutgoingRequest, streamed: "all"): Promise<OpenResponse>;
export function send(
  http: Http,
  httpRequest: OutgoingRequest,
  streamed: "success",
): Promise<WholeResponse | OpenResponse>;
export async function send(
  http: Http,
  httpRequest: OutgoingRequest,
  streamed: keyof typeof STREAMED = "none",
): Promise<WholeResponse | OpenResponse> {
  const { name, operation, attempt } = httpRequest;
  const startedAt = http.clock.monotonic();
  const report = (outcome: { readonly status: number } | { readonly error: string }) => {
    const ms = Math.round(http.clock.monotonic() - startedAt);
    http.report?.({ operation: name, description: operation, attempt: attempt.number, ...outcome, ms });
  };
  attempt.onSend?.();
  try {
    // The client must check this itself, because closing the client does not close a dispatcher
    // that the user passed.
    if (http.closing.closedBy) throw clientClosed(operation);
    const begun = await post(http.agent, optionsOf(http, httpRequest), attempt, STREAMED[streamed]);
    const response = isComplete(begun) ? await textOf(begun) : openBody(begun);
    report({ status: response.status });
    attempt.onResponse(response);
    return response;
  } catch (cause) {
    const failure = failureOf(cause, httpRequest, http.proxyHint);
    report({ error: failure instanceof ServerlessGpuError ? failure.code : "ABORTED" });
    throw failure;
  }
}

function optionsOf({ headers: ofClient }: Http, request: OutgoingRequest): Dispatcher.DispatchOptions {
  const { url, method, headers, body, attempt } = request;
  const { origin, pathname, search } = new URL(url);
  const allHeaders = {
    accept: "application/json",
    "user-agent": USER_AGENT,
    ...inLowerCase(ofClient),
    ...inLowerCase(attempt.headers),
    ...headers,
  };
  return { origin, path: pathname + search, method, body, headers: allHeaders };
}

function inLowerCase(headers: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined {
  return headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function isComplete(response: CompleteResponse | BegunResponse): response is CompleteResponse {
  return Buffer.isBuffer(response.body);
}

/** @throws UnknownCoding */
function openBody({ status, headers, body }: BegunResponse): OpenResponse {
  try {
    return { status, headers, stream: decoded(body, codingsOf(headers["content-encoding"])) };
  } catch (error) {
    body.destroy();
    throw error;
  }
}

async function textOf({ status, headers, body }: CompleteResponse): Promise<WholeResponse> {
  const codings = codingsOf(headers["content-encoding"]);
  const plain = codings.length === 0 ? body : await decodedBody(status, body, codings);
  const text = plain.toString();
  // A byte order mark is not part of JSON.
  return { status, headers, body: text.startsWith("\uFEFF") ? text.slice(1) : text };
}

/**
 * Returns the decoded body. If the body of an error response cannot be decoded, only the status of
 * the response is used.
 */
async function decodedBody(status: number, body: Buffer, codings: readonly string[]): Promise<Buffer | string> {
  try {
    return await decodedWhole(Readable.from([body]), codings);
  } catch (error) {
    if (status < 300) throw error;
    return "a body that cannot be decompressed";
  }
}
