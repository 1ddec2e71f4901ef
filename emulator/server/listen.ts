import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Bag } from "../../sdk/contract/bag";
import { RUNSYNC_BODY_MAX_BYTES } from "../../sdk/contract/limits";
import { isTooDeep } from "../io/depth";
import { type DroppedBody, failure, type HttpRequest, type HttpResponse, LOAD_BALANCER_PATH } from "../io/http";
import { levelOf } from "../model/fidelity";

/** Resolves with the response to a request, or with `undefined` if its connection was cut. */
export type RequestHandler = (request: HttpRequest, connection: OpenConnection) => Promise<HttpResponse | undefined>;

/** The connection of a request. */
export interface OpenConnection {
  /** Set if the body was dropped. `body` is then empty. */
  readonly dropped: DroppedBody | undefined;
  /** The IP address of the client. */
  readonly remoteAddress: string;
  /** Called if the connection ends before the response is complete. */
  onCut: (() => void) | undefined;
  /** Ends the connection with a TCP reset. */
  reset(): void;
}

const NO_BODY = Buffer.alloc(0);
const NO_QUERY = new URLSearchParams();

interface ListeningServer {
  /** `http://host:port`, without a trailing slash. */
  readonly url: string;
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/**
 * Listens for HTTP/1.1 requests.
 * @throws Error if the port cannot be used
 */
export async function listen(host: string, port: number, handleRequest: RequestHandler): Promise<ListeningServer> {
  const open = new Bag<{ readonly outgoing: ServerResponse; place: number }>();
  const server = createServer((incoming, outgoing) => {
    const connection = connectionOf(incoming);
    const item = { outgoing, place: 0 };
    open.add(item);
    closeWithConnection(incoming, outgoing);
    outgoing.once("close", () => {
      open.remove(item);
      if (!outgoing.writableFinished) connection.cut();
    });
    serve(incoming, outgoing, connection, handleRequest).catch((error: unknown) => fail(incoming, outgoing, error));
  });
  // With a short timeout, an idle connection could close just as the client uses it again.
  server.keepAliveTimeout = 60_000;
  server.listen(port, host);
  await once(server, "listening").catch((cause) => {
    throw new Error(`the emulator cannot listen at ${host}, port ${port}: ${listenProblem(cause)}`, { cause });
  });
  return {
    url: urlOf(server.address() as AddressInfo),
    async close() {
      const closed = Promise.all([once(server, "close"), ...open.all().map(({ outgoing }) => once(outgoing, "close"))]);
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Closes a response that waits for an earlier one when their connection ends. Node.js only closes
 * the first one.
 */
function closeWithConnection({ socket }: IncomingMessage, outgoing: ServerResponse): void {
  if (outgoing.socket) return;
  const close = () => {
    if (outgoing.socket) return;
    outgoing.destroy();
    outgoing.emit("close");
  };
  // A client can send any number of requests at once.
  socket.setMaxListeners(0).once("close", close);
  outgoing.once("close", () => socket.off("close", close));
}

function listenProblem(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "EADDRINUSE":
      return "another program listens there. Choose another port, or 0 for any free one";
    case "EACCES":
      return "this user may not use the port. Choose one above 1023, or 0 for any free one";
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return "that is not an IP address of this machine. Use 127.0.0.1 for this machine only, 0.0.0.0 for all its addresses";
    default:
      return error.message;
  }
}

/**
 * Returns the server's URL for programs on this machine, even if it listens on all network
 * addresses.
 */
function urlOf({ address, family, port }: AddressInfo): string {
  if (address === "0.0.0.0") return `http://127.0.0.1:${port}`;
  if (family === "IPv6") return `http://[${address === "::" ? "::1" : address}]:${port}`;
  return `http://${address}:${port}`;
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  connection: CuttableConnection,
  handleRequest: RequestHandler,
): Promise<void> {
  const target = incoming.url ?? "/";
  const [path = "/", query] = target.split("?", 2);
  const passed = path.startsWith(LOAD_BALANCER_PATH) ? { target, body: incoming } : undefined;
  const body = hasBody(incoming) && !passed ? await readBody(incoming) : NO_BODY;
  connection.dropped = body === undefined ? "large" : isTooDeep(body) ? "deep" : undefined;
  const request: HttpRequest = {
    method: incoming.method ?? "GET",
    path,
    query: query === undefined ? NO_QUERY : new URLSearchParams(query),
    headers: incoming.headers,
    body: body === undefined || connection.dropped ? NO_BODY : body,
    passed,
    signal: connection.signal,
  };
  const response = await handleRequest(request, connection);
  if (response && !outgoing.destroyed) await send(incoming, outgoing, response);
}

interface CuttableConnection extends OpenConnection {
  dropped: DroppedBody | undefined;
  /** Returns a signal that aborts if the connection is cut. */
  readonly signal: () => AbortSignal;
  /** Must be called if the connection ends before the response is complete. */
  readonly cut: () => void;
}

/** Holds no reference to the request and response, because the connection can outlive them. */
function connectionOf({ socket }: IncomingMessage): CuttableConnection {
  // Most requests don't need one.
  let controller: AbortController | undefined;
  let isCut = false;
  const connection: CuttableConnection = {
    dropped: undefined,
    remoteAddress: socket.remoteAddress ?? "",
    onCut: undefined,
    reset: () => socket.resetAndDestroy(),
    signal() {
      controller ??= new AbortController();
      if (isCut) controller.abort();
      return controller.signal;
    },
    cut() {
      isCut = true;
      controller?.abort();
      connection.onCut?.();
    },
  };
  return connection;
}

function fail(incoming: IncomingMessage, outgoing: ServerResponse, error: unknown): void {
  if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy();
  else void send(incoming, outgoing, failure(error));
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** Returns the body, or `undefined` if it is too large. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= RUNSYNC_BODY_MAX_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > RUNSYNC_BODY_MAX_BYTES ? undefined : Buffer.concat(chunks);
}

function send(incoming: IncomingMessage, outgoing: ServerResponse, response: HttpResponse): Promise<void> | undefined {
  const { status, headers, body, fidelity, resetMidway } = response;
  if (fidelity !== undefined && levelOf(fidelity) === "assumed") outgoing.setHeader("x-emulator-fidelity", "assumed");
  if (typeof body !== "string") {
    outgoing.writeHead(status, headers);
    // The first chunk may arrive late.
    outgoing.flushHeaders();
    return sendChunks(incoming, outgoing, body, resetMidway);
  }
  // A list, because spreading the headers would take several percent of a short request's CPU time.
  const fields: (string | number | string[])[] = [];
  for (const [name, value] of Object.entries(headers)) fields.push(name, value);
  fields.push("content-length", Buffer.byteLength(body));
  outgoing.writeHead(status, fields);
  if (resetMidway) outgoing.write(body.slice(0, Math.ceil(body.length / 2)), () => incoming.socket.resetAndDestroy());
  // Responses that are ready at the same time are written one right after the other. Writing to a
  // waiting client wakes its process, which costs more than the write itself.
  else setImmediate(() => outgoing.end(body));
  return undefined;
}

/** Resolves when the client has read everything that was sent, or when the connection is closed. */
async function drained(outgoing: ServerResponse): Promise<void> {
  const waiting = new AbortController();
  const [drain, close] = ["drain", "close"].map((event) => once(outgoing, event, { signal: waiting.signal }));
  // Streams can run for hours, so remove the listener.
  await Promise.race([drain, close]).finally(() => waiting.abort());
}

async function sendChunks(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  chunks: AsyncIterable<string | Uint8Array>,
  resetMidway: boolean | undefined,
): Promise<void> {
  for await (const chunk of chunks) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) await drained(outgoing);
    if (resetMidway) return void incoming.socket.resetAndDestroy();
  }
  outgoing.end();
}
