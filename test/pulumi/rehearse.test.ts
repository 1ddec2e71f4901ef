import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { REHEARSE_COMPILED } from "../support/compiledCode";
import { IS_EVERYWHERE } from "../support/everywhere";
import { createStack, type PulumiStack } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
/** A secret that the program reads from a file. */
const OWN_SECRET = "own-secret-canary-5521";
const TOKEN = "token-that-must-stay-encrypted";

interface Wanted {
  readonly image: string;
  readonly max: number;
  readonly hasVolume: boolean;
  readonly more: string;
}

const BEFORE: Wanted = { image: "ghcr.io/me/llama:1", max: 3, hasVolume: true, more: "" };

const program = ({ image, max, hasVolume, more }: Wanted) => `
const pulumi = require("@pulumi/pulumi");
const fs = require("node:fs");
const { NetworkVolume, Secret, ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
const config = new pulumi.Config();
const token = config.requireSecret("token");
if (process.env.SEEN) fs.appendFileSync(process.env.SEEN, JSON.stringify(process.env) + "\\n");
const template = new ServerlessTemplate("llama", {
  name: "llama-" + config.require("suffix"), imageName: "${image}", env: { TOKEN: pulumi.interpolate\`Bearer \${token}\`, PLAIN: "p" },
});
new Secret("hub", { name: "hub", value: token });
${hasVolume ? 'new NetworkVolume("models", { name: "models", size: 20, dataCenterId: "EU-RO-1" });' : ""}
const endpoint = new ServerlessEndpoint("llama", { templateId: template.id, gpuIds: ["ADA_24"], workersMax: ${max} });
exports.url = endpoint.queueUrl;
exports.token = token;
${more}`;

let emulator: Emulator;
let stack: PulumiStack;
/** Neither the key nor the passphrase. */
const BARE = { PULUMI_CONFIG_PASSPHRASE: "", SERVERLESS_GPU_API_KEY: "" };

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  stack = await createStack({ program: program(BEFORE), env: emulator.env });
  await stack.succeed(["config", "set", "suffix", "prod"]);
  await stack.succeed(["config", "set", "--secret", "token", TOKEN]);
  await stack.up();
});
afterAll(() => emulator.stop());

const rehearse = async (args: readonly string[] = [], env: Readonly<Record<string, string>> = BARE) => {
  const words = [
    COMMAND,
    "check",
    "--rehearse",
    "--stack",
    "dev",
    "--from-state",
    "--json",
    ...args,
    ...REHEARSE_COMPILED,
  ];
  const ended = await stack.exec(process.execPath, words, { env });
  return { ...ended, json: ended.stdout.startsWith("{") ? JSON.parse(ended.stdout) : undefined };
};

/** The state, the config and the program, byte for byte. */
const original = async () => {
  const files = [...(await stack.files())].filter(([name]) => /\/(state|program)\//.test(name));
  return Object.fromEntries(files);
};

/** The arguments that play a load, and its file. */
const LOAD = ["--load", "jobs.csv", "--seeds", "3"];
const JOBS = Array.from({ length: 120 }, (_, index) => `${index * 20},15`).join("\n");

test("A rehearsal of an unchanged program shows no changes, gives the same figures of a load as before, and touches nothing real", async () => {
  await stack.writeFile("jobs.csv", `arrival_s,duration_s\n${JOBS}\n`);
  const before = await original();
  const requests = emulator.journal.requests().length;
  const seen = path.join(stack.scratch, "seen");
  const env = {
    PULUMI_CONFIG_PASSPHRASE: "test",
    AWS_SECRET_ACCESS_KEY: "aws",
    PULUMI_ACCESS_TOKEN: "cloud",
    SEEN: seen,
  };
  const { exitCode, json, output } = await rehearse(["--env", "SEEN", ...LOAD], env);
  expect(output).not.toContain(TOKEN);
  expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
  // The comparison reads the list of endpoints at the copy.
  expect(json.applied).toMatchObject({ changes: [], left: [], requests: 1 });
  expect(json.unknown).toEqual(expect.arrayContaining(["llama: env.TOKEN", "hub: value"]));
  expect(emulator.journal.requests()).toHaveLength(requests);
  expect(await original()).toEqual(before);
  expectNoSecrets(readFileSync(seen, "utf8"));

  const [first, after] = json.load.report.results;
  expect(first).toMatchObject({ title: "Before" });
  expect(after).toEqual({ ...first, title: "After" });
  expect(json.load).toMatchObject({
    isCalibrated: false,
    endpoint: "llama",
    checksum: expect.stringMatching(/^\w{64}$/),
  });
});

/** The program receives neither the key, the backend nor a secret. */
function expectNoSecrets(text: string): void {
  for (const secret of [emulator.apiKey, emulator.url, TOKEN, "AWS_SECRET_ACCESS_KEY", "PULUMI_ACCESS_TOKEN"]) {
    expect(text).not.toContain(secret);
  }
  for (const line of text.trim().split("\n")) {
    const seenEnv = JSON.parse(line);
    expect(seenEnv.PULUMI_BACKEND_URL).not.toContain(path.join(stack.scratch, "state"));
    expect(seenEnv.SERVERLESS_GPU_REHEARSAL_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(seenEnv.PULUMI_CONFIG_PASSPHRASE).not.toBe("test");
  }
}

test("A rehearsal needs neither a key nor a passphrase, and shows what the change updates, rolls out, scales to zero and deletes", async () => {
  const more = `new ServerlessEndpoint("whisper", { templateId: template.id, gpuIds: ["ADA_24"], workersMax: 1 });`;
  await stack.writeProgram(program({ image: "ghcr.io/me/llama:2", max: 0, hasVolume: false, more }));
  const { exitCode, json, output } = await rehearse();
  expect({ exitCode, output: exitCode === 4 ? "" : output }).toEqual({ exitCode: 4, output: "" });
  const short = json.applied.changes.map(
    ({ what, kind, resource }: Record<string, string>) => `${what} ${kind} ${resource}`,
  );
  expect(short.sort()).toEqual([
    "created ServerlessEndpoint whisper",
    "deleted NetworkVolume models",
    "scaled to zero ServerlessEndpoint llama",
    "updated ServerlessTemplate llama",
  ]);
  expect(json.applied).toMatchObject({ left: [], requests: expect.any(Number), limitedS: 0 });
  expect(json.applied.failure).toBeUndefined();
  expect(json.data).toEqual([expect.objectContaining({ kind: "volume-deleted", resource: "models" })]);

  const retained = program({ ...BEFORE, image: "ghcr.io/me/llama:2" })
    .replace("Max: 3 }", "Max: 3 }, { retainOnDelete: true }")
    // A plain variable beside a secret one.
    .replace('PLAIN: "p"', 'PLAIN: "q"');
  await stack.writeProgram(retained);
  const rolledOut = await rehearse();
  // A destroy cannot delete the template of an endpoint that stays. The change does not cause it.
  const [destroy] = rolledOut.json.checks.filter(({ what }: { what: string }) => what === "destroy");
  expect(destroy).toMatchObject({ result: "note", text: expect.stringContaining("it is in use by endpoint") });
  expect(rolledOut.exitCode).toBe(0);
  expect(rolledOut.json.applied.changes).toContainEqual(
    expect.objectContaining({ what: "rolled out", kind: "ServerlessEndpoint", resource: "llama" }),
  );
  expect(rolledOut.json.applied.changes).toContainEqual(
    expect.objectContaining({
      kind: "ServerlessTemplate",
      resource: "llama",
      properties: expect.arrayContaining(["env"]),
    }),
  );
  const failing = await rehearse(["--fault", '{"effect":{"status":400},"match":{"operation":"saveTemplate"}}']);
  expect(failing).toMatchObject({ exitCode: 4, json: { ok: false } });
  expect(failing.json.applied.failure).toContain("llama");
  await stack.writeProgram(program(BEFORE));
});

test("A rehearsal reads the account's records only through lists, and writes nothing there", async () => {
  emulator.journal.clear();
  const words = [COMMAND, "check", "--rehearse", "--stack", "dev", "--json", ...REHEARSE_COMPILED];
  const { exitCode, stdout, output } = await stack.exec(process.execPath, words);
  expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
  expect(JSON.parse(stdout.slice(stdout.indexOf("{"))).applied).toMatchObject({ changes: [], left: [] });
  const operations = new Set(emulator.journal.operations());
  expect([...operations].filter((each) => /save|create|update|delete|run/i.test(each))).toEqual([]);
  expect(operations.size).toBeGreaterThan(0);
});

/** Starts a rehearsal, and calls `stop` when the program has run this often. */
const stopped = async (runs: number, args: readonly string[], stop: (pid: number) => void) => {
  const seen = path.join(stack.scratch, "runs");
  rmSync(seen, { force: true });
  const words = [
    COMMAND,
    "check",
    "--rehearse",
    "--stack",
    "dev",
    "--from-state",
    ...args,
    ...REHEARSE_COMPILED,
    "SEEN",
  ];
  const running = stack.exec(process.execPath, words, {
    env: args.length > 0 ? { SEEN: seen } : { ...BARE, SEEN: seen },
  });
  const count = () => (existsSync(seen) ? readFileSync(seen, "utf8").split("\n").length - 1 : 0);
  while (count() < runs) await sleep(20);
  const found = (await stack.processes()).filter(({ command }) => command.includes(" --rehearse "));
  expect(found.length).toBeGreaterThan(0);
  for (const { pid } of found) stop(pid);
  return running;
};

/** Returns a secret as it may be written, without what depends on its neighbors. */
function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    return text.slice(offset === 0 ? 0 : offset + 1, -1);
  });
  return [
    secret,
    ...inBase64,
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    [...bytes].map((byte) => `%${byte.toString(16)}`).join(""),
    [...secret].join("\0"),
    [...secret].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join(""),
    [...bytes].join(","),
  ];
}

const leftFiles = async () => [...(await stack.files())].filter(([name]) => name.includes("serverless-gpu-rehearsal-"));

test("A rehearsal that is killed leaves no decrypted secret in a file, whatever the step and mode", async () => {
  // A secret that is not of Pulumi's config.
  await stack.writeFile("own.txt", OWN_SECRET);
  const own = 'exports.own = pulumi.secret(fs.readFileSync("own.txt", "utf8"));';
  const variable = 'PLAIN: pulumi.secret(fs.readFileSync("own.txt", "utf8"))';
  await stack.writeProgram(program({ ...BEFORE, more: own }).replace('PLAIN: "p"', variable));
  // Previews come first, then the update.
  // `npm run test:everywhere` kills it at every step.
  const all = [
    [3, ["--with-secrets"]],
    [3, []],
    [1, ["--with-secrets"]],
    [2, ["--with-secrets"]],
    [2, []],
  ] as const;
  for (const [runs, args] of all.slice(0, IS_EVERYWHERE ? all.length : 2)) {
    const { exitCode } = await stopped(runs, args, (pid) => process.kill(pid, "SIGKILL"));
    expect(exitCode).toBeNull();
    await sleep(1000);
    // The next rehearsal removes these files.
    const left = await leftFiles();
    expect(left.length).toBeGreaterThan(0);
    for (const secret of [TOKEN, OWN_SECRET].flatMap(encodingsOf))
      expect(left.filter(([, text]) => text.includes(secret)).map(([name]) => name)).toEqual([]);
  }
  await stack.writeProgram(program(BEFORE));
});

test("A rehearsal that is interrupted stops every process that it started, and removes its files", async () => {
  // The next rehearsal removes what a killed one left.
  const { exitCode } = await stopped(2, [], (pid) => process.kill(pid, "SIGTERM"));
  expect(exitCode).toBe(143);
  // The engine ends its plugins a moment later.
  for (let tries = 0; (await stack.processes()).length > 0 && tries < 200; tries++) await sleep(100);
  expect(await stack.processes()).toEqual([]);
  expect(await leftFiles()).toEqual([]);
});

test("The limits of a rehearsed load apply after a change", async () => {
  await stack.writeProgram(program({ ...BEFORE, max: 1 }).replace("workersMax: 1", "workersMax: 1, idleTimeout: 1"));
  const slower = await rehearse([...LOAD, "--max-p95", "1s"]);
  expect(slower.exitCode).toBe(3);
  expect(slower.json.load.report.exceeded).toEqual([expect.stringContaining("p95 delay can be")]);
  expect(slower.json.applied.changes).toEqual([expect.objectContaining({ what: "updated", resource: "llama" })]);
  await stack.writeProgram(program(BEFORE));
});

test("A rehearsal that only creates resources needs neither the backend nor the passphrase, and says that everything is created", async () => {
  const env = { ...BARE, PULUMI_BACKEND_URL: "file:///does/not/exist", SERVERLESS_GPU_GRAPHQL_URL: "" };
  const words = [COMMAND, "check", "--rehearse", "--stack", "dev", "--creation", "--markdown", ...REHEARSE_COMPILED];
  const { exitCode, stdout, output } = await stack.exec(process.execPath, words, { env });
  expect({ exitCode, output: exitCode === 0 ? "" : output }).toEqual({ exitCode: 0, output: "" });
  expect(stdout).toContain("in the rehearsal of a creation of dev");
  expect(stdout).toContain("created: llama (ServerlessEndpoint)");
  expect(stdout).toContain("This rehearses a creation, not the update that will happen");
});
