import path from "node:path";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator";
import { createStack, endpointsIn } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const SECRET = "planted-secret-9e3b";
/** Longer than the time after which a wait says why, in seconds. */
const TIMEOUT = 45;

const emulators: Emulator[] = [];
afterAll(() => Promise.all(emulators.map((emulator) => emulator.stop())));

async function start(options: EmulatorOptions, api: "graphql" | "v2") {
  const emulator = await startEmulator({ profile: "observed", coldStartMs: 0, drainMs: 100, ...options });
  emulators.push(emulator);
  return { emulator, env: { ...emulator.env, SERVERLESS_GPU_API: api } };
}

/** A program with one endpoint that has a secret variable, and what follows it. */
const program = (settings: object, then = "") => `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, SmokeTest } = require("pulumi-serverless-gpu");
const endpoint = new ServerlessEndpoint("one", {
  name: "one", gpuIds: "ADA_24", imageName: "app:1", env: { API_TOKEN: pulumi.secret("${SECRET}") },
  ...${JSON.stringify(settings)},
});
${then}`;

// Each waits for most of a minute, so they run at once, with an engine and an emulator of their
// own.
test("awaitReady, a drain, a smoke test and explain --stack report why they are waiting", async () => {
  const [ready, drained, tested] = await Promise.all([awaitsReady("v2"), drains("graphql"), smokeTests("v2")]);
  expect(ready.output).toMatch(
    /why it waits: its GPU pools are sold out in the data centers that it allows \(likely\)\. Add GPU pools/,
  );
  // The engine prints each line while it waits, and again at its end.
  expect(new Set(ready.output.match(/why it waits: [^(]*/g)).size).toBe(1);
  expect(ready.output).toMatch(
    /0 of 1 workers ready after 45 s[\s\S]*The reason, as seen \d+ s ago: its GPU pools are sold out/,
  );
  expect(ready.explained).toContain("endpoint one (");
  expect(ready.explained).toContain("sold out");
  expect(drained.output).toMatch(/why it waits: its workers still run jobs \(likely\)\. Wait, cancel the jobs/);
  expect(drained.output).toMatch(
    /was not deleted within 45 s[\s\S]*The reason, as seen \d+ s ago: its workers still run jobs/,
  );
  expect(tested.output).toMatch(/why it waits: no worker can start, because its workersMax is 0 \(certain\)/);
  expect(tested.output).toMatch(/did not end within 45 s[\s\S]*Most likely: no worker can start/);
  for (const { output, keys } of [ready, drained, tested]) {
    for (const secret of [SECRET, ...keys]) expect(output).not.toContain(secret);
  }
}, 600_000);

async function awaitsReady(api: "graphql" | "v2") {
  const { emulator, env } = await start({}, api);
  emulator.faults.add({ match: { pool: "ADA_24" }, effect: { soldOut: true } });
  const settings = { workersMin: 1, awaitReady: true, awaitReadyTimeout: TIMEOUT };
  const stack = await createStack({ program: program(settings), env });
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  expect(endpointsIn(await stack.exportState())).toHaveLength(1);
  const { stdout, stderr } = await stack.exec(process.execPath, [COMMAND, "explain", "--stack"], { env });
  return { output, explained: stdout + stderr, keys: [emulator.apiKey] };
}

async function drains(api: "graphql" | "v2") {
  const { emulator, env } = await start({ handlers: { default: () => new Promise(() => {}) } }, api);
  const stack = await createStack({ program: program({ workersMin: 1, drainTimeout: TIMEOUT }), env });
  expect((await stack.run(["up", "--yes", "--skip-preview"])).exitCode).toBe(0);
  const id = emulator.endpoints.list()[0]?.id;
  await fetch(`${emulator.url}/v2/${id}/run`, {
    method: "POST",
    body: JSON.stringify({ input: { prompt: "x" } }),
    headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
  });
  const { exitCode, output } = await stack.run(["destroy", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  return { output, keys: [emulator.apiKey] };
}

async function smokeTests(api: "graphql" | "v2") {
  const { emulator, env } = await start({}, api);
  const then = `new SmokeTest("responds", { endpointId: endpoint.endpointId, input: { prompt: "Hi" }, timeout: ${TIMEOUT} });`;
  const stack = await createStack({ program: program({ workersMax: 0 }, then), env });
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  return { output, keys: [emulator.apiKey] };
}
