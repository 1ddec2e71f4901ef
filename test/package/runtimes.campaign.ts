import { rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import manifest from "../../package.json";
import { startRawServer } from "../support/rawServer";
import { createFolder, install, packInto, run } from "./packed";

jest.setTimeout(300_000);

/**
 * The runtimes other than Node.js that the client works on, as packages that hold their program for
 * Linux on x64.
 */
const RUNTIMES = [
  { name: "Bun", package: "@oven/bun-linux-x64", version: "1.4.5", program: "bin/bun", args: ["run"] },
  { name: "Deno", package: "@deno/linux-x64-glibc", version: "2.9.6", program: "deno", args: ["run", "-A"] },
] as const;

const isHere = process.platform === "linux" && process.arch === "x64";
if (!isHere) console.warn("Skipped: these tests take Bun and Deno from packages that run on Linux on x64 only.");

/** A program that reads the connection from the environment, and prints its result as JSON. */
const program = (body: string) => `
  import * as sdk from "pulumi-serverless-gpu/sdk";
  const failure = (call) => call.then(() => "no error", ({ name, code, status, jobId }) => ({ name, code, status, jobId }));
  const client = sdk.createClient();
  const queue = client.endpoint(process.env.ENDPOINT_ID);
  const counter = client.endpoint(process.env.COUNTER_ID);
  const all = async (items) => { const list = []; for await (const item of items) list.push(item); return list; };
  ${body}
  await client.close();
  console.log(JSON.stringify(result));`;

const queueAt = ({ url }: { readonly url: string }) => ({ SERVERLESS_GPU_QUEUE_URL: url });

const PROGRAMS = {
  "runs and waits for a job": {
    body: `
      const statuses = [];
      const job = await queue.run({ input: { hello: "wörld" } });
      const { output } = await job.wait({ onStatus: (status) => { statuses.push(status); }, timeoutMs: 30_000 });
      const result = [output, statuses.at(-1)];`,
    expected: [{ hello: "wörld" }, "COMPLETED"],
  },
  "runs a job synchronously, and reads a response": {
    body: `
      const { output } = await queue.runSync({ input: { n: 1 } });
      const { data, response } = await queue.health().withResponse();
      const result = [output, data.jobs.completed > 0, response.status];`,
    expected: [{ n: 1 }, true, 200],
  },
  "streams a job": {
    body: `
      const job = await counter.run({ input: { count: 3 } });
      const result = (await all(job.stream())).map(({ output }) => output);`,
    expected: [0, 1, 2],
  },
  "streams an OpenAI response": {
    body: `
      const body = { model: "m", messages: [{ role: "user", content: "to be" }] };
      const chunks = await all(await queue.openaiStream("v1/chat/completions", { body }));
      const result = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");`,
    expected: "to be",
  },
  "runs many jobs": {
    body: `
      const results = await all(queue.runMany(Array.from({ length: 50 }, (_, n) => ({ n })), { concurrency: 20 }));
      const result = results.map(({ output }) => output.n).sort((a, b) => a - b).length;`,
    expected: 50,
  },
  "uses the management API": {
    body: `
      const { id } = await client.endpoints.create({ name: "made", gpuIds: "AMPERE_16", templateId: "t" });
      await client.endpoints.delete(id);
      const result = await failure(client.endpoints.get(id));`,
    expected: { name: "NotFoundError", code: "NOT_FOUND" },
  },
  "has typed errors": {
    body: `
      const bad = sdk.createClient({ ...sdk.settingsFromEnvironment(), apiKey: "not-the-key" });
      const away = sdk.createClient({ apiKey: "k", queueUrl: "http://127.0.0.1:1", retry: { maxAttempts: 1 } });
      const result = [
        await failure(bad.endpoint(queue.endpointId).run({ input: { prompt: 1 } })),
        await failure(bad.endpoints.list()),
        await failure(queue.status("nowhere", { maxRetries: 0 })),
        await failure(away.endpoint("e").health()),
        await failure(queue.health({ timeOutMs: 5 })),
      ];
      await Promise.all([bad.close(), away.close()]);`,
    expected: [
      { name: "AuthenticationError", code: "AUTHENTICATION", status: 401 },
      { name: "AuthenticationError", code: "AUTHENTICATION", status: expect.any(Number) },
      { name: "NotFoundError", code: "NOT_FOUND", status: 404, jobId: "nowhere" },
      { name: "CodedError", code: "CANNOT_CONNECT" },
      { name: "InvalidInputError", code: "INVALID_INPUT" },
    ],
  },
  "ends waits and streams when it closes, or on an abort": {
    body: `
      const slow = await counter.run({ input: { sleepMs: 20_000 } });
      const waits = [failure(slow.wait()), failure(slow.wait({ signal: AbortSignal.timeout(300) }))];
      setTimeout(() => client.close(), 600);
      const result = await Promise.all(waits);`,
    expected: [{ name: "CodedError", code: "CLIENT_CLOSED" }, expect.objectContaining({ name: "TimeoutError" })],
  },
};

(isHere ? describe : describe.skip).each(RUNTIMES)("the packed package on $name $version", (runtime) => {
  let emulator: Emulator;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  /** Runs a program with the URLs of the emulator, and further variables. */
  async function runProgram(body: string, more: NodeJS.ProcessEnv = {}): Promise<unknown> {
    await writeFile(path.join(folder, "program.mjs"), program(body));
    const file = path.join(folder, "node_modules", runtime.package, runtime.program);
    const options = { cwd: folder, env: { ...env, ...more }, timeout: 60_000 };
    return JSON.parse((await run(file, [...runtime.args, "program.mjs"], options)).stdout);
  }

  beforeAll(async () => {
    folder = await createFolder();
    const dependencies = {
      undici: manifest.dependencies.undici,
      "pulumi-serverless-gpu": `file:${await packInto(folder)}`,
      [runtime.package]: runtime.version,
    };
    await install("npm", folder, dependencies, ["--omit=peer"]);
    emulator = await startEmulator({
      profile: "contract",
      coldStartMs: 0,
      handlers: {
        async *counter({ input }, { sleep }) {
          const { count = 0, sleepMs = 0 } = input as { count?: number; sleepMs?: number };
          await sleep(sleepMs);
          for (let n = 0; n < count; n++) yield n;
        },
      },
    });
    const fields = { gpuIds: "AMPERE_16", templateId: "t", workersMin: 1, workersMax: 1 };
    const { id } = emulator.endpoints.create({ ...fields, name: "worker" });
    const { id: counterId } = emulator.endpoints.create({ ...fields, name: "counter" });
    const home = { HOME: folder, PATH: process.env.PATH };
    env = { ...home, ...emulator.env, ENDPOINT_ID: id, COUNTER_ID: counterId };
  });

  afterAll(async () => {
    await emulator?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("the client is the version that runs", async () => {
    const print = "console.log(JSON.stringify(globalThis.Bun?.version ?? Deno.version.deno))";
    await writeFile(path.join(folder, "version.mjs"), print);
    const file = path.join(folder, "node_modules", runtime.package, runtime.program);
    const { stdout } = await run(file, [...runtime.args, "version.mjs"], { cwd: folder, env });
    expect(JSON.parse(stdout)).toBe(runtime.version);
  });

  test.each(Object.entries(PROGRAMS))("%s", async (_, { body, expected }) => {
    expect(await runProgram(body)).toEqual(expected);
  });

  test("the client sends a submit whose response is lost only once", async () => {
    let submits = 0;
    await using server = await startRawServer((request) => {
      submits++;
      request.socket.destroy();
    });
    const result = await runProgram(
      "const result = await failure(queue.run({ input: { prompt: 1 } }));",
      queueAt(server),
    );
    expect(result).toEqual({ name: "SubmitUncertainError", code: "SUBMIT_UNCERTAIN" });
    expect(submits).toBe(1);
  });

  test("the client refuses at once a dispatcher that sends nothing, and accepts one from undici", async () => {
    const body = `
      const { message } = await import("undici").then(({ Agent }) => {
        try { return sdk.createClient({ apiKey: "k", dispatcher: new Agent() }) && { message: "accepted" }; } catch (error) { return error; }
      });
      const { default: { Agent } } = await import("undici/index.js");
      const mine = sdk.createClient({ ...sdk.settingsFromEnvironment(), dispatcher: new Agent() });
      const { workers } = await mine.endpoint(queue.endpointId).health();
      const result = [message, typeof workers.running];`;
    const isBun = runtime.name === "Bun";
    expect(await runProgram(body)).toEqual([
      isBun ? expect.stringMatching(/Bun has a module of its own named "undici".*undici\/index\.js/) : "accepted",
      "number",
    ]);
  });

  test("the client uses the proxy that the environment names", async () => {
    let tunnels = 0;
    await using proxy = await startRawServer(() => {});
    proxy.server.on("connect", (request, socket) => {
      tunnels++;
      const { hostname, port } = new URL(`http://${request.url}`);
      const target = connect(Number(port), hostname, () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
      socket.pipe(target).pipe(socket);
      for (const end of [socket, target]) end.on("error", () => end.destroy());
    });
    const body = "const { output } = await queue.runSync({ input: { n: 1 } }); const result = output;";
    expect(await runProgram(body, { HTTP_PROXY: proxy.url })).toEqual({ n: 1 });
    expect(tunnels).toBeGreaterThan(0);
  });

  test("the client ends a request that hangs, and its connection", async () => {
    let closed = 0;
    await using server = await startRawServer((request) => request.socket.once("close", () => closed++));
    const body = `
      const result = [
        await failure(queue.health({ timeoutMs: 500, maxRetries: 0 })),
        await failure(queue.health({ signal: AbortSignal.timeout(500) })),
      ];`;
    expect(await runProgram(body, queueAt(server))).toEqual([
      { name: "RequestTimeoutError", code: "REQUEST_TIMEOUT" },
      expect.objectContaining({ name: "TimeoutError" }),
    ]);
    expect(closed).toBe(2);
  });
});
