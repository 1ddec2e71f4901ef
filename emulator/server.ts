import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RUNSYNC_BODY_MAX_BYTES } from "../sdk/spec";
import { levelOf } from "./fidelity";
import { type HttpRequest, type HttpResponse, text } from "./http";

/** Answers a request; undefined when its connection was cut instead. */
export type Answer = (request: HttpRequest, connection: Connection) => Promise<HttpResponse | undefined>;

/** What lies under a request. */
export interface Connection {
  /** The body was larger than any that the service takes. It was dropped, and `body` is empty. */
  readonly oversized: boolean;
  /** The client's address. */
  readonly remoteAddress: string;
  /** Ends the connection with a TCP reset. */
  reset(): void;
}

export interface ListeningServer {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  /** Stops listening and ends all connections. */
  close(): Promise<void>;
}

/** Serves `answer` over HTTP/1.1. */
export async function listen(host: string, port: number, answer: Answer): Promise<ListeningServer> {
  const open = new Set<ServerResponse>();
  const server = createServer((incoming, outgoing) => {
    open.add(outgoing);
    outgoing.once("close", () => open.delete(outgoing));
    serve(incoming, outgoing, answer).catch((error: unknown) => fail(incoming, outgoing, error));
  });
  // A client's idle connection must not be closed at the moment it is used again.
  server.keepAliveTimeout = 60_000;
  server.listen(port, host);
  await once(server, "listening");
  const { family, address, port: chosenPort } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${chosenPort}`,
    async close() {
      const closed = Promise.all([once(server, "close"), ...[...open].map((outgoing) => once(outgoing, "close"))]);
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse, answer: Answer): Promise<void> {
  const hungUp = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) hungUp.abort();
  });
  const url = new URL(incoming.url ?? "/", "http://emulator");
  const body = await readBody(incoming);
  const request: HttpRequest = {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    body: body ?? Buffer.alloc(0),
    signal: hungUp.signal,
  };
  const response = await answer(request, {
    oversized: body === undefined,
    remoteAddress: incoming.socket.remoteAddress ?? "",
    reset: () => incoming.socket.resetAndDestroy(),
  });
  if (response && !outgoing.destroyed) await send(incoming, outgoing, response);
}

/** Something went wrong in the emulator itself, or on its disk: whoever sent the request is told. */
function fail(incoming: IncomingMessage, outgoing: ServerResponse, error: unknown): void {
  if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy();
  else
    void send(
      incoming,
      outgoing,
      text(500, `The emulator failed: ${error instanceof Error ? error.message : error}\n`),
    );
}

/** The whole body; undefined when it is too large, the rest of it then being thrown away unread. */
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

async function send(incoming: IncomingMessage, outgoing: ServerResponse, response: HttpResponse): Promise<void> {
  const { body, fidelity } = response;
  const headers: Record<string, string> = { ...response.headers };
  if (fidelity !== undefined && levelOf(fidelity) === "assumed") headers["x-emulator-fidelity"] = "assumed";
  if (typeof body === "string") {
    headers["content-length"] = String(Buffer.byteLength(body));
    outgoing.writeHead(response.status, headers);
    if (response.resetMidway) {
      const half = body.slice(0, Math.ceil(body.length / 2));
      outgoing.write(half, () => incoming.socket.resetAndDestroy());
    } else outgoing.end(body);
    return;
  }
  outgoing.writeHead(response.status, headers);
  for await (const chunk of body) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) await Promise.race([once(outgoing, "drain"), once(outgoing, "close")]);
    if (response.resetMidway) return void incoming.socket.resetAndDestroy();
  }
  outgoing.end();
}
