import type { Dispatcher } from "undici";
import { serviceName } from "../connection/settings";
import { systemClock } from "../contract/clock";
import { GRAPHQL_PER_MINUTE, hasRestV1, type ServiceName } from "../contract/limits";
import { SecretText } from "../errors/secretText";
import type { CallContext } from "../transport/call";
import { Closing } from "../transport/closing";
import { Gate } from "../transport/gate";
import type { Http } from "../transport/httpRequest";
import { createAnnouncedLimiter, type Limiter } from "../transport/limiter";
import { createLog, createReports, type Log } from "../transport/observers";
import { proxyHint } from "../transport/proxy";
import { createRateWindows, type RateWindows } from "../transport/rateWindows";
import { type CheckedOptions, type ClientOptions, checkClientOptions, selectsApi } from "./options";

/** The connection to one account, which all parts of a client share. */
export interface Connected {
  readonly options: CheckedOptions;
  /** `true` if no setting selects the management API. */
  readonly isAutomatic: boolean;
  readonly apiKey: SecretText;
  readonly http: Http;
  readonly log: Log;
  /** The rate limits that REST v2 announces. */
  readonly limits: RateWindows;
  /** The context of calls to queues and workers. */
  readonly calls: CallContext;
  /** The context of calls to the management API, which are subject to its rate limit. */
  readonly managed: CallContext;
  /** The context of calls that read pods. */
  readonly pods: CallContext;
  /** Registers a function to call when the client is closed, before its connections are closed. */
  onClose(end: () => void): void;
  /** See `Client.close`. */
  close(): Promise<void>;
}

/** How long a client waits for remaining responses when it is closed, in milliseconds. */
const LAST_RESPONSES_MS = 1_000;

function newAgent(): Dispatcher {
  const { createAgent } = require("../transport/agents") as typeof import("../transport/agents");
  return createAgent();
}

/**
 * Sets up the connection without sending any request.
 * @throws ConfigurationError, see `createClient`
 */
export function connectAccount(given?: ClientOptions): Connected {
  const options = checkClientOptions(given);
  const { retry, attemptTimeoutMs, headers, clock = systemClock } = options;
  const agent = options.dispatcher ?? newAgent();
  const log = createLog(options.logger);
  const reports = createReports(options, log);
  const closing = new Closing();
  const http: Http = {
    agent,
    clock,
    headers,
    closing,
    report: reports.request,
    proxyHint: options.dispatcher ? () => "" : proxyHint,
  };
  const calls: CallContext = {
    clock,
    random: Math.random,
    retry,
    attemptTimeoutMs,
    onRetry: reports.retry,
    warn: reports.warning,
    closing,
  };
  const limits = createRateWindows();
  const service = serviceName(options);
  const gateOf = (limiter: Limiter | undefined) => limiter && new Gate(clock, limiter, reports.rateLimit);
  const v2Gate = gateOf(limits);
  const gate = options.api === "v2" ? v2Gate : gateOf(graphqlLimiter(service));
  const isPodOfV2 = options.api === "v2" || !hasRestV1(service);
  const ends: (() => void)[] = [];
  let closed: Promise<void> | undefined;

  function close(): Promise<void> {
    for (const end of ends) end();
    closing.begin();
    closed ??= options.dispatcher ? Promise.resolve() : closeAgent(agent, () => closing.endAttempts(log));
    return closed;
  }

  return {
    options,
    isAutomatic: !selectsApi(given),
    apiKey: new SecretText(options.apiKey),
    http,
    log,
    limits,
    calls,
    managed: { ...calls, gate, v2Gate },
    pods: { ...calls, gate: isPodOfV2 ? v2Gate : undefined },
    onClose: (end) => void ends.push(end),
    close,
  };
}

/** Returns the same connection over REST v2. */
export function overRestV2(connected: Connected): Connected {
  const { options, managed, pods } = connected;
  const { v2Gate: gate } = managed;
  return {
    ...connected,
    options: { ...options, api: "v2" },
    isAutomatic: false,
    managed: { ...managed, gate },
    pods: { ...pods, gate },
  };
}

function graphqlLimiter(service: ServiceName | undefined): Limiter | undefined {
  return (
    service &&
    createAnnouncedLimiter({
      perWindow: GRAPHQL_PER_MINUTE[service],
      windowMs: 60_000,
      concurrent: Number.POSITIVE_INFINITY,
    })
  );
}

/** Closes the connections. Requests that have no response after `LAST_RESPONSES_MS` are aborted. */
function closeAgent(agent: Dispatcher, endAttempts: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    // Uses real time even if the client has its own clock, because it's the program that waits.
    const cancel = systemClock.schedule(LAST_RESPONSES_MS, () => {
      endAttempts();
      agent.destroy().then(resolve, reject);
      resolve();
    });
    agent.close().then(resolve, reject).finally(cancel);
  });
}
