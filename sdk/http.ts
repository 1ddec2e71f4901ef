import { Agent, type Dispatcher } from "undici";
import type { Attempt } from "./call";
import type { Clock } from "./clock";
import {
  AuthenticationError,
  CannotConnectError,
  ClientClosedError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  RejectedError,
  ServerlessGpuError,
  ServiceFaultError,
  UnexpectedResponseError,
  UnreadableResponseError,
} from "./errors";
import type { ReportRequest } from "./events";
import { redact } from "./secret";

/** A gateway in front of the service refuses user agents that look like a library's. */
const USER_AGENT = "serverless-gpu/1";

const EXCERPT_LENGTH = 200;

/** The connections of one client, and who is told of its requests. */
export interface Http {
  readonly agent: Dispatcher;
  readonly clock: Clock;
  readonly report: ReportRequest;
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

/** The connections of one client. undici's own timeouts are off: each attempt ends by its signal. */
export function createAgent(): Agent {
  return new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } });
}

/** Sends one request and reads its whole answer, whatever its status. Throws when no complete answer came. */
export function send(http: Http, httpRequest: HttpRequest): Promise<HttpResponse> {
  return observed(http, httpRequest, readWhole(http.agent, httpRequest));
}

/** Sends one request; its answer's body is handed over as it comes. Throws the typed error of an answer that is not good. */
export async function sendForBody(http: Http, httpRequest: HttpRequest): Promise<AsyncIterable<Uint8Array>> {
  const answer = await observed(http, httpRequest, readBeginning(http.agent, httpRequest));
  if ("chunks" in answer) return answer.chunks;
  throw errorFromStatus(answer, httpRequest.operation, http.clock.now());
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

/** Does without the stream that undici's `request` makes of every body, which is a quarter of a short request's time. */
function readWhole(agent: Dispatcher, httpRequest: HttpRequest): Promise<HttpResponse> {
  const { signal } = httpRequest.attempt;
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: HttpResponse["headers"] = {};
    const chunks: Buffer[] = [];
    let running: Dispatcher.DispatchController | undefined;
    // Also while there is no connection yet, and nothing that could be ended.
    signal.once("abort", () => {
      running?.abort(signal.reason as Error);
      reject(signal.reason);
    });
    agent.dispatch(optionsOf(httpRequest), {
      onRequestStart(controller) {
        running = controller;
        if (signal.aborted) controller.abort(signal.reason as Error);
      },
      onResponseStart(_controller, statusCode, received) {
        status = statusCode;
        headers = received;
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        resolve({ status, headers, body: Buffer.concat(chunks).toString() });
      },
      onResponseError(_controller, error) {
        reject(error);
      },
    });
  });
}

async function readBeginning(
  agent: Dispatcher,
  httpRequest: HttpRequest,
): Promise<HttpResponse | { readonly status: number; readonly chunks: AsyncIterable<Uint8Array> }> {
  const { signal } = httpRequest.attempt;
  const { statusCode: status, headers, body } = await agent.request({ ...optionsOf(httpRequest), signal });
  if (status < 300) return { status, chunks: chunksOf(body, httpRequest) };
  return { status, headers, body: await body.text() };
}

function optionsOf({ address, method, headers, body }: HttpRequest): Dispatcher.DispatchOptions {
  return { ...address, method, body, headers: { accept: "application/json", "user-agent": USER_AGENT, ...headers } };
}

async function* chunksOf(body: AsyncIterable<Uint8Array>, httpRequest: HttpRequest): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw failureOf(cause, httpRequest);
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

/** The error of a request that got no complete answer: the reason of its end if it was ended, a typed one otherwise. */
function failureOf(cause: unknown, { operation, address, attempt }: HttpRequest): unknown {
  if (attempt.signal.aborted) return attempt.signal.reason;
  // Not `instanceof Error`: under Jest, Node's own errors come from another realm.
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  const host = address.origin;
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") {
    return new ClientClosedError(`${operation}: the client was closed. Make a new one with createClient`, { cause });
  }
  const problem = CONNECT_PROBLEMS[code];
  if (problem) return new CannotConnectError(`${operation}: ${problem(host)}`, { cause });
  const message = `${operation}: the connection to ${host} broke before the answer was complete`;
  return new ConnectionError(`${message}. Check the network and the address if this goes on`, { cause });
}

const unknownHost = (host: string) => `the host of ${host} is not known. Check the address`;
const unreachableHost = (host: string) => `${host} cannot be reached. Check the network and the address`;
const untrustedCertificate = (host: string) =>
  `the certificate of ${host} is not trusted. Check the address; where your network or the service has a certificate ` +
  "authority of its own, name its file in NODE_EXTRA_CA_CERTS";

/** What went wrong when there was no connection at all, by the code that Node and undici give it. */
const CONNECT_PROBLEMS: Readonly<Record<string, (host: string) => string>> = {
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  EHOSTUNREACH: unreachableHost,
  ENETUNREACH: unreachableHost,
  ECONNREFUSED: (host) => `nothing answers at ${host}. Check the address, or start the emulator if it is meant`,
  ERR_SSL_WRONG_VERSION_NUMBER: (host) => `${host} does not speak TLS. Check whether its address begins with http://`,
  CERT_HAS_EXPIRED: untrustedCertificate,
  CERT_NOT_YET_VALID: untrustedCertificate,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrustedCertificate,
  ERR_TLS_CERT_ALTNAME_INVALID: untrustedCertificate,
  SELF_SIGNED_CERT_IN_CHAIN: untrustedCertificate,
  UNABLE_TO_GET_ISSUER_CERT: untrustedCertificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrustedCertificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrustedCertificate,
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
    `${operation}: the service's answer has an unexpected shape (${problem}): ${excerpt(JSON.stringify(value) ?? "nothing")}. ` +
      "Check the address; if it is right, the service may have changed: look for a newer version of this package",
  );
}

function errorFromStatus(response: HttpResponse, operation: string, now: number): ServerlessGpuError | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const said = isHtml(response) ? "an HTML page, so a gateway may have refused it" : excerpt(response.body);
  const answered = `${operation}: the service answered ${status} (${said})`;
  if (status === 401) return new AuthenticationError(`${answered}. Check that the API key is right and has permission`);
  if (status === 404) return new NotFoundError(`${answered}. It does not exist, or not in this account`);
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
  // Redacted before it is cut: half a key would not be recognised.
  const text = redact(body).replace(/\s+/g, " ").trim();
  if (text === "") return "no body";
  return text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text;
}
