import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack } from "./pluginStack";

const MAIN = path.resolve("dist/cli/main.js");
const PROJECT = "name: test\nruntime: nodejs\nconfig:\n  serverless-gpu:api: v2\n";

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed" });
  emulator.templates.create({ id: "t1", name: "template", imageName: "me/llama:1", isServerless: true });
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "AMPERE_24", templateId: "t1" });
  stack = await createStack({ program: "" });
  await stack.writeFile("Pulumi.yaml", PROJECT);
});

afterAll(() => emulator.stop());

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  stack.exec(process.execPath, [MAIN, ...args], { env });

const firstLine = (text: string) => text.split("\n")[0];

/** The commands that read from the account. */
const COMMANDS = [
  ["adopt"],
  ["explain", "e1"],
  ["history", "e1"],
  ["logs", "e1"],
  ["orphans"],
  ["rollback", "e1", "--to", "1"],
];

test("every command reads the API from Pulumi.yaml until a stack is selected, and prints it in one line", async () => {
  await stack.succeed(["stack", "unselect"]);
  const from = emulator.journal.requests().length;
  for (const command of COMMANDS) {
    const { stdout, stderr } = await run(command, emulator.env);
    expect(firstLine(stderr)).toBe(
      `REST v2 (Pulumi.yaml) at ${emulator.url}/v2 (from SERVERLESS_GPU_GRAPHQL_URL), key from SERVERLESS_GPU_API_KEY; no stack is selected`,
    );
    expect(stdout).not.toContain("REST v2 (");
    expect(stderr.match(/ at http/g)).toHaveLength(1);
    expect(stderr).not.toContain(emulator.apiKey);
  }
  const { stdout } = await run(["doctor", "--json"], emulator.env);
  const checks = JSON.parse(stdout).checks as { readonly check: string; readonly found: string }[];
  expect(checks.find(({ check }) => check === "api")?.found).toMatch(/^REST v2 \(Pulumi\.yaml\) at /);
  const sent = emulator.journal
    .requests()
    .slice(from)
    .filter(({ interface: name }) => name === "graphql")
    .map(({ operation }) => operation);
  // REST v2 does not show the account's id, so doctor reads it over GraphQL.
  expect(sent).toEqual(["myself"]);
  await stack.succeed(["stack", "select", "dev"]);
});

test("the key, URLs and API of the selected stack take precedence over Pulumi.yaml, and the secret key is never shown", async () => {
  await stack.setConfig({
    "serverless-gpu:graphqlUrl": emulator.url,
    "serverless-gpu:queueUrl": emulator.url,
  });
  await stack.succeed(["config", "set", "--secret", "serverless-gpu:apiKey", emulator.apiKey]);
  const one = await run(["explain", "e1"]);
  const key = "key from the stack's config";
  const account = `at ${emulator.url} (the stack's config), ${key}`;
  const accountOfV2 = `at ${emulator.url}/v2 (from the stack's config), ${key}`;
  expect([one.exitCode, one.stderr]).toEqual([0, `REST v2 (Pulumi.yaml) ${accountOfV2}\n`]);
  await stack.setConfig({ "serverless-gpu:api": "graphql" });
  const two = await run(["explain", "e1"]);
  expect([two.exitCode, two.stderr]).toEqual([0, `GraphQL (the stack's config) ${account}\n`]);
  const three = await run(["history", "e1"], { SERVERLESS_GPU_API: "graphql" });
  expect(three.stderr).toContain(`GraphQL (SERVERLESS_GPU_API) ${account}\n`);
  expect([three.exitCode, three.stderr]).toEqual([
    1,
    expect.stringContaining("Run: npx pulumi-serverless-gpu history e1 --api v2"),
  ]);
  const four = await run(["history", "e1", "--api", "v2"], { SERVERLESS_GPU_API: "graphql" });
  expect([four.exitCode, four.stderr]).toEqual([0, `REST v2 (--api) ${accountOfV2}\n`]);
  for (const { output } of [one, two, three, four]) expect(output).not.toContain(emulator.apiKey);
});

test("a secret key that cannot be decrypted stops a command, even if the project file contains another key", async () => {
  const { exitCode, stderr } = await run(["explain", "e1"], { PULUMI_CONFIG_PASSPHRASE: "wrong" });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/serverless-gpu:apiKey is a secret of the stack's config that cannot be decrypted/);
});

test("up reports its API and account once instead of once per resource, and an explicit provider reports its own", async () => {
  const program = (options: string) => `
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const own = { apiKeyEnv: "OTHER_KEY", graphqlUrl: "${emulator.url}", queueUrl: "${emulator.url}", api: "graphql" };
for (const name of ["one", "two", "three"])
  new ServerlessEndpoint(name, { gpuIds: "AMPERE_24", templateId: "t1" }, ${options});
`;
  const said = (output: string) =>
    output
      .slice(output.lastIndexOf("Diagnostics:"))
      .match(/serverless-gpu uses .*/g)
      ?.map((line) => line.trim());
  const project = await createStack({ program: program("{}"), env: emulator.env });
  await project.writeFile("Pulumi.yaml", PROJECT);
  const up = await project.succeed(["up", "--yes"]);
  const place = `at ${emulator.url}/v2 (from SERVERLESS_GPU_GRAPHQL_URL), key from SERVERLESS_GPU_API_KEY`;
  expect(said(up.output)).toEqual([`serverless-gpu uses REST v2 (Pulumi's config) ${place}`]);
  expect(said((await project.succeed(["up", "--yes"])).output)).toHaveLength(1);
  await project.writeProgram(program('{ provider: new ServerlessGpuProvider(name + "-own", own) }'));
  const env = { OTHER_KEY: emulator.apiKey, SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE: "true" };
  const explicit = await project.run(["up", "--yes", "--skip-preview"], env);
  expect(said(explicit.output)?.sort()).toEqual(
    ["one", "three", "two"].map(
      (name) =>
        `serverless-gpu uses GraphQL (the provider "${name}-own") at ${emulator.url} (the provider "${name}-own"), key from OTHER_KEY`,
    ),
  );
  expect(up.output + explicit.output).not.toContain(emulator.apiKey);
});

test("the plugin also reports its API and account only once", async () => {
  const made = `for (const name of ["p1", "p2", "p3"]) new plugin.ServerlessEndpoint(name, { gpuIds: ["AMPERE_24"], templateId: "t1" });`;
  const project = await createPluginStack(made, emulator.env, "config:\n  serverless-gpu:api: v2\n");
  const { output } = await project.succeed(["up", "--yes"]);
  const place = `at ${emulator.url}/v2 (from SERVERLESS_GPU_GRAPHQL_URL), key from SERVERLESS_GPU_API_KEY`;
  expect(output.slice(output.lastIndexOf("Diagnostics:")).match(/uses (GraphQL|REST v2).*/g)).toEqual([
    `uses REST v2 (Pulumi's config) ${place}`,
  ]);
});
