import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { version } from "../../package.json";
import { MINIMUM_VERSION } from "../../tools/pulumi-cli/find";
import { AFTER_THE_SAVE, killAt, start } from "../support/rollOutRuns";
import { programOf, serving } from "../support/rollOuts";
import { startScriptedServer } from "../support/scriptedServer";
import { createStack, endpointsIn, type PulumiStack, type State } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const CANARY = "canary-key-d0c7012a";

interface Report {
  readonly version: string;
  readonly ok: boolean;
  readonly checks: readonly { check: string; status: string; found: string; fix?: string }[];
}

let emulator: Emulator;
let stack: PulumiStack;
/** The URLs only. Each test sets the key. */
let addresses: Record<string, string>;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", apiKey: CANARY });
  const { SERVERLESS_GPU_API_KEY, ...others } = emulator.env;
  addresses = others;
  stack = await createStack();
  await stack.writeFile("package.json", JSON.stringify({ dependencies: { "pulumi-serverless-gpu": "*" } }));
});

afterAll(() => emulator.stop());

/** Runs `doctor --json` and returns its checks by name, after verifying that it shows no key. */
async function doctor(
  env: Record<string, string> = { ...addresses, SERVERLESS_GPU_API_KEY: CANARY },
  { of = stack, cwd = of.folder }: { readonly of?: PulumiStack; readonly cwd?: string } = {},
) {
  const ended = await of.exec(process.execPath, [COMMAND, "doctor", "--json"], { env, cwd });
  expect(ended.output).not.toContain("canary");
  expect(ended.stderr).toBe("");
  const report: Report = JSON.parse(ended.stdout);
  expect(ended.exitCode).toBe(report.ok ? 0 : 1);
  expect(report.ok).toBe(report.checks.every(({ status }) => status !== "failed"));
  for (const { status, fix } of report.checks) expect(fix !== undefined).toBe(/failed|warning/.test(status));
  return Object.fromEntries(report.checks.map(({ check, ...finding }) => [check, finding]));
}

test("doctor reports no problem for a correct setup, as text and as JSON", async () => {
  const env = { ...addresses, SERVERLESS_GPU_API_KEY: CANARY };
  const checks = await doctor(env);
  expect(Object.keys(checks)).toEqual([
    "node",
    "pulumi",
    "pulumi-sdk",
    "package",
    "config",
    "addresses",
    "api",
    "key",
    "account",
    "names",
    "clock",
    "versions",
    "state",
  ]);
  // The published contract does not show the account's id.
  const { account, ...others } = checks;
  expect(account).toMatchObject({ status: "skipped", found: expect.stringContaining("cannot be read") });
  for (const finding of Object.values(others)) expect(finding).toMatchObject({ status: "ok" });
  expect(checks.package?.found).toContain(version);
  expect(checks.config?.found).toContain("API key set in the environment (SERVERLESS_GPU_API_KEY)");
  // Two queries and three lists. Nothing is written.
  expect(emulator.journal.operations()).toEqual(["myself", "myself", "myself", "myself", "myself"]);

  const { stdout, exitCode } = await stack.exec(process.execPath, [COMMAND, "doctor"], { env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^ok {7}node {8}\d/);
  expect(stdout).toContain("\n\n0 failed, 0 warnings, 12 ok\n");
  expect(stdout).not.toContain(CANARY);
});

test.each(["graphql", "v2"])("over %s, reports duplicate names with their ids", async (api) => {
  await using crowded = await startEmulator({ profile: "contract", apiKey: CANARY });
  const endpoint = { gpuIds: "AMPERE_24", templateId: "t" };
  for (const [id, name] of Object.entries({ e1: "llama", e2: "llama", e3: "other" })) {
    crowded.endpoints.create({ ...endpoint, id, name });
  }
  for (const [id, dataCenterId] of Object.entries({ v1: "EU-RO-1", v2: "EU-RO-1", v3: "EU-CZ-1" })) {
    crowded.volumes.create({ id, name: "models", size: 10, dataCenterId });
  }
  const env = { ...crowded.env, SERVERLESS_GPU_API_KEY: CANARY, SERVERLESS_GPU_API: api };
  const { key, names } = await doctor(env);
  expect(key?.status).toBe("ok");
  expect(names?.status).toBe("warning");
  expect(names?.found.split("; ").map((each) => each.replace(/: .*/, ""))).toEqual([
    '2 endpoints have the name "llama"',
    '2 network volumes have the name "models" in EU-RO-1',
  ]);
  for (const id of ["e1", "e2", "v1", "v2"]) expect(names?.found).toContain(id);
  expect(names?.fix).toMatch(/Find out which stack has which id/);
});

test("doctor distinguishes missing, wrong and misspelled settings", async () => {
  const none = await doctor({});
  expect(none.config).toMatchObject({ status: "failed", found: "there is no API key" });
  expect(none.config?.fix).toContain("pulumi config set --secret serverless-gpu:apiKey");
  expect(none.addresses).toMatchObject({
    status: "failed",
    found: expect.stringContaining("graphqlUrl, restUrl"),
  });
  for (const check of ["key", "names", "clock"]) expect(none[check]).toMatchObject({ status: "skipped" });

  const withoutUrls = await doctor({ SERVERLESS_GPU_API_KEY: CANARY });
  expect(withoutUrls.key).toEqual({ status: "skipped", found: "graphqlUrl is not set" });

  const wrong = await doctor({ ...addresses, SERVERLESS_GPU_API_KEY: "canary-of-another" });
  expect(wrong.key).toMatchObject({ status: "failed", found: expect.stringContaining("401") });
  expect(wrong.key?.fix).toContain("set in the environment (SERVERLESS_GPU_API_KEY)");

  const mistyped = await doctor({ ...addresses, SERVERLESS_GPU_APIKEY: CANARY, SERVERLESS_GPU_SERVICE: "runpood" });
  expect(mistyped.config?.status).toBe("failed");
  expect(mistyped.config?.fix).toContain("Did you mean SERVERLESS_GPU_API_KEY?");
  expect(mistyped.config?.found).toContain('the service "runpood" is unknown');
});

test("doctor names the settings to change before the service retires an API, and does not require a retired API", async () => {
  const env = { ...addresses, SERVERLESS_GPU_API_KEY: CANARY, SERVERLESS_GPU_SERVICE: "runpod" };
  const graphql = await doctor(env);
  expect(graphql.addresses).toMatchObject({ status: "ok", found: expect.not.stringContaining("restUrl") });
  expect(graphql.api).toMatchObject({
    status: "warning",
    found: expect.stringMatching(/^GraphQL \(the default\) at .* The service runpod shuts down GraphQL in early 2027$/),
    fix: expect.stringMatching(
      /set SERVERLESS_GPU_API=v2.* To keep REST v2, run: pulumi config set serverless-gpu:api v2$/,
    ),
  });
  const v2 = await doctor({ ...env, SERVERLESS_GPU_API: "v2" });
  expect(v2.api).toEqual({ status: "ok", found: expect.stringMatching(/^REST v2 \(SERVERLESS_GPU_API\) at /) });
});

test("doctor explains the error if the service does not know the account", async () => {
  emulator.faults.add({ match: { operation: "myself" }, effect: { nullAccount: true }, times: 1 });
  expect((await doctor()).key).toMatchObject({ status: "failed", found: expect.stringContaining("found no account") });
});

test("doctor names a URL that does not respond or is not encrypted", async () => {
  const SERVERLESS_GPU_API_KEY = CANARY;
  const dead = await doctor({ ...addresses, SERVERLESS_GPU_API_KEY, SERVERLESS_GPU_QUEUE_URL: "http://127.0.0.1:9" });
  expect(dead.addresses).toMatchObject({
    status: "failed",
    found: expect.stringContaining("queueUrl: nothing is listening"),
  });
  expect(dead.addresses?.fix).toContain("http://127.0.0.1:9 (set in the environment (SERVERLESS_GPU_QUEUE_URL))");
  expect(dead.key).toMatchObject({ status: "ok" });

  const open = emulator.url.replace("127.0.0.1", "0.0.0.0");
  const readable = await doctor({ ...addresses, SERVERLESS_GPU_API_KEY, SERVERLESS_GPU_GRAPHQL_URL: open });
  expect(readable.addresses).toMatchObject({ status: "warning", found: expect.stringContaining("is not https") });

  const malformed = await doctor({ ...addresses, SERVERLESS_GPU_API_KEY, SERVERLESS_GPU_QUEUE_URL: "localhost" });
  expect(malformed.addresses).toMatchObject({ status: "failed", found: expect.stringContaining("queueUrl must be") });
});

test("doctor warns once about the REST API, which only getPod needs", async () => {
  const env = { ...addresses, SERVERLESS_GPU_API_KEY: CANARY, SERVERLESS_GPU_REST_URL: "http://127.0.0.1:9" };
  const { stdout, exitCode } = await stack.exec(process.execPath, [COMMAND, "doctor"], { env });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("\n\n0 failed, 1 warning, 11 ok\n")]);
  expect(stdout).toMatch(/^warning +addresses +restUrl: nothing is listening .*, which only getPod needs$/m);
  const missing = await doctor({ ...env, SERVERLESS_GPU_REST_URL: "" });
  expect(missing.addresses).toMatchObject({
    status: "warning",
    found: expect.stringMatching(/^restUrl .*only getPod/),
  });
});

test("doctor reports a wrong clock with its offset and direction", async () => {
  const anHourAgo = () => new Date(Date.now() - 3_600_000).toUTCString();
  const body = { data: { myself: { serverlessDiscount: null } } };
  await using server = await startScriptedServer(() => ({ headers: { date: anHourAgo() }, body }));
  const env = Object.fromEntries(Object.keys(addresses).map((name) => [name, server.url]));
  const { clock, key } = await doctor({ ...env, SERVERLESS_GPU_API_KEY: CANARY });
  expect(clock?.status).toBe("warning");
  expect(clock?.found).toMatch(/clock is 3(59|60)\d s ahead of/);
  expect(key?.status).toBe("ok");
});

test("doctor uses the settings in the stack's config, decrypts secrets only when needed, and never shows them", async () => {
  const configured = await createStack();
  const inConfig = { "serverless-gpu:graphqlUrl": emulator.url, "serverless-gpu:restUrl": emulator.url };
  await configured.setConfig({ ...inConfig, "serverless-gpu:queueURL": emulator.url });
  await configured.setConfig({ "serverless-gpu:apiKey": CANARY }, { secret: true });
  const SERVERLESS_GPU_QUEUE_URL = emulator.url;

  const readable = await doctor({ SERVERLESS_GPU_QUEUE_URL }, { of: configured });
  expect(readable.key).toMatchObject({ status: "ok" });
  expect(readable.config).toMatchObject({
    status: "warning",
    found: expect.stringContaining("serverless-gpu:queueURL"),
  });
  expect(readable.config?.fix).toContain("Did you mean serverless-gpu:queueUrl?");
  // The program finds the package by chance, because its package.json does not list it.
  expect(readable.package?.status).toBe("warning");

  const PULUMI_CONFIG_PASSPHRASE = "another";
  const closed = await doctor({ SERVERLESS_GPU_QUEUE_URL, PULUMI_CONFIG_PASSPHRASE }, { of: configured });
  expect(closed.config).toMatchObject({ status: "failed", found: expect.stringContaining("incorrect passphrase") });
  const SERVERLESS_GPU_API_KEY = CANARY;
  const notNeeded = await doctor(
    { SERVERLESS_GPU_QUEUE_URL, PULUMI_CONFIG_PASSPHRASE, SERVERLESS_GPU_API_KEY },
    { of: configured },
  );
  expect(notNeeded.config?.status).toBe("warning");
  expect(notNeeded.key?.status).toBe("ok");
});

test("doctor names a resource that was written to the state by an unknown version", async () => {
  const text = await readFile(path.resolve(__dirname, "../fixtures/state-0.1.json"), "utf8");
  const state: State = JSON.parse(text);
  await stack.importState(state);
  expect((await doctor()).state?.found).toContain("in the state is in this account");
  emulator.seed({ endpoints: [{ id: "adopted-1", name: "in the state", templateId: "t", gpuIds: "ADA_24" }] });
  expect((await doctor()).state).toMatchObject({ status: "ok", found: expect.stringContaining("1 SmokeTest") });

  // Resources with providers of their own need no key and no URLs in the environment.
  await stack.importState(JSON.parse(text.replaceAll("pulumi-nodejs::default", "pulumi-nodejs::staging")));
  const explicit = await doctor({});
  expect(explicit.config).toMatchObject({ status: "ok", found: expect.stringContaining("no API key. None is needed") });
  for (const check of ["addresses", "key"]) expect(explicit[check]?.status).toBe("skipped");

  const changed = endpointsIn(state)[0];
  Object.assign(changed?.outputs ?? {}, { __provider: 'exports.handler = () => require("elsewhere").v9;' });
  await stack.importState(state);
  expect((await doctor()).state).toMatchObject({
    status: "failed",
    found: expect.stringContaining(changed?.urn ?? "no endpoint"),
  });
});

test("doctor reports a killed adoption, which can be rolled back unless the stack has adopted the endpoint since", async () => {
  await using run = await start();
  const { machine, first } = run;
  await killAt(run.emulator, run.provider, AFTER_THE_SAVE, undefined, { ...programOf("2-good"), adoptId: first.id });
  const { SERVERLESS_GPU_API_KEY: _, ...service } = run.emulator.env;
  const env = {
    ...service,
    SERVERLESS_GPU_API_KEY: run.emulator.apiKey,
    SERVERLESS_GPU_SERVICE: "runpod",
    SERVERLESS_GPU_API: "v2",
    XDG_CACHE_HOME: machine,
  };
  const of = await createStack();
  const command = `serverless-gpu rollback ${first.id} --left --yes`;
  expect((await doctor(env, { of })).state).toMatchObject({ found: expect.stringContaining(command) });

  const [type, parent] = ["pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint", "urn:pulumi:dev::test::"];
  const { __passed: __, ...passed } = first.outputs;
  const { id, inputs, outputs } = { ...first, outputs: { ...passed, __stamp: "0a1b2c3d.0a1b2c3d" } };
  const endpoint = { urn: `${parent}${type}::llama`, custom: true, type, id, inputs, outputs };
  await of.importState({ version: 3, deployment: { resources: [endpoint] } } as State);
  expect((await doctor(env, { of })).state?.found).not.toContain(command);
  const refused = await of.exec(process.execPath, [COMMAND, "rollback", id, "--left", "--yes"], { env });
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`the selected stack manages endpoint ${id}`),
  ]);
  expect(serving(run.emulator)).toMatchObject({ image: "me/llama-2-good" });
});

test("doctor requires no packages for a program that uses the plugin, and includes the plugin's resources in its count", async () => {
  const yaml = await createStack({ env: { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" } });
  const resources = [
    { urn: "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev", type: "pulumi:pulumi:Stack" },
    {
      urn: "urn:pulumi:dev::test::serverless-gpu:index:ServerlessEndpoint::llama",
      type: "serverless-gpu:index:ServerlessEndpoint",
      custom: true,
      id: "abc123",
      inputs: { gpuIds: ["ADA_24"] },
      outputs: {},
    },
  ];
  await yaml.importState({ version: 3, deployment: { resources } });
  emulator.seed({ endpoints: [{ id: "abc123", name: "of the plugin", templateId: "t", gpuIds: "ADA_24" }] });
  for (const runtime of ["runtime: yaml", "runtime:\n  name: python\n  options: { virtualenv: venv }"]) {
    await yaml.writeFile("Pulumi.yaml", `name: test\n${runtime}\n`);
    const checks = await doctor(undefined, { of: yaml });
    for (const check of ["pulumi-sdk", "package", "versions"])
      expect(checks[check]).toMatchObject({ status: "skipped", found: expect.stringContaining("uses the plugin") });
    expect(checks.state).toMatchObject({ found: "1 ServerlessEndpoint, all of which this version knows" });
  }
});

test("doctor reports an engine that is missing or too old, and a folder without a project", async () => {
  const bin = path.join(stack.scratch, "bin");
  await mkdir(bin);
  const pulumi = async (says: string) => {
    await writeFile(path.join(bin, "pulumi"), `#!/bin/sh\necho ${says}\n`);
    await chmod(path.join(bin, "pulumi"), 0o755);
  };
  const env = { ...addresses, SERVERLESS_GPU_API_KEY: CANARY, PATH: bin };
  expect((await doctor(env)).pulumi).toMatchObject({ status: "failed", found: "there is no pulumi on PATH" });
  await pulumi("v3.215.9");
  const old = await doctor(env);
  expect(old.pulumi).toMatchObject({ status: "failed", found: expect.stringContaining("3.215.9") });
  expect(old.pulumi?.fix).toContain(MINIMUM_VERSION);

  const elsewhere = await doctor(undefined, { cwd: path.parse(stack.scratch).root });
  for (const check of ["pulumi-sdk", "package", "versions", "state"]) {
    expect(elsewhere[check]).toMatchObject({ status: "skipped", found: expect.stringContaining("no Pulumi project") });
  }
  expect(elsewhere.key?.status).toBe("ok");
});

test("doctor reports packages that are missing, too old or installed twice, each with its folder", async () => {
  // Outside the repository, where its packages are not found.
  const project = await mkdtemp(path.join(tmpdir(), "doctor-"));
  try {
    await writeFile(path.join(project, "Pulumi.yaml"), "name: test\nruntime: nodejs\nmain: program/\n");
    const program = path.join(project, "program");
    await mkdir(path.join(program, "node_modules/@pulumi/pulumi"), { recursive: true });
    const none = await doctor(undefined, { cwd: project });
    for (const check of ["pulumi-sdk", "package"]) {
      expect(none[check]).toMatchObject({ status: "failed", found: expect.stringContaining(program) });
      expect(none[check]?.fix).toContain("npm install");
    }
    expect(none.versions?.status).toBe("skipped");

    const sdk = path.join(program, "node_modules/@pulumi/pulumi/package.json");
    await writeFile(sdk, JSON.stringify({ name: "@pulumi/pulumi", version: "3.100.0" }));
    await symlink(path.resolve(__dirname, "../.."), path.join(program, "node_modules/pulumi-serverless-gpu"));
    const wrong = await doctor(undefined, { cwd: program });
    expect(wrong["pulumi-sdk"]).toMatchObject({
      status: "failed",
      found: expect.stringContaining("3.100.0, but >=3.216"),
    });
    expect(wrong.versions).toMatchObject({ status: "failed", found: expect.stringContaining(path.dirname(sdk)) });
  } finally {
    await rm(project, { recursive: true });
  }
});
