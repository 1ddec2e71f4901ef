import {
  CodedError,
  ConfigurationError,
  ConnectionError,
  RequestTimeoutError,
  ServerlessGpuError,
  UnexpectedResponseError,
} from "../errors/errors";
import { UnknownCoding } from "./contentCoding";
import type { Http, OutgoingRequest } from "./httpRequest";
import { BrokenExchange, TooLarge } from "./post";
import { PROXY_STATUS } from "./proxy";

/**
 * Returns the error for a request without a complete response. This is either the reason why the
 * request was aborted or a typed error.
 */
export function failureOf(failure: unknown, httpRequest: OutgoingRequest, proxyHint: Http["proxyHint"]): unknown {
  if (failure instanceof ServerlessGpuError) return failure;
  const { operation, attempt } = httpRequest;
  const { cause, sent } = failure instanceof BrokenExchange ? failure : { cause: failure, sent: true };
  if (attempt.signal.aborted) return sent ? attempt.signal.reason : endedBeforeSent(httpRequest, proxyHint);
  if (!sent) return notSent(cause, httpRequest, proxyHint);
  if (cause instanceof TooLarge) {
    return new UnexpectedResponseError(`${operation}: ${cause.message}, so it was not read. Request less data`, {
      cause,
    });
  }
  const code = codeOf(cause);
  if (cause instanceof UnknownCoding || /^(Z_|ERR__|ERR_BROTLI)/.test(code)) {
    const why = cause instanceof Error ? cause.message : code;
    return new CodedError(
      "UNREADABLE_RESPONSE",
      `${operation}: the service's response cannot be decompressed (${why}). A proxy or gateway may have changed it`,
      { cause },
    );
  }
  const message = `${operation}: the connection to ${originOf(httpRequest)} broke before the response was complete`;
  return new ConnectionError(`${message}. Check the network and the URL if this continues`, { cause });
}

/**
 * Returns the error for a request that was aborted before it was sent. A timeout of such a request
 * had no effect at the service.
 */
function endedBeforeSent(httpRequest: OutgoingRequest, proxyHint: Http["proxyHint"]): unknown {
  const cause = httpRequest.attempt.signal.reason;
  // An attempt ends with this error only if the client is closed.
  if (cause instanceof ConnectionError) return clientClosed(httpRequest.operation, cause);
  if (!(cause instanceof RequestTimeoutError)) return cause;
  const host = originOf(httpRequest);
  const message = `${httpRequest.operation}: could not connect to ${host} in time, so nothing was sent`;
  return new CodedError("CANNOT_CONNECT", `${message}. Check the network and the URL${proxyHint(host)}`, { cause });
}

/** Returns the error for a call on a closed client. */
export function clientClosed(operation: string, cause?: unknown): CodedError {
  return new CodedError("CLIENT_CLOSED", `${operation}: the client was closed. Create a new one with createClient`, {
    cause,
  });
}

function notSent(cause: unknown, httpRequest: OutgoingRequest, proxyHint: Http["proxyHint"]): ServerlessGpuError {
  const { operation } = httpRequest;
  const host = originOf(httpRequest);
  const code = codeOf(cause);
  if (code === "UND_ERR_CLOSED" || code === "UND_ERR_DESTROYED") return clientClosed(operation, cause);
  if (code === "UND_ERR_INVALID_ARG") {
    const why = cause instanceof Error ? cause.message : code;
    return new ConfigurationError(
      `${operation}: the client's dispatcher rejected the request (${why}). It must be a dispatcher of undici 7`,
    );
  }
  const hint = proxyHint(host);
  if (UNTRUSTED.includes(code)) {
    return new CodedError("UNTRUSTED_CERTIFICATE", `${operation}: ${untrustedCertificate(host)}${hint}`, { cause });
  }
  if (code.startsWith(PROXY_STATUS)) {
    const status = code.slice(PROXY_STATUS.length);
    const message = `${operation}: the proxy rejected a tunnel to ${host} with the status ${status}${hint}`;
    if (status !== "407") return new CodedError("CANNOT_CONNECT", message, { cause });
    return new CodedError("PROXY_AUTHENTICATION", `${message}. Check the user and the password in the proxy's URL`, {
      cause,
    });
  }
  const problem = CONNECT_PROBLEMS[code] ?? noConnection;
  return new CodedError("CANNOT_CONNECT", `${operation}: ${problem(host)}${hint}`, { cause });
}

/**
 * Returns the code of an error. Under Jest, Node's own errors come from another realm, so
 * `instanceof Error` does not recognize them.
 */
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

function originOf({ url }: OutgoingRequest): string {
  return new URL(url).origin;
}
