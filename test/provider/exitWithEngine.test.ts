import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { engineAddress, watchServer } from "../../provider/engine/exitWithEngine";

test.each([
  [["node", "/cache/pulumi-resource-pulumi-nodejs.cjs", "127.0.0.1:40123"], "127.0.0.1:40123"],
  [["node", "cmd/dynamic-provider", "127.0.0.1:1", "127.0.0.1:2"], "127.0.0.1:2"],
  [["node", "cmd/dynamic-provider", "[::1]:7"], "[::1]:7"],
  [["node", "jest", "--testPathPatterns=a:5"], undefined],
  [["node", "dir:80/index.js"], undefined],
  [["node", "127.0.0.1:99999"], undefined],
])("the engine's host and port among %j are %s", (argv, address) => {
  expect(engineAddress(argv)).toBe(address);
});

describe("a watched server", () => {
  const addressOf = (server: { address(): unknown }) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

  test("the end of the engine is detected", async () => {
    const server = createHttp2Server();
    const sessions = new Set<{ destroy(): void }>();
    server.on("session", (session) => sessions.add(session));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const gone = new Promise<void>((resolve) => watchServer(addressOf(server), resolve));
    await once(server, "session");
    server.close();
    for (const session of sessions) session.destroy();
    await gone;
  });

  test("a server that closes every connection is reconnected to and does not count as gone", async () => {
    let connections = 0;
    const server = createServer((socket: Socket) => {
      connections += 1;
      socket.destroy();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    let isGone = false;
    const gone = new Promise<void>((resolve) =>
      watchServer(addressOf(server), () => {
        isGone = true;
        resolve();
      }),
    );
    while (connections < 3) await sleep(50);
    expect(isGone).toBe(false);
    server.close();
    await gone;
  });

  test("a server that never existed counts as gone", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = addressOf(server);
    server.close();
    await new Promise<void>((resolve) => watchServer(address, resolve));
  });
});
