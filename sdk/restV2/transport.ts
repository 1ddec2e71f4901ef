import {
  AuthenticationError,
  BusinessRuleError,
  CodedError,
  NotFoundError,
  QuotaExceededError,
  RejectedError,
  type ServerlessGpuError,
} from "../errors/errors";
import { redactBeginning, type SecretText } from "../errors/secretText";
import type { Attempt } from "../transport/call";
import type { Http, OutgoingRequest, WholeResponse } from "../transport/httpRequest";
import type { RateWindows } from "../transport/rateWindows";
import { decodeJson, errorFromStatus, jsonText, quotaAdvice } from "../transport/responseErrors";
import { send } from "../transport/send";
import { REST_V2_PATH } from "../transport/urls";

/** The connection to REST v2 of one account. */
export interface RestV2Transport {
  readonly http: Http;
  readonly apiKey: SecretText;
  /** @throws ConfigurationError if there is no URL */
  readonly url: () => string;
  readonly limits: RateWindows;
}

/** A request to REST v2. */
export interface V2Request extends Pick<OutgoingRequest, "name" | "operation" | "method"> {
  /** The path below `/v2`, such as `/serverless`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * Sends a request once. Returns the body of the response, or `undefined` if it has none.
 * @throws the typed error that the response represents
 */
export async function requestV2(
  { http, apiKey, url: baseUrl, limits }: RestV2Transport,
  { name, operation, method, path, query = {}, body }: V2Request,
  attempt: Attempt,
): Promise<unknown> {
  const url = new URL(baseUrl() + REST_V2_PATH + path);
  for (const [parameter, value] of Object.entries(query)) url.searchParams.set(parameter, value);
  const sentAt = http.clock.monotonic();
  const response = await send(http, {
    name,
    operation,
    method,
    url: url.href,
    headers: {
      authorization: `Bearer ${apiKey.reveal()}`,
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
    attempt,
  });
  limits.observe(response, http.clock.monotonic(), sentAt);
  const failure = errorFromProblem(response, operation) ?? errorFromStatus(response, operation, http.clock.now());
  if (failure instanceof NotFoundError && problemIn(response.body) === undefined) {
    throw new CodedError(
      "UNREADABLE_RESPONSE",
      `${operation}: the service responded with 404, but not in the form of REST v2, so this says nothing about the record. ` +
        "A proxy or gateway may have sent it; check the URL if this continues",
    );
  }
  if (failure) throw failure;
  return response.status === 204 ? undefined : decodeJson(response, operation, http.clock.now());
}

/**
 * Returns the typed error for a problem response (RFC 9457) if the status alone does not determine
 * the error. A 400, 402, 409 or 422 counts as a violation of a business rule, unless it lists
 * problems with the body.
 */
function errorFromProblem({ status, body }: WholeResponse, operation: string): ServerlessGpuError | undefined {
  const { detail, errors } = problemIn(body) ?? {};
  if (detail === undefined || ![400, 402, 403, 409, 422].includes(status)) return undefined;
  const problems = errors && errors.length > 0 ? `: ${errors.join("; ")}` : "";
  const said = `${operation}: the service says "${redactBeginning(`${detail}${problems}`, 1_000)}" (${status})`;
  if (status === 403) return new AuthenticationError(`${said}. Check that the API key is right and has permission`);
  if (/quota/i.test(detail)) return new QuotaExceededError(`${said}. ${quotaAdvice}`);
  return status === 422 && problems !== "" ? new RejectedError(said) : new BusinessRuleError(said);
}

function problemIn(body: string): { readonly detail: string; readonly errors?: readonly string[] } | undefined {
  try {
    const { detail, title, errors } = JSON.parse(body) as Readonly<Record<string, unknown>>;
    const text = detail ?? title;
    if (typeof text !== "string") return undefined;
    return Array.isArray(errors) ? { detail: text, errors: errors.map(inWords) } : { detail: text };
  } catch {
    return undefined;
  }
}

function inWords(problem: unknown): string {
  return typeof problem === "string" ? problem : jsonText(problem);
}
