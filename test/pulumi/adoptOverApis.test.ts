import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { type Client, createClient } from "../../sdk";
import { createStack, type PulumiStack } from "./harness";

const MAIN = path.resolve("dist/cli/main.js");
const NAMES = ["chat", "embed", "rerank", "speech", "vision"];
const CANARY = "env-canary-of-production";
const TYPES_KNOWN = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };

let emulator: Emulator;
let client: Client;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0 });
  const connection = { apiKey: emulator.apiKey, graphqlUrl: emulator.url, queueUrl: emulator.url };
  client = createClient({ ...connection, service: "runpod", api: "v2" });
  for (const name of NAMES) {
    await client.endpoints.create({
      name,
      gpuIds: "ADA_24",
      imageName: `me/${name}:1`,
      containerDiskInGb: 30,
      ports: ["8000/http"],
      env: { HF_TOKEN: CANARY },
      workersMin: 1,
      workersMax: 2,
      locations: "EU-RO-1",
    });
  }
});

afterEach(async () => {
  await client.close();
  await emulator.stop();
});

/** What production would notice: the releases, the workers, and every setting. */
async function state() {
  const endpoints = emulator.endpoints.list();
  const releases = await Promise.all(endpoints.map(({ id }) => client.endpoints.releases(id)));
  return { endpoints: endpoints.map(({ pods, ...record }) => record), releases, workers: await workers() };
}

const workers = async () =>
  emulator.endpoints
    .list()
    .flatMap(({ pods = [] }) => pods.map(({ id }) => id))
    .sort();

/** The requests that change something at the service. */
const writes = () =>
  emulator.journal
    .requests()
    .filter(({ interface: name, method, operation }) =>
      name === "graphql" ? /^(save|delete|create|update)/.test(operation) : method !== "GET",
    )
    .map(({ method, operation, path: url }) => `${method} ${operation} ${url}`);

/** Makes a project as `npm run new` does, whose `Pulumi.yaml` names the API. */
async function project(api: "graphql" | "v2"): Promise<PulumiStack> {
  const { SERVERLESS_GPU_API: _, ...env } = emulator.env as Record<string, string>;
  const stack = await createStack({ typescript: true, env: { ...env, SERVERLESS_GPU_SERVICE: "runpod" } });
  await useApi(stack, api);
  return stack;
}

const useApi = (stack: PulumiStack, api: "graphql" | "v2") =>
  stack.writeFile("Pulumi.yaml", `name: test\nruntime: nodejs\nconfig:\n  serverless-gpu:api: ${api}\n`);

async function adoptInto(stack: PulumiStack): Promise<string> {
  const { exitCode, stdout, stderr } = await stack.exec(process.execPath, [MAIN, "adopt"]);
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^(GraphQL|REST v2) \(Pulumi\.yaml\) at .*\n$/)]);
  expect(stdout).not.toContain(CANARY);
  await stack.writeProgram(stdout, "index.ts");
  return stdout;
}

test.each([
  "graphql",
  "v2",
] as const)("the program that adopt writes for a project with %s sends no write and replaces no workers", async (api) => {
  const stack = await project(api);
  const before = await state();
  expect(before.workers).toHaveLength(5);
  expect(before.releases.map((each) => each?.length)).toEqual([1, 1, 1, 1, 1]);
  emulator.journal.clear();
  const program = await adoptInto(stack);
  expect(program.match(/templateId/g) ?? []).toHaveLength(api === "v2" ? 0 : 5);
  const preview = await stack.preview();
  expect(
    new Set(preview.output.match(/endpoint \S+ \("\w+"\) is adopted; no endpoint is created\. Nothing changes/g)).size,
  ).toBe(5);
  const { output } = await stack.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  expect(new Set(output.match(/adopted endpoint \S+; nothing changed$/gm)).size).toBe(5);
  expect(writes()).toEqual([]);
  expect(await state()).toEqual(before);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], TYPES_KNOWN);
  expect(writes()).toEqual([]);
  for (const text of [preview.output, output, JSON.stringify(await stack.exportState())])
    expect(text).not.toContain(CANARY);
});

test("a preview over REST v2 warns that a program with templateId replaces the workers", async () => {
  const stack = await project("graphql");
  await adoptInto(stack);
  await useApi(stack, "v2");
  emulator.journal.clear();
  const { output } = await stack.preview();
  expect(output).toMatch(
    /templateId: is applied, because REST v2 does not show the current one\. That makes a new release and replaces the workers/,
  );
  expect(output).not.toContain("Nothing changes");
  expect(writes()).toEqual([]);
  const before = await state();
  const up = await stack.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  expect(up.output).toMatch(/adopted endpoint \S+; its template was applied, .* a new release replaces the workers/);
  expect(up.output).not.toContain("nothing changed");
  expect((await state()).workers).not.toEqual(before.workers);
});

test("a program for REST v2 adopts endpoints with their own containers over GraphQL, and sends no write", async () => {
  const stack = await project("v2");
  await adoptInto(stack);
  await useApi(stack, "graphql");
  const before = await state();
  emulator.journal.clear();
  const { output } = await stack.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  expect(new Set(output.match(/adopted endpoint \S+; nothing changed$/gm)).size).toBe(5);
  expect(writes()).toEqual([]);
  expect(await state()).toEqual(before);
});
