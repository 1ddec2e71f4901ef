import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Reply } from "./catalog";
import { type Asked, graphqlReply } from "./graphql";
import { queueReply } from "./queueHost";
import { restV2Reply } from "./restV2";
import type { Fault, LogLine, Route, World } from "./world";

/** What a client did. */
export interface Seen extends Asked {
  /** Method and path of each request, in order. */
  readonly requests: string[];
  /** `true` after a response to `/workers`. */
  sawWorkers: boolean;
  /** `true` after a line of a log. */
  sawLogs: boolean;
}

/** The names of the parts of a path, the most particular first. */
const ROUTES: readonly (readonly [RegExp, Route])[] = [
  [/^\/serverless\/[^/]+\/workers\/[^/]+\/logs$/, "logs"],
  [/^\/serverless\/[^/]+\/workers$/, "workers"],
  [/^\/serverless\/[^/]+\/releases$/, "releases"],
  [/^\/serverless\/[^/]+$/, "single"],
  [/^\/serverless$/, "list"],
  [/^\/account\/limits$/, "limits"],
  [/^\/account\/secrets/, "secrets"],
  [/^\/catalog\//, "catalog"],
  [/^\/network-volumes/, "volumes"],
];

/** The part that a document reads, the most particular first. */
const GRAPHQL_PARTS: readonly (readonly [RegExp, Route])[] = [
  [/gpuTypes|dataCenters|serverlessGpuPools/, "catalog"],
  [/\bsecrets\b/, "secrets"],
  [/\bendpoint ?\(/, "single"],
  [/\bendpoints\b/, "list"],
  [/maxServerlessConcurrency|spendLimit/, "limits"],
];

/**
 * Starts the service in one state: three hosts, as the real one has. REST v2 is on the host of
 * GraphQL, and REST v1 has ended.
 */
export async function startStandIn(world: World) {
  const seen: Seen = { requests: [], violations: [], unknownFields: [], sawWorkers: false, sawLogs: false };
  const management = await listen(seen, (request, url, response) => manage(world, seen, { request, url, response }));
  const queue = await listen(seen, (request, url, response) => serveQueue(world, seen, { request, url, response }));
  const rest = await listen(seen, async (request, url, response) => {
    seen.requests.push(`${request.method} ${url.pathname}`);
    send(response, { status: 410, body: { title: "Gone", status: 410 } });
  });
  const all = [management, queue, rest];
  return {
    graphqlUrl: management.url,
    queueUrl: queue.url,
    restUrl: rest.url,
    seen: seen as Readonly<Seen>,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(all.map(({ close }) => close()));
    },
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly response: ServerResponse;
}

type Answer = (request: IncomingMessage, url: URL, response: ServerResponse) => Promise<unknown>;

async function listen(seen: Seen, answer: Answer) {
  const server: Server = createServer((request, response) => {
    answer(request, new URL(request.url ?? "/", "http://stand-in"), response).catch((error) => {
      seen.violations.push(`the stand-in failed: ${error}`);
      send(response, { status: 500, body: { title: "the stand-in failed", detail: String(error) } });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function manage(world: World, seen: Seen, { request, url, response }: Exchange): Promise<unknown> {
  if (isUnnamed(request)) return refuseClient(response);
  if (url.pathname === "/graphql") {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    seen.requests.push(`GRAPHQL ${body.replaceAll(/\s+/g, " ").slice(0, 400)}`);
    const part = GRAPHQL_PARTS.find(([pattern]) => pattern.test(body))?.[1];
    const isRead = part === "single" || part === "list";
    const fault = world.faults.graphql ?? (part && world.faults[part]) ?? (isRead ? world.faults.endpoint : undefined);
    // The read of one endpoint that is missing answers `null`.
    if (part === "single" && fault === 404) return send(response, graphqlReply(world, body, true, seen));
    if (fault !== undefined) return fail(response, fault);
    const key = url.searchParams.get("api_key") ?? keyOf(request);
    if (key !== "" && key !== world.apiKey) return send(response, { status: 401, body: { error: "Unauthorized" } });
    return send(response, graphqlReply(world, body, key !== "", seen));
  }
  if (!url.pathname.startsWith("/v2/"))
    return send(response, { status: 404, body: { title: "Not Found", status: 404 } });
  serveV2(world, seen, { request, url, response });
}

function serveV2(world: World, seen: Seen, { request, url, response }: Exchange): unknown {
  const path = note(seen, request, url);
  if (keyOf(request) !== world.apiKey) {
    return send(response, {
      status: 401,
      body: { title: "Unauthorized", status: 401, detail: "missing bearer token" },
    });
  }
  const route = ROUTES.find(([pattern]) => pattern.test(path))?.[1];
  const isRead = route === "single" || route === "list";
  const fault = world.faults.v2 ?? (route && world.faults[route]) ?? (isRead ? world.faults.endpoint : undefined);
  if (fault !== undefined) return fail(response, fault);
  if (route === "logs") return serveLogs(world, seen, { request, url, response });
  const reply = restV2Reply(world, path, url.searchParams);
  if (route === "workers" && reply.status === 200) seen.sawWorkers = true;
  send(response, reply);
}

async function serveQueue(world: World, seen: Seen, { request, url, response }: Exchange): Promise<unknown> {
  if (isUnnamed(request)) return refuseClient(response);
  const path = note(seen, request, url);
  const operation = path.split("/")[2] as Route | undefined;
  const fault = operation && world.faults[operation];
  if (fault !== undefined) return fail(response, fault);
  if (keyOf(request) !== world.apiKey) {
    return send(response, { status: 401, body: { status: 401, title: "Unauthorized", detail: "invalid api key" } });
  }
  send(response, queueReply(world, path));
}

/** Records a request, and a diagnosis that is more than a read. Returns the path below `/v2`. */
function note(seen: Seen, request: IncomingMessage, url: URL): string {
  seen.requests.push(`${request.method} ${url.pathname}${url.search}`);
  if (request.method !== "GET") seen.violations.push(`${request.method} ${url.pathname}`);
  return url.pathname.replace(/^\/v2/, "");
}

const LONGEST_TAIL = 5000;

/** Sends the last lines of a log and keeps the connection open. It never ends by itself. */
function serveLogs(world: World, seen: Seen, { request, url, response }: Exchange): unknown {
  const id = url.pathname.split("/").at(-2);
  const worker = world.workers.find((each) => each.id === id);
  if (!worker) return send(response, { status: 404, body: { title: "Not Found", status: 404 } });
  const tail = Number(url.searchParams.get("tail") ?? 100);
  const source = url.searchParams.get("source");
  if (!(tail >= 0 && tail <= LONGEST_TAIL) || (source !== null && source !== "container" && source !== "system")) {
    return send(response, { status: 422, body: { title: "Unprocessable Entity", status: 422 } });
  }
  const from = Date.parse(String(request.headers["last-event-id"] ?? url.searchParams.get("since") ?? ""));
  const lines = (worker.logs ?? [])
    .filter((line) => source === null || line.source === source)
    .filter(({ age }) => Number.isNaN(from) || Date.now() - age * 1000 >= from);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  for (const line of tail === 0 ? [] : lines.slice(-tail)) {
    seen.sawLogs = true;
    response.write(frame(line));
  }
}

function frame({ source, line, age }: LogLine): string {
  const ts = new Date(Date.now() - age * 1000).toISOString();
  return `id: ${ts}\ndata: ${JSON.stringify({ source, line, ts })}\n\n`;
}

function keyOf({ headers }: IncomingMessage): string {
  return (headers.authorization ?? "").replace(/^Bearer /i, "");
}

/** The gateway refuses the names of libraries. */
function isUnnamed({ headers }: IncomingMessage): boolean {
  return /^(node|undici|python|axios|$)/i.test(headers["user-agent"] ?? "");
}

function refuseClient(response: ServerResponse): unknown {
  response.writeHead(403, { "content-type": "text/html" });
  return response.end("<html><title>error 1010</title></html>");
}

function fail(response: ServerResponse, fault: Fault): unknown {
  if (fault === "silent") return undefined;
  if (fault === "unauthorized") {
    const errors = [{ message: "Unauthorized", path: ["myself"] }];
    return send(response, { status: 200, body: { errors, data: { myself: null } } });
  }
  if (typeof fault === "string" && fault.startsWith("html")) {
    response.writeHead(Number(fault.slice(4)), { "content-type": "text/html" });
    return response.end("<html><title>Attention required</title><body>error 1010</body></html>");
  }
  if (fault === "malformed") {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end('{"gpus":[{"id":');
  }
  return send(response, {
    status: Number(fault),
    body: { title: STATUS_CODES[Number(fault)], status: fault, detail: "refused by the stand-in" },
  });
}

function send(response: ServerResponse, { status, body }: Reply): void {
  if (response.headersSent) return;
  response.writeHead(status, { "content-type": status < 400 ? "application/json" : "application/problem+json" });
  response.end(JSON.stringify(body));
}
