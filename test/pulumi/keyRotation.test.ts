import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const PROGRAM = `
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const url = process.env.SERVERLESS_GPU_GRAPHQL_URL;
const urls = { graphqlUrl: url, restUrl: url, queueUrl: url };
const provider = new ServerlessGpuProvider("explicit", { apiKeyEnv: "EXPLICIT_KEY", ...urls });
const args = { gpuIds: "AMPERE_16", templateId: "template" };
new ServerlessEndpoint("one", args);
new ServerlessEndpoint("two", args, { provider });
`;

const envOf = ({ env, apiKey }: Emulator) => ({ ...env, EXPLICIT_KEY: apiKey });

test("a rotated key in the environment takes precedence over the previous key in config and causes no changes", async () => {
  const stack = await createStack({ program: PROGRAM });
  const dataFile = path.join(stack.scratch, "account.json");
  const before = await startEmulator({ profile: "contract", apiKey: "key-before-rotation", dataFile });
  await stack.setConfig({ "serverless-gpu:apiKey": "key-before-rotation" }, { secret: true });
  await stack.succeed(["up", "--yes", "--skip-preview"], envOf(before));
  await before.stop();

  // The same account at the same URL.
  const port = Number(new URL(before.url).port);
  await using after = await startEmulator({ profile: "contract", apiKey: "key-after-rotation", dataFile, port });
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], envOf(after));
  const stored = await stack.run(["refresh", "--yes", "--skip-preview"], {
    ...envOf(after),
    SERVERLESS_GPU_API_KEY: "",
  });
  expect(stored.exitCode).not.toBe(0);
  expect(stored.output).toContain("401");

  expect(after.endpoints.list()).toHaveLength(2);
  await stack.succeed(["destroy", "--yes", "--skip-preview"], envOf(after));
  expect(after.endpoints.list()).toEqual([]);
});

test("up uses a rotated key from config immediately, and refresh and destroy use it only after that up", async () => {
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { gpuIds: "AMPERE_16", templateId: "template" });
`;
  const stack = await createStack({ program });
  const dataFile = path.join(stack.scratch, "account.json");
  const before = await startEmulator({ profile: "contract", apiKey: "key-before-rotation", dataFile });
  const setKey = (apiKey: string) => stack.setConfig({ "serverless-gpu:apiKey": apiKey }, { secret: true });
  await setKey(before.apiKey);
  const env = { ...before.env, SERVERLESS_GPU_API_KEY: "" };
  await stack.succeed(["up", "--yes", "--skip-preview"], env);
  await before.stop();

  const port = Number(new URL(before.url).port);
  await using after = await startEmulator({ profile: "contract", apiKey: "key-after-rotation", dataFile, port });
  await setKey(after.apiKey);
  const tooEarly = await stack.run(["refresh", "--yes", "--skip-preview"], env);
  expect(tooEarly.exitCode).not.toBe(0);
  expect(tooEarly.output).toContain("401");
  await stack.succeed(["up", "--yes", "--skip-preview"], env);
  await stack.succeed(["refresh", "--yes", "--skip-preview"], env);
  await stack.succeed(["destroy", "--yes", "--skip-preview"], env);
  expect(after.endpoints.list()).toEqual([]);
});
