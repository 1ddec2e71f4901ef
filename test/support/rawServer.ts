import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "../../sdk/client/client";
import { CANARY } from "./emulated";
import { addressesOf } from "./scriptedServer";

/** A server whose responses a test sends by hand, chunk by chunk. */
export async function startRawServer(listener: RequestListener) {
  const server: Server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A client of one server, in real time. */
export function clientOf(server: { readonly url: string }, options: Partial<Parameters<typeof createClient>[0]> = {}) {
  return createClient({ apiKey: CANARY, ...addressesOf(server), ...options });
}
