import { setTimeout as sleep } from "node:timers/promises";
import type { FidelityId, Profile } from "../../emulator/model/fidelity";
import { systemClock, timeLimit } from "../../sdk/contract/clock";
import type { createAgent } from "../../sdk/transport/agents";
import { INTERFACE_PATHS, loadBalancerUrl, REST_V2_PATH } from "../../sdk/transport/urls";

type Dispatcher = ReturnType<typeof createAgent>;

/** The URLs of a service, without API paths, and the key of an account. */
export interface TestedConnection {
  readonly apiKey: string;
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly queueUrl: string;
}

/** The endpoint created for the run. */
export interface OwnEndpoint {
  readonly id: string;
  readonly name: string;
  readonly gpuIds: string;
  readonly templateId: string;
}

/** Returns the name of the endpoint that the run creates over REST v2. */
export const secondName = ({ name }: Pick<OwnEndpoint, "name">) => `${name}-v2`;

/** A response. The body is `undefined` unless it is JSON. */
export interface TestedReply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the point is to find responses of unexpected shapes
  readonly body: any;
}

/** The key to send: the right one in the documented place, or a variation. */
type KeyUse = "usual" | "bearer" | "bare" | "wrong" | "none";

/** The parts of a request to any API. */
export interface Sending {
  readonly method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly body?: string | undefined;
  readonly key?: KeyUse;
  /** `true` if sending such a request twice could cost money. */
  readonly once?: boolean;
}

/** A request in the transcript. It contains neither key nor body. */
export interface SentRequest {
  readonly request: string;
  readonly status: number | undefined;
  readonly elapsedMs: number;
}

/** The part of a response that shows a rule, in a form that can be compared between services. */
export type RowResult = unknown;

/** A row of the fidelity table, or one row per profile for the same question. */
export type TestedRow = FidelityId | Readonly<Partial<Record<Profile, FidelityId>>>;

/**
 * A service to play the scenarios against: either the live service, or the emulator, whose replies
 * are the expected ones.
 */
export interface TestedService {
  readonly endpoint: OwnEndpoint;
  readonly findings: ReadonlyMap<FidelityId, RowResult>;
  readonly requests: readonly SentRequest[];
  note(row: TestedRow, finding: RowResult): void;
  /** Sends a GraphQL document, or `raw` without changes. */
  graphql(query: string, sending?: Sending & { readonly operationName?: string }): Promise<TestedReply>;
  rest(path: string, sending?: Sending): Promise<TestedReply>;
  /** Sends a request to REST v2, which shares the host of GraphQL. */
  v2(path: string, sending?: Sending): Promise<TestedReply>;
  /** Sends a request to the endpoint's queue, or to a path starting with `/` below `/v2`. */
  queue(path: string, sending?: Sending & { readonly json?: unknown }): Promise<TestedReply>;
  /** Sends a GET request to a path of the endpoint's load balancer. */
  lb(path: string, sending?: Sending): Promise<TestedReply>;
  /** Sends a GET request without a key to a path that no API uses. */
  elsewhere(path: string): Promise<TestedReply>;
  pause(ms: number): Promise<void>;
  close(): Promise<void>;
}

interface TestedServiceOptions {
  readonly connection: TestedConnection;
  readonly endpoint: OwnEndpoint;
  readonly profile: Profile;
  readonly signal: AbortSignal;
  readonly maxRequests: number;
  /** The HTTP connections. The service closes them. */
  readonly agent: Dispatcher;
}

/** A key that is invalid for every service. */
const WRONG_KEY = "verify-service-wrong-key";
const TIMEOUT_MS = 30_000;
/** Statuses that say nothing about a rule, because the service or a gateway is busy. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Together, the pauses are longer than a rate limit's window. */
const ATTEMPTS = 4;
const PAUSE_MS = 4000;

export function createTestedService(options: TestedServiceOptions): TestedService {
  const { connection, endpoint, profile, signal, agent } = options;
  const { apiKey, graphqlUrl, restUrl, queueUrl } = connection;
  const findings = new Map<FidelityId, RowResult>();
  const requests: SentRequest[] = [];
  const send = (url: URL, sending: Sending, key: string | undefined) =>
    sendUntilServed(options, requests, url, sending, key);

  return {
    endpoint,
    findings,
    requests,
    note(row, finding) {
      const id = typeof row === "string" ? row : row[profile];
      if (id !== undefined) findings.set(id, finding);
    },
    graphql(query, { operationName, key = "usual", method = "POST", body } = {}) {
      const url = new URL(graphqlUrl + INTERFACE_PATHS.graphqlUrl);
      if (key === "usual" || key === "wrong") url.searchParams.set("api_key", key === "usual" ? apiKey : WRONG_KEY);
      const document = body ?? JSON.stringify({ query, operationName });
      const sending = method === "GET" ? { method } : { method, body: document };
      return send(url, sending, key === "bearer" ? `Bearer ${apiKey}` : undefined);
    },
    rest: (path, sending = {}) =>
      send(new URL(restUrl + INTERFACE_PATHS.restUrl + path), sending, headerKey(sending.key, apiKey)),
    v2: (path, sending = {}) =>
      send(new URL(graphqlUrl + REST_V2_PATH + path), sending, headerKey(sending.key, apiKey)),
    queue(path, { json, ...sending } = {}) {
      const below = path.startsWith("/") ? path : `/${endpoint.id}/${path}`;
      const body = json === undefined ? sending.body : JSON.stringify(json);
      const all = { ...sending, body, method: sending.method ?? (body === undefined ? "GET" : "POST") };
      return send(new URL(queueUrl + INTERFACE_PATHS.queueUrl + below), all, headerKey(sending.key, apiKey));
    },
    lb: (path, { key } = {}) =>
      send(new URL(loadBalancerUrl(queueUrl, endpoint.id) + path), {}, headerKey(key, apiKey)),
    elsewhere: (path) => send(new URL(path, graphqlUrl), {}, undefined),
    pause: (ms) => sleep(ms, undefined, { signal }),
    close: () => agent.close(),
  };
}

/** Resends a request while the service is busy, unless the request must only be sent once. */
async function sendUntilServed(
  options: TestedServiceOptions,
  requests: SentRequest[],
  url: URL,
  sending: Sending,
  key: string | undefined,
): Promise<TestedReply> {
  const attempts = sending.once ? 1 : ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    const reply = await sendOnce(options, requests, url, sending, key);
    if (!BUSY.has(reply.status)) return reply;
    if (attempt === attempts) throw new Error(`the service responded ${attempts} times with ${reply.status}`);
    await sleep(PAUSE_MS, undefined, { signal: options.signal });
  }
}

async function sendOnce(
  { endpoint, signal, maxRequests, agent }: TestedServiceOptions,
  requests: SentRequest[],
  url: URL,
  { method = "GET", body }: Sending,
  key: string | undefined,
): Promise<TestedReply> {
  signal.throwIfAborted();
  if (requests.length >= maxRequests) throw new Error(`the limit of ${maxRequests} requests was reached`);
  const startedAt = performance.now();
  let status: number | undefined;
  const late = () => new Error(`no response within ${TIMEOUT_MS / 1000} s`);
  const limit = timeLimit(systemClock, TIMEOUT_MS, late, signal);
  try {
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(key === undefined ? {} : { authorization: key }),
      },
      body: body ?? null,
      signal: limit.signal,
    });
    status = response.statusCode;
    return { status, body: parsed(await response.body.text()) };
  } finally {
    limit.release();
    const shown = `${method} ${url.pathname}`
      .replaceAll(endpoint.id, "<endpoint>")
      .replace(/(\/serverless\/)[^/<]+/, "$1<second endpoint>")
      .replace(/(\/tags\/)[^/]+/, "$1<tag>");
    requests.push({ request: shown, status, elapsedMs: Math.round(performance.now() - startedAt) });
  }
}

function headerKey(use: KeyUse = "usual", apiKey: string): string | undefined {
  if (use === "none") return undefined;
  if (use === "bare") return apiKey;
  return `Bearer ${use === "wrong" ? WRONG_KEY : apiKey}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a finding as JSON with sorted fields and a placeholder for the endpoint's id. */
export function normalFinding(finding: RowResult, { id, name }: OwnEndpoint): string {
  const text = JSON.stringify(sorted(finding)) ?? "no JSON";
  return text.replaceAll(id, "<endpoint>").replaceAll(name, "<name>");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sorted(each)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
