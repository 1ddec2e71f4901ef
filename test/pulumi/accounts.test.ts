import { startEmulator } from "../../emulator";
import { createStack, endpointsIn } from "./harness";

test("one program manages several accounts, and moving a resource to another account deletes it from the old one", async () => {
  await using first = await startEmulator({ profile: "contract", apiKey: "first-account-key", drainMs: 100 });
  await using second = await startEmulator({ profile: "contract", apiKey: "second-account-key", drainMs: 100 });
  first.endpoints.create({ name: "here-before", gpuIds: "AMPERE_16", templateId: "template" });
  const program = (provider: string, templateId = "template") => `
const { ServerlessEndpoint, ServerlessGpuProvider, getEndpointOutput, getEndpointsOutput } = require("pulumi-serverless-gpu");
const urls = (url) => ({ graphqlUrl: url, restUrl: url, queueUrl: url });
const one = new ServerlessGpuProvider("one", { apiKeyEnv: "FIRST_KEY", ...urls("${first.url}") });
const two = new ServerlessGpuProvider("two", { apiKey: "second-account-key", ...urls("${second.url}") });
const moved = new ServerlessEndpoint("moved", { name: "moved", gpuIds: "AMPERE_16", templateId: "${templateId}" }, { provider: ${provider} });
exports.queueUrl = moved.queueUrl;
exports.found = getEndpointOutput({ name: "here-before" }, { provider: one }).gpuIds;
exports.count = getEndpointsOutput({ provider: one }).length;
`;
  // The key and the URL in the environment belong to another account and must not be used.
  const env = {
    FIRST_KEY: "first-account-key",
    SERVERLESS_GPU_API_KEY: "wrong",
    SERVERLESS_GPU_GRAPHQL_URL: "http://127.0.0.1:9",
  };
  const stack = await createStack({ program: program("one"), env });
  await stack.up();
  expect(first.endpoints.list().map(({ name }) => name)).toEqual(["here-before", "moved"]);
  expect(await stack.outputs()).toMatchObject({ queueUrl: expect.stringContaining(first.url), found: "AMPERE_16" });
  await stack.preview("--refresh", "--expect-no-changes");

  await stack.writeProgram(program("two", "template of the second account"));
  const { output } = await stack.preview();
  expect(output).toMatch(/moved.*replace/);
  await stack.up();
  expect(first.endpoints.list().map(({ name }) => name)).toEqual(["here-before"]);
  expect(second.endpoints.list().map(({ name }) => name)).toEqual(["moved"]);
  expect(JSON.stringify(await stack.exportState())).not.toMatch(/(first|second)-account-key/);
  for (const [, text] of await stack.files()) expect(text.includes("first-account-key")).toBe(false);

  await stack.destroy();
  expect(second.endpoints.list()).toEqual([]);
});

test("an endpoint that another account does not contain counts as deleted only if the user says so", async () => {
  await using own = await startEmulator({ profile: "contract", apiKey: "own-account-key", drainMs: 100 });
  await using other = await startEmulator({ profile: "contract", apiKey: "other-account-key" });
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { gpuIds: "AMPERE_16", templateId: "template" });
`;
  const stack = await createStack({ program, env: own.env });
  await stack.up();

  for (const command of ["refresh", "destroy"]) {
    const result = await stack.run([command, "--yes", "--skip-preview"], other.env);
    expect(result.exitCode).not.toBe(0);
    expect(result.output).toContain(`It was last seen at ${own.url}`);
    expect(result.output).toContain("SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE");
  }
  expect(endpointsIn(await stack.exportState())).toHaveLength(1);
  expect(own.endpoints.list()).toHaveLength(1);

  const said = await stack.run(["refresh", "--yes", "--skip-preview"], {
    ...other.env,
    SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE: "true",
  });
  expect(said.exitCode).toBe(0);
  expect(endpointsIn(await stack.exportState())).toHaveLength(0);
});
