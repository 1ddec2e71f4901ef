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

/** A gateway in front of the service refuses user agents that look like a library's. */
const USER_AGENT = "serverless-gpu/1";

const EXCERPT_LENGTH = 200;

/** The connections of one client, and who is told of its requests. */
export interface Http {
  readonly agent: Dispatcher;
  readonly clock: Clock;
  readonly report: ReportRequest;
  /** What ends the bodies that are being read as they come. */
  readonly bodies: Set<AttemptSignal>;
  /** Why bodies that begin from now on are ended at once. */
  closedBy?: ClientClosedError;
}

/** Where a request goes, taken apart: doing that for every request costs a quarter of its time. */
export interface Address {
  /** `https://api.example.com` */
  readonly origin: string;
  /** With the query. */
  readonly path: string;
}

export function addressOf(url: string): Address {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

/** One HTTP request. */
export interface HttpRequest {
  /** The operation's name in events: `run`, `saveEndpoint`. */
  readonly name: string;
  /** Names it in errors: `saveEndpoint of "llama"`. */
  readonly operation: string;
  readonly method: "GET" | "POST";
  readonly address: Address;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly attempt: Attempt;
}

/** A complete answer. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly body: string;
}

/** Sends one request and reads its whole answer, whatever its status. Throws when no complete answer came. */
export function send(http: Http, httpRequest: HttpRequest): Promise<HttpResponse> {
  return observed(http, httpRequest, readWhole(http.agent, httpRequest));
}

/**
 * Sends one request; its answer's body is handed over as it comes, until the client closes or nothing comes for
 * `idleMs`. Throws the typed error of an answer that is not good.
 */
export async function sendForBody(
  http: Http,
  httpRequest: HttpRequest,
  idleMs: number,
): Promise<AsyncIterable<Uint8Array>> {
  const answer = await observed(http, httpRequest, readBeginning(http.agent, httpRequest));
  if (!("stream" in answer)) throw errorFromStatus(answer, httpRequest.operation, http.clock.now());
  const { signal } = httpRequest.attempt;
  http.bodies.add(signal);
  answer.stream.once("close", () => http.bodies.delete(signal));
  // Nobody may read it yet.
  answer.stream.on("error", () => {});
  if (http.closedBy) signal.abort(http.closedBy);
  return chunksOf(
    answer.stream,
    () => startIdleTimer(http.clock, httpRequest, idleMs),
    (cause) => failureOf(cause, httpRequest),
  );
}

/** Ends the request when nothing comes for `idleMs`. */
function startIdleTimer(clock: Clock, { operation, attempt }: HttpRequest, idleMs: number): AttemptTimer {
  return startAttemptTimer(clock, {
    idleMs,
    timeLeftMs: Number.POSITIVE_INFINITY,
    uploadCounts: true,
    onEnd(waitedMs) {
      const message = `${operation}: nothing came for ${Math.round(waitedMs / 100) / 10} s`;
      attempt.signal.abort(new RequestTimeoutError(`${message}. Give a longer timeoutMs if it may take that long`));
    },
  });
}

/** Tells the observers how a request ended, and throws the typed error of one that got no complete answer. */
async function observed<T extends { readonly status: number }>(
  http: Http,
  httpRequest: HttpRequest,
  answering: Promise<T>,
): Promise<T> {
  const startedAt = http.clock.monotonic();
  try {
    const answer = await answering;
    report(http, httpRequest, startedAt, { status: answer.status });
    return answer;
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
): Promise<HttpResponse | { readonly status: number; readonly stream: Readable }> {
  const response = await exchange(agent, optionsOf(httpRequest), httpRequest.attempt, true);
  if (Buffer.isBuffer(response.body)) return textOf(response as CompleteResponse);
  try {
    const stream = decoded(response.body, codingsOf(response.headers["content-encoding"]));
    return { status: response.status, stream };
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

/** The status of a refusal counts, whatever became of its body. */
async function decodedBody(status: number, body: Buffer, codings: readonly string[]): Promise<Buffer | string> {
  try {
    return await decodedWhole(Readable.from([body]), codings);
  } catch (error) {
    if (status < 300) throw error;
    return "a body that cannot be decompressed";
  }
}

function optionsOf({ address, method, headers, body }: HttpRequest): Dispatcher.DispatchOptions {
  return { ...address, method, body, headers: { accept: "application/json", "user-agent": USER_AGENT, ...headers } };
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

/** The error of a request that got no complete answer: the reason of its end if it was ended, a typed one otherwise. */
function failureOf(failure: unknown, httpRequest: HttpRequest): unknown {
  const { operation, address, attempt } = httpRequest;
  const { cause, sent } = failure instanceof BrokenExchange ? failure : { cause: failure, sent: true };
  if (attempt.signal.aborted) return sent ? attempt.signal.reason : endedBeforeSent(httpRequest);
  if (!sent) return notSent(cause, httpRequest);
  if (cause instanceof TooLarge) {
    return new UnexpectedResponseError(`${operation}: ${cause.message}, and was not read. Ask for less`, { cause });
  }
  const code = codeOf(cause);
  if (cause instanceof UnknownCoding || /^(Z_|ERR__|ERR_BROTLI)/.test(code)) {
    const why = cause instanceof Error ? cause.message : code;
    return new UnreadableResponseError(
      `${operation}: the service's response cannot be decompressed (${why}). A proxy or gateway may stand between`,
      { cause },
    );
  }
  const message = `${operation}: the connection to ${address.origin} broke before the answer was complete`;
  return new ConnectionError(`${message}. Check the network and the address if this goes on`, { cause });
}

/** A request whose time was over before there was a connection had no effect. */
function endedBeforeSent({ operation, address, attempt }: HttpRequest): unknown {
  const cause = attempt.signal.reason;
  if (!(cause instanceof RequestTimeoutError)) return cause;
  const message = `${operation}: there was no connection to ${address.origin} in time, so nothing was sent`;
  return new CannotConnectError(`${message}. Check the network and the address${proxyHint(address.origin)}`, { cause });
}

function notSent(cause: unknown, { operation, address }: HttpRequest): ServerlessGpuError {
  const host = address.origin;
  const code = codeOf(cause);
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") {
    return new ClientClosedError(`${operation}: the client was closed. Make a new one with createClient`, { cause });
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

/** Not `instanceof Error`: under Jest, Node's own errors come from another realm. */
function codeOf(cause: unknown): string {
  return typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
}

const noConnection = (host: string) => `no connection to ${host} could be made. Check the network and the address`;
const unknownHost = (host: string) => `the host of ${host} is not known. Check the address`;
const unreachableHost = (host: string) => `${host} cannot be reached. Check the network and the address`;
const untrustedCertificate = (host: string) =>
  `the certificate of ${host} is not trusted. Check the address; where your network or the service has a certificate ` +
  "authority of its own, name its file in NODE_EXTRA_CA_CERTS";

/** The codes of a certificate that nobody vouches for. */
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

/** What went wrong when there was no connection at all, by the code that Node and undici give it. */
const CONNECT_PROBLEMS: Readonly<Record<string, (host: string) => string>> = {
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  EHOSTUNREACH: unreachableHost,
  ENETUNREACH: unreachableHost,
  ECONNREFUSED: (host) => `nothing answers at ${host}. Check the address, or start the emulator if it is meant`,
  ERR_SSL_WRONG_VERSION_NUMBER: (host) => `${host} does not speak TLS. Check whether its address begins with http://`,
  UND_ERR_CONNECT_TIMEOUT: (host) => `no connection to ${host} within 10 s. Is the address right?`,
};

/** The JSON of a good answer; otherwise the typed error that its status or its body stands for. */
export function decodeJson(response: HttpResponse, operation: string, now: number): unknown {
  const failure = errorFromStatus(response, operation, now);
  if (failure) throw failure;
  try {
    return JSON.parse(response.body);
  } catch (cause) {
    const kind = isHtml(response) ? "an HTML page" : "something that is not complete JSON";
    throw new UnreadableResponseError(
      `${operation}: the service answered ${response.status} with ${kind} (${excerpt(response.body)}). ` +
        "A proxy or gateway may stand between; check the address if this goes on",
      { cause },
    );
  }
}

/** An answer that is JSON of a shape that the contract does not know. */
export function unexpectedResponse(operation: string, problem: string, value: unknown): UnexpectedResponseError {
  return new UnexpectedResponseError(
    `${operation}: the service's answer has an unexpected shape (${problem}): ${excerpt(jsonText(value))}. ` +
      "Check the address; if it is right, the service may have changed: look for a newer version of this package",
  );
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "nothing";
  } catch {
    // Parsing has no such limit.
    return "JSON that is nested too deeply to be shown";
  }
}

function errorFromStatus(response: HttpResponse, operation: string, now: number): ServerlessGpuError | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const said = isHtml(response) ? "an HTML page, so a gateway may have refused it" : excerpt(response.body);
  const answered = `${operation}: the service answered ${status} (${said})`;
  if (status === 401) return new AuthenticationError(`${answered}. Check that the API key is right and has permission`);
  if (status === 404) return new NotFoundError(`${answered}. It does not exist, or not in this account`);
  if (status === 408) return new RequestTimeoutError(`${answered}: it did not wait for all of the request. Try again`);
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(response.headers["retry-after"], now);
    return new RateLimitError(`${answered}: too many requests. Try again later, or send fewer at once`, {
      retryAfterMs,
    });
  }
  if (status >= 500) {
    const retryAfterMs = parseRetryAfter(response.headers["retry-after"], now);
    return new ServiceFaultError(`${answered}: a fault of the service. Try again later`, { retryAfterMs });
  }
  return new RejectedError(answered);
}

/** `Retry-After` in seconds or as an HTTP date, as milliseconds from now; nothing when it is absent or makes no sense. */
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

/** The beginning of a body, on one line and without keys. */
function excerpt(body: string): string {
  return redactBeginning(body, EXCERPT_LENGTH) || "no body";
}
