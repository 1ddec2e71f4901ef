import { Agent, type Dispatcher, request, errors as undiciErrors } from "undici";
import {
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  RateLimitError,
  RejectedError,
  RequestTimeoutError,
  type ServerlessGpuError,
  ServiceFaultError,
  UnexpectedResponseError,
  UnreadableResponseError,
} from "./errors";
import { redact } from "./secret";

/** A gateway in front of the service refuses user agents that look like a library's. */
const USER_AGENT = "serverless-gpu/1";

const EXCERPT_LENGTH = 200;

/** One HTTP request. `operation` names it in errors, for instance `saveEndpoint of "llama"`. */
export interface HttpRequest {
  readonly operation: string;
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
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
export async function send(
  agent: Dispatcher,
  { operation, url, headers, ...rest }: HttpRequest,
): Promise<HttpResponse> {
  try {
    const response = await request(url, {
      ...rest,
      dispatcher: agent,
      headers: { accept: "application/json", "user-agent": USER_AGENT, ...headers },
    });
    return { status: response.statusCode, headers: response.headers, body: await response.body.text() };
  } catch (cause) {
    if (rest.signal?.aborted) throw rest.signal.reason;
    const host = hostOf(url);
    if (cause instanceof undiciErrors.ConnectTimeoutError) {
      throw new RequestTimeoutError(`${operation}: no connection to ${host} within 10 s. Is the address right?`, {
        cause,
      });
    }
    throw new ConnectionError(`${operation}: ${connectionProblem(cause, host)}`, { cause });
  }
}

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
    `${operation}: the service's answer has an unexpected shape (${problem}): ${excerpt(JSON.stringify(value) ?? "nothing")}`,
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
export function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
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

function connectionProblem(cause: unknown, host: string): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `the host of ${host} is not known. Check the address`;
  if (code === "ECONNREFUSED")
    return `nothing answers at ${host}. Check the address, or start the emulator if it is meant`;
  return `the connection to ${host} broke before the answer was complete`;
}

function hostOf(url: string): string {
  return new URL(url).origin;
}
