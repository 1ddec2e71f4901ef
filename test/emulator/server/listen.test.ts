import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ServerResponse } from "node:http";
import { stream } from "../../../emulator/io/http";
import { listen } from "../../../emulator/server/listen";

test("a stream to a slow client leaves no listeners behind", async () => {
  let response: ServerResponse | undefined;
  const onStart = (message: unknown) => {
    response = (message as { response: ServerResponse }).response;
  };
  subscribe("http.server.request.start", onStart);
  const listeners: number[] = [];
  async function* chunks() {
    for (let count = 0; count < 40; count++) {
      listeners.push(response?.listenerCount("close") ?? 0);
      yield "x".repeat(1_000_000);
    }
  }
  const server = await listen("127.0.0.1", 0, async () => stream(200, "text/plain", chunks()));
  try {
    const body = await (await fetch(server.url)).text();
    expect(body).toHaveLength(40_000_000);
    expect(listeners).toHaveLength(40);
    expect(new Set(listeners)).toEqual(new Set([listeners[0]]));
    expect(listeners[0]).toBeGreaterThan(0);
  } finally {
    unsubscribe("http.server.request.start", onStart);
    await server.close();
  }
});
