import path from "node:path";
import { startEmulator } from "../../emulator";
import { createStack } from "./harness";

const PROGRAM = `
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const url = process.env.SERVERLESS_GPU_GRAPHQL_URL;
const urls = { graphqlUrl: url, restUrl: url, queueUrl: url };
const provider = new ServerlessGpuProvider("explicit", { apiKeyEnv: "SERVERLESS_GPU_API_KEY", ...urls });
const args = { gpuIds: "AMPERE_16", templateId: "template" };
new ServerlessEndpoint("one", args);
new ServerlessEndpoint("two", args, { provider });
`;

test("a key that is rotated in the environment changes nothing, and destroy uses the new one", async () => {
  const stack = await createStack({ program: PROGRAM });
  const dataFile = path.join(stack.scratch, "account.json");
  const before = await startEmulator({ apiKey: "key-before-rotation", dataFile });
  await stack.succeed(["up", "--yes", "--skip-preview"], before.env);
  await before.stop();

  // The same account at the same address.
  const port = Number(new URL(before.url).port);
  await using after = await startEmulator({ apiKey: "key-after-rotation", dataFile, port });
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], after.env);
  expect(after.endpoints.list()).toHaveLength(2);
  await stack.succeed(["destroy", "--yes", "--skip-preview"], after.env);
  expect(after.endpoints.list()).toEqual([]);
});
