import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
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

const REQUESTS = 20;

describe("requests that wait for an earlier one on their connection", () => {
  test.each([
    "client",
    "server",
  ])("requests that wait end when the %s closes the connection, without a warning", async (who) => {
    let [arrived, ended] = [0, 0];
    const server = await listen("127.0.0.1", 0, async ({ signal }) => {
      arrived += 1;
      signal().addEventListener("abort", () => {
        ended += 1;
      });
      return new Promise(() => {});
    });
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(REQUESTS));
    while (arrived < REQUESTS) await sleep(5);
    if (who === "client") {
      socket.destroy();
      for (let tries = 0; tries < 100 && ended < REQUESTS; tries++) await sleep(5);
    }
    await Promise.race([server.close(), sleep(1_000)]);
    process.off("warning", onWarning);
    expect([ended, warnings]).toEqual([REQUESTS, []]);
  });
});
