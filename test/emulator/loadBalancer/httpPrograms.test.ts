import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import path from "node:path";
import { CANARY } from "../../support/emulated";
import { plain, startLoadBalanced } from "../../support/loadBalanced";

const program = { command: `'${process.execPath}' httpWorker.js`, cwd: path.join(__dirname, "../../support/workers") };

describe("a program", () => {
  test("[lb.ports] [lb.chosen-ports] a program listens on PORT, and is ready once /ping responds with 200", async () => {
    await using app = await startLoadBalanced({ handler: program, fields: { workersMax: 1 } });
    const sent = randomBytes(3_000_000);
    const response = await plain(app, "/v1/echo?x=1", { method: "POST", body: sent });
    expect(response.headers.get("x-path")).toBe("/v1/echo?x=1");
    expect(response.headers.get("x-pod")).toBe(response.headers.get("x-runpod-worker-id"));
    expect(Buffer.from(await response.arrayBuffer()).equals(sent)).toBe(true);
    const env = (await (await plain(app, "/env")).json()) as Record<string, string>;
    expect(env.PORT).toBe(env.PORT_HEALTH);
    expect(env.RUNPOD_ENDPOINT_ID).toBe(app.id);
    expect(Object.keys(env).filter((name) => name.startsWith("RUNPOD_WEBHOOK"))).toEqual([]);
    expect(app.emulator.journal.workerOutput().map(({ line }) => line.replace(/^.*: the /, ""))).toContain(
      "worker is still starting",
    );
  });

  test("[lb.ports] a program answers health checks on another port and path if its environment says so", async () => {
    const env = [
      { key: "PORT", value: "8000" },
      { key: "PORT_HEALTH", value: "8001" },
      { key: "HEALTH_CHECK_PATH", value: "/healthy" },
    ];
    const seed = { templates: [{ id: "t", name: "t", imageName: "i", env, ports: "8000/http,8001/http" }] };
    await using app = await startLoadBalanced({ handler: program, emulator: { seed } });
    const seen = (await (await plain(app, "/env")).json()) as Record<string, string>;
    expect(seen.PORT).not.toBe(seen.PORT_HEALTH);
    expect(seen.HEALTH_CHECK_PATH).toBe("/healthy");
  });

  test.each([
    "GET",
    "DELETE",
    "OPTIONS",
    "HEAD",
    "POST",
  ])("[lb.pass-on] a program receives the chunked body of a %s request, and never as a separate request", async (method) => {
    await using app = await startLoadBalanced({ handler: program, fields: { workersMin: 1, workersMax: 1 } });
    const smuggled = `GET /exit HTTP/1.1\r\nHost: x\r\n\r\n`;
    const headers = { authorization: `Bearer ${CANARY}`, "transfer-encoding": "chunked" };
    const outgoing = request(`${app.emulator.url}/lb/${app.id}/echo`, { method, headers });
    outgoing.write(smuggled.slice(0, 10));
    outgoing.end(smuggled.slice(10));
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    expect(incoming.statusCode).toBe(200);
    const chunks: Buffer[] = await incoming.toArray();
    expect(Buffer.concat(chunks).toString()).toBe(method === "HEAD" ? "" : smuggled);
    expect((await plain(app, "/after")).status).toBe(200);
  });

  test("[lb.connection] a program receives no connection-specific headers, and its trailers and 1xx responses are not forwarded", async () => {
    await using app = await startLoadBalanced({ handler: program, fields: { workersMin: 1, workersMax: 1 } });
    const headers = { authorization: `Bearer ${CANARY}`, te: "trailers", connection: "te" };
    const outgoing = request(`${app.emulator.url}/lb/${app.id}/trailers`, { headers }).end();
    let hints = 0;
    outgoing.on("information", () => hints++);
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    expect(await incoming.toArray().then((chunks) => Buffer.concat(chunks).toString())).toBe("te: none");
    expect([incoming.headers.trailer, incoming.trailers, hints]).toEqual([undefined, {}, 0]);
  });

  test("[lb.websocket] a program receives no WebSocket upgrades, which return 501", async () => {
    await using app = await startLoadBalanced({ handler: program });
    const headers = { authorization: `Bearer ${CANARY}`, connection: "Upgrade", upgrade: "websocket" };
    const outgoing = request(`${app.emulator.url}/lb/${app.id}/ws`, { headers }).end();
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
    expect([incoming.statusCode, incoming.headers["x-runpod-worker-id"]]).toEqual([501, undefined]);
    incoming.resume();
  });

  test("[lb.unreachable] a program returns 502 if it switches protocols without being asked", async () => {
    await using app = await startLoadBalanced({ handler: program, fields: { workersMin: 1, workersMax: 1 } });
    const { status } = await plain(app, "/switch");
    expect(status).toBe(502);
  }, 30_000);

  test("[lb.unreachable] a program is replaced when it ends, and its open request returns 502", async () => {
    await using app = await startLoadBalanced({ handler: program, fields: { workersMin: 1, workersMax: 1 } });
    expect((await plain(app, "/exit")).status).toBe(502);
    // The service finds out a moment later.
    let response = await plain(app, "/after");
    while (response.status === 502) response = await plain(app, "/after");
    expect(response.status).toBe(200);
    const { length } = app.emulator.journal.workerOutput().filter(({ line }) => line.endsWith(": started"));
    expect(length).toBe(2);
  });
});
