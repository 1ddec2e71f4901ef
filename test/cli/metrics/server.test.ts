import type { AddressInfo } from "node:net";
import { serveMetrics } from "../../../cli/metrics/server";

test("a scrape whose metrics cannot be rendered gets status 500 and a message, and the next one works", async () => {
  let scrapes = 0;
  const messages: string[] = [];
  const server = await serveMetrics(
    { host: "127.0.0.1", port: 0 },
    async () => {
      scrapes += 1;
      if (scrapes === 1) throw new Error("a bug");
      return "up 1\n";
    },
    (message) => messages.push(message),
  );
  const { port } = server.address() as AddressInfo;
  const scrape = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    return [response.status, await response.text()];
  };
  expect(await scrape()).toEqual([500, ""]);
  expect(await scrape()).toEqual([200, "up 1\n"]);
  expect(messages).toEqual(["a scrape failed: a bug"]);
  server.close();
  server.closeAllConnections();
});
