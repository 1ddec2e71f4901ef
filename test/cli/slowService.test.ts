import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ENDPOINT_OF_V2 } from "../support/endpointOfV2";
import { ended, run, start } from "./command";

/** The longest time without a line, with the command's own start on a busy machine (ms). */
const MOST_MS = 20_000 + 10_000;
const before = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
});

const BODIES: Readonly<Record<string, object>> = {
  "/v2/serverless": { endpoints: [ENDPOINT_OF_V2] },
  "/v2/serverless/ep1": ENDPOINT_OF_V2,
  "/v2/serverless/ep1/workers": { workers: [{ id: "w1", status: "RUNNING", isStale: false }], summary: {} },
};

const HANG = () => {};
/** Sends a response that begins, and never ends. */
function trickle(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" }).write("{");
  const timer = setInterval(() => response.write(" "), 500);
  response.once("close", () => clearInterval(timer));
}

/** Starts a service of which only some paths respond as they should. */
async function startService(healthy: readonly string[], slow: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    if (!healthy.includes(pathname)) return slow(response);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(BODIES[pathname]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const variables = { API_KEY: "key", API: "v2", GRAPHQL_URL: url, REST_URL: url, QUEUE_URL: url };
  for (const [name, value] of Object.entries(variables)) process.env[`SERVERLESS_GPU_${name}`] = value;
  return {
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function timed(...args: string[]) {
  const startedAt = Date.now();
  return { ...(await run(...args)), ms: Date.now() - startedAt };
}

const COMMANDS = [
  ["history", "llama"],
  ["rollback", "llama", "--to", "1", "--yes"],
  ["logs", "llama"],
  ["orphans"],
] as const;

const LIST = ["/v2/serverless"];
const WORKERS = [...LIST, "/v2/serverless/ep1", "/v2/serverless/ep1/workers"];

test.each([
  ["does not respond", [], HANG],
  ["responds without an end", [], trickle],
  ["lists endpoints, and nothing more", LIST, HANG],
  ["lists endpoints, and sends the rest without an end", LIST, trickle],
  ["shows workers, but neither their logs nor releases", WORKERS, HANG],
] as const)("history, rollback, logs and orphans fail within 20 s if the service %s", async (_, healthy, slow) => {
  using _service = await startService(healthy, slow);
  const all = await Promise.all(COMMANDS.map((command) => timed(...command)));
  for (const [at, { code, stdout, stderr, ms }] of all.entries()) {
    expect([COMMANDS[at]?.[0], code, stdout]).toEqual([COMMANDS[at]?.[0], 1, ""]);
    expect(stderr).toMatch(/within \d+ s/);
    expect([COMMANDS[at]?.[0], ms < MOST_MS]).toEqual([COMMANDS[at]?.[0], true]);
    const takesName = COMMANDS[at]?.[0] !== "orphans" && healthy.length === 0;
    expect(stderr.includes("llama is assumed to be an id, because the endpoints could not be listed")).toBe(takesName);
  }
});

test("logs --follow reports that a worker's log does not arrive, and continues", async () => {
  using _service = await startService(WORKERS, HANG);
  const child = start("logs", "llama", "--follow");
  const output = ended(child);
  const said = await new Promise<string>((resolve) => {
    let text = "";
    child.stderr.on("data", (chunk) => {
      text += String(chunk);
      if (text.includes("Still following the log")) resolve(text);
    });
    child.once("close", () => resolve(text));
  });
  child.kill("SIGINT");
  expect(said).toContain("the log of worker w1 of endpoint ep1: no complete response within 30 s");
  expect((await output).code).toBe(0);
});
