import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Emulator, startEmulator } from "../../../emulator";
import type { Operation } from "./actions";
import { heldJobs } from "./heldJobs";

export type AccountName = "A" | "B";
/** `a1` and `a2` are keys of account A, `b1` is one of account B. */
export type KeyName = "a1" | "a2" | "b1";

/** The secrets behind the keys' names, as programs have them in their environment. */
export const KEYS: Readonly<Record<KeyName, string>> = {
  a1: "first-key-of-account-a",
  a2: "rotated-key-of-account-a",
  b1: "only-key-of-account-b",
};

export const accountOf = (key: KeyName): AccountName => (key === "b1" ? "B" : "A");

/** A request at which a run is disturbed. */
export interface Trap {
  /** Number of the request, from 1, among those of `operation`. */
  readonly nth: number;
  /** @default any */
  readonly operation?: Operation;
  /** `true` if the request has its effect on the service first. */
  readonly when: "before" | "after";
  /**
   * `true` if the service refuses the request instead, as it does when the workers' quota is used
   * up.
   */
  readonly refuses?: boolean;
  /** `true` if the request goes on as if nothing had happened. */
  readonly goesOn?: boolean;
  /**
   * Called when the request is held. Its connection is cut when the promise settles, unless it goes
   * on.
   */
  readonly onHeld: () => Promise<void>;
}

/** One service with two accounts and three keys at one URL. */
export interface Service {
  readonly url: string;
  readonly accounts: Readonly<Record<AccountName, Emulator>>;
  /** Disturbs one request, at most once. `undefined` removes the disturbance. */
  setTrap(trap: Trap | undefined): void;
  /** Submits a job that runs until `endJobs`, and resolves when a worker runs it. */
  holdJob(account: AccountName, endpointId: string): Promise<void>;
  endJobs(): void;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly seed: number;
  /** `true` if the deletion of an unknown id succeeds. */
  readonly lenient: boolean;
  /** How far lists lag, in milliseconds. */
  readonly lagMs?: number;
  /** `true` for the observed profile. */
  readonly observed?: boolean;
}

/**
 * Starts the service: an emulator for each account, behind a gate that knows which account each key
 * belongs to.
 */
export async function startService({ seed, lenient, lagMs, observed }: ServiceOptions): Promise<Service> {
  const jobs = heldJobs();
  const start = async (apiKey: string, randomSeed: number) => {
    const emulator = await startEmulator({
      apiKey,
      randomSeed,
      drainMs: 0,
      coldStartMs: 0,
      templateReleaseMs: 0,
      profile: observed ? "observed" : "contract",
      rateLimits: { management: "off", graphql: "off" },
      handlers: { default: jobs.handler },
    });
    for (const api of ["graphql", "v2"] as const) {
      if (lagMs) emulator.faults.add({ match: { interface: api }, effect: { listLagMs: lagMs } });
    }
    return emulator;
  };
  const accounts = { A: await start("account-a", 2 * seed + 1), B: await start("account-b", 2 * seed + 2) };
  let trap: (Trap & { seen: number }) | undefined;
  const trapFor = (operation: Operation | undefined) => {
    if (!trap || (trap.operation !== undefined && trap.operation !== operation)) return undefined;
    trap.seen += 1;
    if (trap.seen !== trap.nth) return undefined;
    const sprung = trap;
    trap = undefined;
    return sprung;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await textOf(request);
    const operation = operationOf(request, body);
    const sprung = trapFor(operation);
    if (sprung?.refuses) {
      await sprung.onHeld();
      return refuse(request, response);
    }
    if (sprung?.when === "before") return sprung.onHeld().finally(() => request.socket.destroy());
    const { status, type, text } = await forward(request, body, accounts);
    if (sprung?.goesOn) await sprung.onHeld();
    else if (sprung) return sprung.onHeld().finally(() => request.socket.destroy());
    const isUnknown = operation === "deleteEndpoint" && /"errors"/.test(text) && /not found/i.test(text);
    response.writeHead(status, { "content-type": type });
    response.end(lenient && isUnknown ? JSON.stringify({ data: { deleteEndpoint: null } }) : text);
  };
  const gate = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(gate.address() as AddressInfo).port}`,
    accounts,
    setTrap(next) {
      trap = next && { ...next, seen: 0 };
    },
    holdJob: (account, id) => jobs.hold(accounts[account], id),
    endJobs: jobs.end,
    async stop() {
      jobs.end();
      gate.closeAllConnections();
      await new Promise((resolve) => gate.close(resolve));
      await Promise.all([accounts.A.stop(), accounts.B.stop()]);
    },
  };
}

const REFUSAL = "Max workers across all endpoints must not exceed your workers quota";

/** Refuses a request as the service does when the workers' quota is used up. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  const isGraphql = request.url?.startsWith("/graphql");
  const body = isGraphql
    ? { errors: [{ message: REFUSAL, extensions: { code: "RUNPOD" } }], data: null }
    : { title: "Bad Request", status: 400, detail: REFUSAL };
  response.writeHead(isGraphql ? 200 : 400, {
    "content-type": isGraphql ? "application/json" : "application/problem+json",
  });
  response.end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

const OF_GRAPHQL = /saveEndpoint|saveTemplate|deleteEndpoint|myself/;
const OF_REST_V2: Readonly<Record<string, Operation>> = {
  POST: "saveEndpoint",
  PATCH: "saveEndpoint",
  DELETE: "deleteEndpoint",
  GET: "myself",
};

/** Returns what a request does; `undefined` for anything that no disturbance names. */
function operationOf({ method = "", url = "/" }: IncomingMessage, body: string): Operation | undefined {
  if (url.startsWith("/graphql")) return OF_GRAPHQL.exec(body)?.[0] as Operation | undefined;
  if (/^\/v2\/serverless(\/[^/?]+)?(\?|$)/.test(url)) return OF_REST_V2[method];
  if (/^\/v2\/serverless\/[^/]+\/workers/.test(url)) return "workers";
  return /^\/v2\/[^/]+\/run(\?|$)/.test(url) ? "run" : undefined;
}

/** Sends the request to the account of its key, with the key that the account's emulator knows. */
async function forward(request: IncomingMessage, body: string, accounts: Service["accounts"]) {
  const url = new URL(request.url ?? "/", accounts.A.url);
  const headers: Record<string, string> = { "content-type": request.headers["content-type"] ?? "application/json" };
  const bearer = request.headers.authorization;
  if (bearer) headers.authorization = bearer;
  const name = (Object.keys(KEYS) as KeyName[]).find(
    (key) => url.searchParams.get("api_key") === KEYS[key] || bearer?.endsWith(KEYS[key]),
  );
  const account = accounts[name ? accountOf(name) : "A"];
  if (name && bearer) headers.authorization = bearer.replace(KEYS[name], account.apiKey);
  if (name && url.searchParams.has("api_key")) url.searchParams.set("api_key", account.apiKey);
  const answer = await fetch(new URL(url.pathname + url.search, account.url), {
    method: request.method ?? "GET",
    headers,
    ...(body && { body }),
  });
  return {
    status: answer.status,
    type: answer.headers.get("content-type") ?? "application/json",
    text: await answer.text(),
  };
}
