import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a server that receives webhooks. */
export async function listen(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Delivers a webhook, as the service does. */
export const post = (url: string, body: unknown) =>
  fetch(url, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
