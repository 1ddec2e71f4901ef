import { once } from "node:events";
import { createServer } from "node:net";
import { type Emulator, startEmulator } from "../../../emulator";
import { ended, firstOutput, run, start } from "../command";

let emulator: Emulator;
const before = { ...process.env };

beforeEach(async () => {
  const env = [{ key: "HF_TOKEN", value: "planted-secret-77aa" }];
  emulator = await startEmulator({ profile: "observed" });
  Object.assign(process.env, emulator.env);
  emulator.seed({
    endpoints: [
      { id: "llama1234567", name: "prod-llama", templateId: "t", gpuIds: "ADA_24", env },
      { id: "tests1234567", name: `dev-${emulator.apiKey}`, templateId: "t", gpuIds: "ADA_24" },
    ],
  });
});
afterEach(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  await emulator.stop();
});

/** Starts the command, and returns the URL that it prints. */
async function serve(...args: string[]) {
  const child = start("metrics", "--listen", "0", ...args);
  const output = ended(child);
  return { child, output, url: (await firstOutput(child)).trim() };
}

/** Scrapes until the queues have been read. */
async function scraped(url: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const text = await (await fetch(url)).text();
    if (text.includes("serverless_gpu_endpoint_jobs{")) return text;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the queues were never read");
}

test("metrics serves the values that it reads, without keys or secrets, until it is interrupted", async () => {
  const { child, output, url } = await serve();
  const text = await scraped(url);
  expect(text).toContain(
    'endpoint_info{endpoint_id="llama1234567",name="prod-llama",type="QUEUE",scaler_type="QUEUE_DELAY"} 1',
  );
  expect(text).toContain('endpoint_id="tests1234567"');
  expect((await fetch(url.replace("metrics", "other"))).status).toBe(404);
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
  child.kill("SIGTERM");
  const { code, stdout, stderr } = await output;
  expect(code).toBe(0);
  for (const secret of [emulator.apiKey, "planted-secret-77aa"]) expect(text + stdout + stderr).not.toContain(secret);
});

test("metrics ends at once if it is interrupted during the first read", async () => {
  emulator.faults.add({ match: { interface: "graphql" }, effect: { hang: true } });
  const child = start("metrics", "--listen", "0");
  const output = ended(child);
  while (emulator.journal.requests({ outcome: "pending" }).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const from = performance.now();
  child.kill("SIGTERM");
  const { code, stdout } = await output;
  expect([code, stdout, performance.now() - from < 5000]).toEqual([0, "", true]);
});

test("metrics --filter reads only endpoints with a matching name", async () => {
  const { child, output, url } = await serve("--filter", "prod-*");
  expect(await scraped(url)).not.toContain("tests1234567");
  child.kill("SIGINT");
  expect((await output).code).toBe(0);
});

test("metrics reports why it cannot start if the port is in use, the key is wrong or the usage is invalid", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  const taken = await run("metrics", "--listen", String(port));
  other.close();
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining(`cannot listen on 127.0.0.1:${port}`)]);
  process.env.SERVERLESS_GPU_API_KEY = "wrong-key-1234567890";
  const wrong = await run("metrics", "--listen", "0");
  expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
  expect(wrong.stderr).toMatch(/key/);
  expect(wrong.stderr).not.toContain("wrong-key-1234567890");
  expect((await run("metrics", "--listen", "nowhere")).code).toBe(2);
  expect((await run("metrics", "--stack", "dev", "--filter", "a")).code).toBe(2);
});
