import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Clock } from "../contract/clock";
import { RequestTimeoutError, ServerlessGpuError } from "../errors";
import { type AttemptTimer, startAttemptTimer } from "./attemptTimer";
import { chunksOf } from "./bodyChunks";
import { clientClosed, failureOf } from "./connectionErrors";
import { codingsOf, decoded, decodedWhole } from "./contentCoding";
import { type BegunResponse, type CompleteResponse, receiveBegun, receiveStream, receiveWhole } from "./exchange";
import type { Http, HttpRequest, HttpResponse } from "./httpRequest";
import { errorFromStatus } from "./responseErrors";
import type { ReceivedResponse } from "./responseInfo";

/** A gateway in front of the service rejects user agents that look like a library. */
const USER_AGENT = "serverless-gpu/1";

/**
 * Sends one request and reads the whole response, with any status. Throws a typed error if it is
 * not complete.
 */
export function send(http: Http, httpRequest: HttpRequest): Promise<HttpResponse> {
  return observed(http, httpRequest, readWhole(http, httpRequest));
}

/**
 * Sends one request and streams the body of the response, until the client closes or no data
 * arrives for `idleMs`.
 * @throws the typed error of a response with an error status
 */
export async function sendForBody(
  http: Http,
  httpRequest: HttpRequest,
  idleMs: number,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await observed(http, httpRequest, readBeginning(http, httpRequest));
  if (!("stream" in response)) throw errorFromStatus(response, httpRequest.operation, http.clock.now());
  return chunksIn(http, httpRequest, response.stream, idleMs);
}

/** A response whose body is streamed. */
export interface StreamedResponse extends ReceivedResponse {
  readonly chunks: AsyncIterableIterator<Uint8Array>;
}

/**
 * Sends one request and streams the body of the response, with any status, until the client closes
 * or no data arrives for `idleMs`.
 */
export async function sendForResponse(http: Http, given: HttpRequest, idleMs: number): Promise<StreamedResponse> {
  const { signal } = given.attempt;
  let isReceived = false;
  const goesOn = () => {
    const end = given.attempt.goesOn?.();
    return () => {
      end?.();
      isReceived = true;
      http.bodies.delete(signal);
    };
  };
  const httpRequest = { ...given, attempt: { ...given.attempt, goesOn } };
  const { status, headers, stream } = await observed(http, httpRequest, readHead(http, httpRequest));
  const chunks = chunksIn(http, httpRequest, stream, idleMs);
  // The whole body has arrived, so closing the client need not end it.
  if (isReceived) http.bodies.delete(signal);
  return { status, headers, chunks };
}

/** Returns the chunks of a body, which ends when the client closes. */
function chunksIn(
  http: Http,
  httpRequest: HttpRequest,
  stream: Readable,
  idleMs: number,
): AsyncIterableIterator<Uint8Array> {
  const { signal } = httpRequest.attempt;
  http.bodies.add(signal);
  stream.once("close", () => http.bodies.delete(signal));
  // It may have no reader yet.
  stream.on("error", () => {});
  if (http.closedBy) signal.abort(http.closedBy);
  return chunksOf(
    stream,
    () => startIdleTimer(http.clock, httpRequest, idleMs),
    (cause) => failureOf(cause, httpRequest, http.proxyHint),
  );
}

/** Starts a timer that ends the request when no data arrives for `idleMs`. */
function startIdleTimer(clock: Clock, { operation, attempt }: HttpRequest, idleMs: number): AttemptTimer {
  return startAttemptTimer(clock, {
    idleMs,
    timeLeftMs: Number.POSITIVE_INFINITY,
    uploadCounts: true,
    onEnd(waitedMs) {
      const message = `${operation}: no data arrived for ${Math.round(waitedMs / 100) / 10} s`;
      attempt.signal.abort(
        new RequestTimeoutError(`${message}. Set a longer timeoutMs if the response can take that long`),
      );
    },
  });
}

/**
 * Reports the outcome of a request to the observers. Throws the typed error if there is no complete
 * response.
 */
async function observed<T extends ReceivedResponse>(
  http: Http,
  httpRequest: HttpRequest,
  exchanging: Promise<T>,
): Promise<T> {
  const startedAt = http.clock.monotonic();
  httpRequest.attempt.onSend?.();
  try {
    const response = await exchanging;
    report(http, httpRequest, startedAt, { status: response.status });
    httpRequest.attempt.onResponse(response);
    return response;
  } catch (cause) {
    const failure = failureOf(cause, httpRequest, http.proxyHint);
    const error = failure instanceof ServerlessGpuError ? failure.code : "ABORTED";
    report(http, httpRequest, startedAt, { error });
    throw failure;
  }
}

/** @throws CLIENT_CLOSED */
function refuseClosed(http: Http, { operation }: HttpRequest): void {
  // The user's own dispatcher stays open.
  if (http.closedBy) throw clientClosed(operation);
}

async function readWhole(http: Http, httpRequest: HttpRequest): Promise<HttpResponse> {
  refuseClosed(http, httpRequest);
  return textOf(await receiveWhole(http.agent, optionsOf(httpRequest), httpRequest.attempt));
}

async function readBeginning(
  http: Http,
  httpRequest: HttpRequest,
): Promise<HttpResponse | ReturnType<typeof decodedStream>> {
  refuseClosed(http, httpRequest);
  const response = await receiveStream(http.agent, optionsOf(httpRequest), httpRequest.attempt);
  return isComplete(response) ? textOf(response) : decodedStream(response);
}

async function readHead(http: Http, httpRequest: HttpRequest) {
  refuseClosed(http, httpRequest);
  return decodedStream(await receiveBegun(http.agent, optionsOf(httpRequest), httpRequest.attempt));
}

/** @throws UnknownCoding */
function decodedStream({ status, headers, body }: BegunResponse) {
  try {
    return { status, headers, stream: decoded(body, codingsOf(headers["content-encoding"])) };
  } catch (error) {
    body.destroy();
    throw error;
  }
}

function isComplete(response: CompleteResponse | BegunResponse): response is CompleteResponse {
  return Buffer.isBuffer(response.body);
}

async function textOf({ status, headers, body }: CompleteResponse): Promise<HttpResponse> {
  const codings = codingsOf(headers["content-encoding"]);
  const plain = codings.length === 0 ? body : await decodedBody(status, body, codings);
  const text = plain.toString();
  // A byte order mark is not part of JSON.
  return { status, headers, body: text.startsWith("\uFEFF") ? text.slice(1) : text };
}

function optionsOf({ url, method, headers, body, attempt }: HttpRequest): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  const allHeaders = {
    accept: "application/json",
    "user-agent": USER_AGENT,
    ...inLowerCase(attempt.headers),
    ...headers,
  };
  return { origin, path: pathname + search, method, body, headers: allHeaders };
}

function inLowerCase(headers: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined {
  return headers && Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The status of an error response counts, even if its body is broken. */
async function decodedBody(status: number, body: Buffer, codings: readonly string[]): Promise<Buffer | string> {
  try {
    return await decodedWhole(Readable.from([body]), codings);
  } catch (error) {
    if (status < 300) throw error;
    return "a body that cannot be decompressed";
  }
}

function report(
  http: Http,
  { name, operation, attempt }: HttpRequest,
  startedAt: number,
  outcome: { readonly status: number } | { readonly error: string },
): void {
  const ms = Math.round(http.clock.monotonic() - startedAt);
  http.report?.({ operation: name, description: operation, attempt: attempt.number, ...outcome, ms });
}
