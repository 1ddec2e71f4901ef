import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Clock } from "../contract/clock";
import {
  AuthenticationError,
  CannotConnectError,
  ClientClosedError,
  ConnectionError,
  NotFoundError,
  ProxyAuthenticationError,
  RateLimitError,
  RejectedError,
  RequestTimeoutError,
  ServerlessGpuError,
  ServiceFaultError,
  UnexpectedResponseError,
  UnreadableResponseError,
  UntrustedCertificateError,
} from "../errors";
import { redactBeginning } from "../secret";
import { type AttemptTimer, startAttemptTimer } from "./attemptTimer";
import { chunksOf } from "./bodyChunks";
import { codingsOf, decoded, decodedWhole, UnknownCoding } from "./contentCoding";
import { BrokenExchange, type CompleteResponse, exchange, TooLarge } from "./exchange";
import type { ReportRequest } from "./observers";
import { PROXY_STATUS, proxyHint } from "./proxy";
import type { Attempt, AttemptSignal } from "./retryingCall";

/** A gateway in front of the service rejects user agents that look like a library. */
const USER_AGENT = "serverless-gpu/1";

const EXCERPT_LENGTH = 200;

/** The connections and observers of one client. */
export interface Http {
  readonly agent: Dispatcher;
  readonly clock: Clock;
  readonly report: ReportRequest;
  /** The signals of the bodies that are being streamed. */
  readonly bodies: Set<AttemptSignal>;
  /** Why bodies that begin from now on are ended at once. */
  closedBy?: ClientClosedError;
}

/** One HTTP request. */
export interface HttpRequest {
  /** The operation's name in events: `run`, `saveEndpoint`. */
  readonly name: string;
  /** Names it in errors: `saveEndpoint of "llama"`. */
  readonly operation: string;
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly attempt: Attempt;
}

/** A complete response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly body: string;
}

/** Sends one request and reads the whole response, with any status. Throws a typed error if it is not complete. */
export function send(http: Http, httpRequest: HttpRequest): Promise<HttpResponse> {
  return observed(http, httpRequest, readWhole(http.agent, httpRequest));
}

/**
 * Sends one request and streams the body of the response, until the client closes or no data arrives for `idleMs`.
 * @throws the typed error of a response with an error status
 */
export async function sendForBody(
  http: Http,
  httpRequest: HttpRequest,
  idleMs: number,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await observed(http, httpRequest, readBeginning(http.agent, httpRequest));
  if (!("stream" in response)) throw errorFromStatus(response, httpRequest.operation, http.clock.now());
  const { signal } = httpRequest.attempt;
  http.bodies.add(signal);
  response.stream.once("close", () => http.bodies.delete(signal));
  // It may have no reader yet.
  response.stream.on("error", () => {});
  if (http.closedBy) signal.abort(http.closedBy);
  return chunksOf(
    response.stream,
    () => startIdleTimer(http.clock, httpRequest, idleMs),
    (cause) => failureOf(cause, httpRequest),
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

/** Reports the outcome of a request to the observers. Throws the typed error if there is no complete response. */
async function observed<T extends Pick<HttpResponse, "status" | "headers">>(
  http: Http,
  httpRequest: HttpRequest,
  exchanging: Promise<T>,
): Promise<T> {
  const startedAt = http.clock.monotonic();
  try {
    const response = await exchanging;
    report(http, httpRequest, startedAt, { status: response.status });
    const { status, headers } = response;
    httpRequest.attempt.onResponse?.({ status, headers });
    return response;
  } catch (cause) {
    const failure = failureOf(cause, httpRequest);
    const error = failure instanceof ServerlessGpuError ? failure.code : "ABORTED";
    report(http, httpRequest, startedAt, { error });
    throw failure;
  }
}

async function readWhole(agent: Dispatcher, httpRequest: HttpRequest): Promise<HttpResponse> {
  return textOf((await exchange(agent, optionsOf(httpRequest), httpRequest.attempt, false)) as CompleteResponse);
}

async function readBeginning(
  agent: Dispatcher,
  httpRequest: HttpRequest,
): Promise<HttpResponse | (Omit<HttpResponse, "body"> & { readonly stream: Readable })> {
  const response = await exchange(agent, optionsOf(httpRequest), httpRequest.attempt, true);
  if (Buffer.isBuffer(response.body)) return textOf(response as CompleteResponse);
  try {
    const stream = decoded(response.body, codingsOf(response.headers["content-encoding"]));
    return { status: response.status, headers: response.headers, stream };
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}

async function textOf({ status, headers, body }: CompleteResponse): Promise<HttpResponse> {
  const codings = codingsOf(headers["content-encoding"]);
  const plain = codings.length === 0 ? body : await decodedBody(status, body, codings);
  const text = plain.toString();
  // A byte order mark is no part of JSON.
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

function originOf({ url }: HttpRequest): string {
  return new URL(url).origin;
}

/** The status of a refusal counts, whatever became of its body. */
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

/** Returns the error of a request without a complete response: the reason of its abort, or a typed error. */
function failureOf(failure: unknown, httpRequest: HttpRequest): unknown {
  const { operation, attempt } = httpRequest;
  const { cause, sent } = failure instanceof BrokenExchange ? failure : { cause: failure, sent: true };
  if (attempt.signal.aborted) return sent ? attempt.signal.reason : endedBeforeSent(httpRequest);
  if (!sent) return notSent(cause, httpRequest);
  if (cause instanceof TooLarge) {
    return new UnexpectedResponseError(`${operation}: ${cause.message}, and was not read. Request less data`, {
      cause,
    });
  }
  const code = codeOf(cause);
  if (cause instanceof UnknownCoding || /^(Z_|ERR__|ERR_BROTLI)/.test(code)) {
    const why = cause instanceof Error ? cause.message : code;
    return new UnreadableResponseError(
      `${operation}: the service's response cannot be decompressed (${why}). A proxy or gateway may have changed it`,
      { cause },
    );
  }
  const message = `${operation}: the connection to ${originOf(httpRequest)} broke before the response was complete`;
  return new ConnectionError(`${message}. Check the network and the URL if this continues`, { cause });
}

/** Returns the error of a request that was aborted before it was sent. A timeout then had no effect at the service. */
function endedBeforeSent(httpRequest: HttpRequest): unknown {
  const cause = httpRequest.attempt.signal.reason;
  if (!(cause instanceof RequestTimeoutError)) return cause;
  const host = originOf(httpRequest);
  const message = `${httpRequest.operation}: there was no connection to ${host} in time, so nothing was sent`;
  return new CannotConnectError(`${message}. Check the network and the URL${proxyHint(host)}`, { cause });
}

function notSent(cause: unknown, httpRequest: HttpRequest): ServerlessGpuError {
  const { operation } = httpRequest;
  const host = originOf(httpRequest);
  const code = codeOf(cause);
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") {
    return new ClientClosedError(`${operation}: the client was closed. Create a new one with createClient`, { cause });
  }
  const hint = proxyHint(host);
  if (UNTRUSTED.includes(code)) {
    return new UntrustedCertificateError(`${operation}: ${untrustedCertificate(host)}${hint}`, { cause });
  }
  if (code.startsWith(PROXY_STATUS)) {
    const status = code.slice(PROXY_STATUS.length);
    const message = `${operation}: the proxy refused a tunnel to ${host} with the status ${status}${hint}`;
    const ProxyError = status === "407" ? ProxyAuthenticationError : CannotConnectError;
    return new ProxyError(status === "407" ? `${message}. Check user and password in its URL` : message, { cause });
  }
  const problem = CONNECT_PROBLEMS[code] ?? noConnection;
  return new CannotConnectError(`${operation}: ${problem(host)}${hint}`, { cause });
}

/** Returns the code of an error. Under Jest, Node's own errors are from another realm and no `instanceof Error`. */
function codeOf(cause: unknown): string {
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
}

const noConnection = (host: string) => `no connection to ${host} could be made. Check the network and the URL`;
const unknownHost = (host: string) => `the host name of ${host} was not found. Check the URL`;
const unreachableHost = (host: string) => `${host} cannot be reached. Check the network and the URL`;
const untrustedCertificate = (host: string) =>
  `the certificate of ${host} is not trusted. Check the URL. If your network or the service has its own certificate ` +
  "authority, set NODE_EXTRA_CA_CERTS to its file";

/** The error codes of a certificate that is not trusted. */
const UNTRUSTED: readonly string[] = [
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

/** The messages for a failed connection, by the error code of Node or undici. */
const CONNECT_PROBLEMS: Readonly<Record<string, (host: string) => string>> = {
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  EHOSTUNREACH: unreachableHost,
  ENETUNREACH: unreachableHost,
  ECONNREFUSED: (host) => `nothing is listening at ${host}. Check the URL, or start the emulator if you use it`,
  ERR_SSL_WRONG_VERSION_NUMBER: (host) =>
    `${host} does not speak TLS. If it is a plain HTTP server, its URL must begin with http://`,
  UND_ERR_CONNECT_TIMEOUT: (host) => `no connection to ${host} within 10 s. Check the URL`,
};

/** Returns the JSON of a response. Throws the typed error of an error status, or of a body that is not JSON. */
export function decodeJson(response: HttpResponse, operation: string, now: number): unknown {
  const failure = errorFromStatus(response, operation, now);
  if (failure) throw failure;
  try {
    return JSON.parse(response.body);
  } catch (cause) {
    const kind = isHtml(response) ? "an HTML page" : "a body that is not complete JSON";
    throw new UnreadableResponseError(
      `${operation}: the service responded with ${response.status} and ${kind} (${excerpt(response.body)}). ` +
        "A proxy or gateway may have sent it; check the URL if this continues",
      { cause },
    );
  }
}

/** Returns the error of a response that is JSON, but not in the shape of the contract. */
export function unexpectedResponse(operation: string, problem: string, value: unknown): UnexpectedResponseError {
  return new UnexpectedResponseError(
    `${operation}: the service's response has an unexpected shape (${problem}): ${excerpt(jsonText(value))}. ` +
      "Check the URL. If it is correct, the service may have changed: look for a newer version of this package",
  );
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "nothing";
  } catch {
    // `JSON.parse` has no limit of depth.
    return "JSON that is nested too deeply to show";
  }
}

/** Returns the typed error of a response with an error status. Returns `undefined` if the status is 2xx. */
export function errorFromStatus(
  response: HttpResponse,
  operation: string,
  now: number,
): ServerlessGpuError | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const said = isHtml(response) ? "an HTML page, so a gateway may have rejected it" : excerpt(response.body);
  const prefix = `${operation}: the service responded with ${status} (${said})`;
  if (status === 401) return new AuthenticationError(`${prefix}. Check that the API key is right and has permission`);
  if (status === 404) return new NotFoundError(`${prefix}. The requested object does not exist in this account`);
  if (status === 408)
    return new RequestTimeoutError(
      `${prefix}: the service stopped waiting before it had received the whole request. Try again`,
    );
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(response.headers["retry-after"], now);
    return new RateLimitError(`${prefix}: too many requests. Try again later, or send fewer at once`, {
      retryAfterMs,
    });
  }
  if (status >= 500) {
    const retryAfterMs = parseRetryAfter(response.headers["retry-after"], now);
    return new ServiceFaultError(`${prefix}: a fault of the service. Try again later`, { retryAfterMs });
  }
  return new RejectedError(prefix);
}

/** Returns `Retry-After`, in seconds or an HTTP date, as milliseconds from now. Returns `undefined` if it is absent or invalid. */
function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === "") return undefined;
  const seconds = Number(text);
  const delayMs = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000;
  return Number.isFinite(delayMs) && delayMs >= 0 ? delayMs : undefined;
}

function isHtml(response: HttpResponse): boolean {
  return (
    String(response.headers["content-type"] ?? "").includes("text/html") || /^\s*<(!doctype|html)/i.test(response.body)
  );
}

/** Returns the beginning of a body, on one line and without keys. */
function excerpt(body: string): string {
  return redactBeginning(body, EXCERPT_LENGTH) || "no body";
}
