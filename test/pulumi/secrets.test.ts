import { startEmulator } from "../../emulator";
import { createStack } from "./harness";

const CANARY = "canary-9d41c7e2b6";

const PROGRAM = `
const { ServerlessEndpoint, getPod } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { gpuIds: "AMPERE_16", templateId: "template", workersMin: 1 });
exports.podEnv = getPod({ podId: "pod-1" }).then((pod) => pod.env);
`;

test.each([
  ["the environment", (env: Record<string, string>) => ({ env, config: {} })],
  [
    "the stack's config",
    ({ SERVERLESS_GPU_API_KEY: apiKey = "", ...env }: Record<string, string>) => ({
      env,
      config: { "serverless-gpu:apiKey": apiKey },
    }),
  ],
])("a key from %s never appears in an output or a file", async (_source, settings) => {
  await using emulator = await startEmulator({ apiKey: CANARY, drainMs: 200 });
  emulator.pods.add({ id: "pod-1", env: { API_KEY: CANARY } });
  const { env, config } = settings({ ...emulator.env });
  const stack = await createStack({ program: PROGRAM, env });
  await stack.setConfig(config, { secret: true });

  const outputs = [
    await stack.run(["up", "--yes"]),
    await stack.run(["stack", "output", "--json"]),
    await stack.run(["refresh", "--yes", "--diff"]),
    await stack.run(["preview", "--save-plan", "plan.json", "--diff"]),
    await stack.run(["up", "--yes", "--skip-preview", "--refresh"], { SERVERLESS_GPU_API_KEY: `${CANARY}-wrong` }),
    await stack.run(["up", "--yes", "--skip-preview", "--refresh"], {
      SERVERLESS_GPU_GRAPHQL_URL: "http://127.0.0.1:9",
    }),
    await stack.run(["stack", "export"]),
    await stack.run(["destroy", "--yes"]),
  ];

  expect(outputs.map(({ exitCode }) => exitCode === 0)).toEqual([true, true, true, true, false, false, true, true]);
  for (const { output } of outputs) expect(output).not.toContain(CANARY);
  for (const [file, text] of await stack.files()) {
    if (text.includes(CANARY)) throw new Error(`${file} holds the key`);
  }
  expect(JSON.stringify(emulator.journal.requests())).not.toContain(CANARY);
});
