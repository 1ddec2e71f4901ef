import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came over the wire. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedAnswer {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** A string and bytes are sent as they are, anything else as JSON. */
  readonly body: unknown;
}

/** An HTTP server that responds to each request as the test says and keeps what it was sent. */
export async function startScriptedServer(answer: (request: RecordedRequest, number: number) => ScriptedAnswer) {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://scripted");
    const request = {
      method: incoming.method ?? "",
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString("utf8"),
    };
    requests.push(request);
    const { status = 200, headers = {}, body } = answer(request, requests.length);
    outgoing.writeHead(status, { "content-type": "application/json", ...headers });
    outgoing.end(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: requests as readonly RecordedRequest[],
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A client's options for a server of all three interfaces. */
export function addressesOf({ url }: { readonly url: string }) {
  return { graphqlUrl: url, restUrl: url, queueUrl: url };
}
