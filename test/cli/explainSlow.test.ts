import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { ENDPOINT_OF_V2 } from "../support/endpointOfV2";
import { run } from "./command";

/** The longest time that the command may take, with its own start on a busy machine (ms). */
const MOST_MS = 20_000 + 8_000;
const before = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  process.env.PATH = before.PATH;
});

const WORKER = { id: "w1", status: "INITIALIZING", isStale: false };

/** Responses of a service that is in order, by path. */
const BODIES: Readonly<Record<string, object>> = {
  "/v2/serverless": { endpoints: [ENDPOINT_OF_V2] },
  "/v2/serverless/ep1": ENDPOINT_OF_V2,
  "/v2/serverless/ep1/workers": { workers: [WORKER], summary: {} },
  "/v2/serverless/ep1/releases": { releases: [], rollout: {} },
  "/v2/ep1/health": {
    jobs: { inQueue: 1, inProgress: 0, completed: 0, failed: 0, retried: 0 },
    workers: { idle: 0, running: 0, initializing: 1 },
  },
};

type Handler = (request: IncomingMessage, response: ServerResponse, path: string) => void;

function respond(_: IncomingMessage, response: ServerResponse, path: string): void {
  const body = BODIES[path];
  response.writeHead(body ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
}

async function explained(handler: Handler, ...args: string[]) {
  const server = createServer((request, response) =>
    handler(request, response, new URL(request.url ?? "/", "http://x").pathname),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const variables = { API_KEY: "key", API: "v2", GRAPHQL_URL: url, REST_URL: url, QUEUE_URL: url };
  for (const [name, value] of Object.entries(variables)) process.env[`SERVERLESS_GPU_${name}`] = value;
  const startedAt = Date.now();
  try {
    return { ...(await run("explain", ...args)), ms: Date.now() - startedAt };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("explain exits within 20 s and reports what it could not read if the service answers no request", async () => {
  const { code, stdout, ms } = await explained(() => {}, "ep1");
  expect(code).toBe(0);
  expect(stdout).toContain("the data that the service shows does not explain why");
  for (const part of ["the endpoint", "each worker", "its queue"]) expect(stdout).toContain(`not seen: ${part}`);
  expect(ms).toBeLessThan(MOST_MS);
});

test("explain --stack takes at most 20 s for 60 endpoints if the service hangs, and prints each result as soon as it is ready", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "explain-"));
  const resources = Array.from({ length: 60 }, (_, at) => ({
    type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint",
    id: `ep${at}`,
  }));
  const state = JSON.stringify({ deployment: { resources } });
  writeFileSync(path.join(folder, "pulumi"), `#!/bin/sh\necho '${state}'\n`, { mode: 0o755 });
  process.env.PATH = `${folder}:${process.env.PATH}`;
  const { code, stdout, ms } = await explained(() => {}, "--stack");
  rmSync(folder, { recursive: true });
  expect([code, stdout.match(/^endpoint ep\d+: /gm)?.length]).toEqual([0, 60]);
  expect(ms).toBeLessThan(MOST_MS);
});

test("explain reads only the beginning of an endless log, and says so", async () => {
  const line = { source: "container", line: `password=abc ${"x".repeat(200_000)}`, ts: "2026-11-21T10:00:00Z" };
  const event = `id: 1\ndata: ${JSON.stringify(line)}\n\n`;
  const { stdout, ms } = await explained(
    (request, response, path) => {
      if (!path.endsWith("/logs")) return respond(request, response, path);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const flood = () => {
        while (!response.destroyed && response.write(event));
        if (!response.destroyed) response.once("drain", flood);
      };
      flood();
    },
    "ep1",
    "--logs",
  );
  expect(stdout).toContain("and not the newest, because the log is too long");
  expect(stdout).toContain("password=[redacted]");
  expect(ms).toBeLessThan(MOST_MS);
});

test("explain reports that the locations of network volumes could not be read", async () => {
  const { stdout } = await explained((_, response, path) => {
    if (path === "/v2/network-volumes") return void response.writeHead(500).end("{}");
    const body = structuredClone(BODIES[path]) as Record<string, unknown> | undefined;
    if (path === "/v2/serverless/ep1") Object.assign(body ?? {}, { networkVolumes: ["vol1"] });
    if (path.endsWith("/workers")) Object.assign(body ?? {}, { workers: [] });
    if (path.endsWith("/health")) Object.assign(body ?? {}, { workers: { idle: 0, running: 0 } });
    if (path === "/v2/catalog/gpus") return void response.end(JSON.stringify({ gpus: [] }));
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
  }, "ep1");
  expect(stdout).toContain("not seen: the data centers of its network volumes: ");
});
