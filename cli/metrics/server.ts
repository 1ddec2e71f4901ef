import { createServer, type Server } from "node:http";
import { systemReason } from "../../emulator/io/systemReason";
import { messageOf } from "../../provider/engine/errors";

/** The media type of the Prometheus text format. */
const TEXT = "text/plain; version=0.0.4; charset=utf-8";

/** An address to listen on. */
export interface Address {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/**
 * Serves the metrics on `/metrics`.
 * @param failed called with a message if the metrics cannot be rendered
 * @throws Error if the server cannot listen on the address
 */
export async function serveMetrics(
  { host, port }: Address,
  render: () => Promise<string>,
  failed: (message: string) => void,
): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { method, url = "" } = request;
    const path = url.split("?")[0];
    if (method !== "GET" && method !== "HEAD") return response.writeHead(405, { allow: "GET, HEAD" }).end();
    if (path === "/") return response.writeHead(200, { "content-type": TEXT }).end("The metrics are at /metrics\n");
    if (path !== "/metrics") return response.writeHead(404).end();
    try {
      const metrics = await render();
      response.writeHead(200, { "content-type": TEXT }).end(metrics);
    } catch (error) {
      failed(`a scrape failed: ${messageOf(error)}`);
      response.writeHead(500).end();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const hint = cause.code === "EADDRINUSE" ? ". Another process uses the port: choose one with --listen" : "";
      reject(new Error(`cannot listen on ${host}:${port}: ${systemReason(cause)}${hint}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  return server;
}
