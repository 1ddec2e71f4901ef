import { readFileSync } from "node:fs";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { REHEARSE_COMPILED } from "../support/compiledCode";
import { attemptsIn, hasNamespaces, spawn, withoutNetwork } from "../support/withoutNetwork";
import { createStack, type PulumiStack } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const TOKEN = "token-that-must-stay-encrypted";
const OTHER_KEY = "other-key-canary-8841";
/** An address that leads nowhere, and which nothing may try. */
const ELSEWHERE = "http://198.51.100.7";

const program = `
const pulumi = require("@pulumi/pulumi");
const fs = require("node:fs");
const { Secret, ServerlessEndpoint, ServerlessGpuProvider, ServerlessTemplate, getEndpointOutput } = require("pulumi-serverless-gpu");
const config = new pulumi.Config();
const url = config.require("url");
if (process.env.SEEN) fs.appendFileSync(process.env.SEEN, JSON.stringify({ env: process.env, config: pulumi.runtime.allConfig() }) + "\\n");
const template = new ServerlessTemplate("llama", {
  name: "llama", imageName: "ghcr.io/me/llama:1", env: { TOKEN: config.requireSecret("token") },
});
const llama = new ServerlessEndpoint("llama", { templateId: template.id, gpuIds: ["ADA_24"], workersMax: 2 }, { protect: true });
const provider = new ServerlessGpuProvider("eu", {
  apiKey: config.requireSecret("otherKey"), graphqlUrl: url, restUrl: url, queueUrl: url,
});
new ServerlessEndpoint("whisper", {
  templateId: "t-1", gpuIds: ["ADA_24"], workersMax: 1, name: fs.readFileSync("greeting.txt", "utf8"),
}, { provider, ignoreChanges: ["idleTimeout"] });
exports.found = getEndpointOutput({ id: llama.id }).workersMax;
`;

let emulator: Emulator;
let other: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  other = await startEmulator({ profile: "contract", apiKey: OTHER_KEY, drainMs: 0, coldStartMs: 0 });
  // The key and the URLs are in the config, so that the copy could have them.
  stack = await createStack({ program });
  await stack.writeFile("greeting.txt", "hello");
  const plain = { apiKey: emulator.apiKey, graphqlUrl: emulator.url, restUrl: emulator.url, queueUrl: emulator.url };
  const named = Object.entries(plain).map(([name, value]) => [`serverless-gpu:${name}`, value]);
  await stack.setConfig({ ...Object.fromEntries(named), url: other.url });
  await stack.setConfig({ token: TOKEN, otherKey: OTHER_KEY }, { secret: true });
  await stack.up();
  const away = named.filter(([name]) => name !== "serverless-gpu:apiKey").map(([name]) => [name, ELSEWHERE]);
  await stack.setConfig({ ...Object.fromEntries(away), url: ELSEWHERE });
});
afterAll(() => Promise.all([emulator.stop(), other.stop()]));

const original = async () =>
  Object.fromEntries([...(await stack.files())].filter(([name]) => /\/(state|program)\//.test(name)));

const without = hasNamespaces ? test : test.skip;

without("the namespace has no network, and counts attempts to leave it", () => {
  const attempt = (url: string) =>
    spawn([process.execPath, "-e", `fetch("${url}", { signal: AbortSignal.timeout(9000) }).catch(() => {})`]);
  expect(attemptsIn(attempt(ELSEWHERE).stderr)).toBe(1);
  expect(attemptsIn(attempt("http://127.0.0.1:9").stderr)).toBe(0);
});

without("Without a network, nothing tries to leave, whatever the config and an explicit provider say", async () => {
  const before = await original();
  const counts = [emulator.journal.requests().length, other.journal.requests().length];
  for (const mode of [[], ["--with-secrets"]]) {
    const seen = path.join(stack.scratch, `seen${mode.length}`);
    const words = [
      process.execPath,
      COMMAND,
      "check",
      "--rehearse",
      "--stack",
      "dev",
      "--from-state",
      "--json",
      ...mode,
    ];
    const [command, args] = withoutNetwork([...words, ...REHEARSE_COMPILED, "SEEN"]);
    const { exitCode, stdout, stderr } = await stack.exec(command, args, { env: { SEEN: seen } });
    expect({ exitCode, stderr: exitCode === 0 && attemptsIn(stderr) === 0 ? "" : stderr }).toEqual({
      exitCode: 0,
      stderr: "",
    });
    const { applied } = JSON.parse(stdout);
    expect(applied).toMatchObject({ changes: [], left: [], protectedResources: ["llama"] });
    expect(applied.destroyFailure).toBeUndefined();
    // The program gets the secrets of a trusted branch, but never a key.
    const text = readFileSync(seen, "utf8");
    expect(text.includes(TOKEN)).toBe(mode.length > 0);
    for (const key of [emulator.apiKey, OTHER_KEY]) expect(text).not.toContain(key);
    expect(stdout + stderr).not.toContain(TOKEN);
  }
  expect([emulator.journal.requests().length, other.journal.requests().length]).toEqual(counts);
  expect(await original()).toEqual(before);
});

test("A wrong passphrase and a variable that could be a key are refused before anything starts", async () => {
  const words = [COMMAND, "check", "--rehearse", "--stack", "dev", "--from-state"];
  const wrong = await stack.exec(process.execPath, [...words, "--with-secrets"], {
    env: { PULUMI_CONFIG_PASSPHRASE: "wrong" },
  });
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    1,
    expect.stringMatching(/dev cannot be (read|decrypted).*passphrase/s),
  ]);
  const named = await stack.exec(process.execPath, [...words, "--env", "SERVERLESS_GPU_API_KEY"]);
  expect([named.exitCode, named.stderr]).toEqual([1, expect.stringContaining("sets the variables of Pulumi")]);
  expect((await stack.files()).size).toBeGreaterThan(0);
});
