import { startEmulator } from "../../emulator";
import { createStack } from "./harness";

const CANARY = "canary-9d41c7e2b6";

const PROGRAM = `
const { ServerlessEndpoint, getPod } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { gpuIds: "AMPERE_16", templateId: "template", workersMin: 1 });
exports.podEnv = getPod({ podId: "pod-1" }).then((pod) => pod.env);
`;

const WRONG_KEY = { SERVERLESS_GPU_API_KEY: `${CANARY}-wrong` };
const UNREACHABLE = { SERVERLESS_GPU_GRAPHQL_URL: "http://127.0.0.1:9" };
const UP = ["up", "--yes", "--skip-preview"];

/** A command, whether it succeeds, and the environment that it needs. */
type Step = readonly [command: string[], succeeds: boolean, env?: Readonly<Record<string, string>>];

test.each<[string, boolean, readonly Step[]]>([
  [
    "the environment",
    false,
    [
      [["up", "--yes"], true],
      [["stack", "output", "--json"], true],
      [["preview", "--save-plan", "plan.json", "--diff"], true],
      [[...UP, "--refresh"], false, WRONG_KEY],
      [["stack", "export"], true],
    ],
  ],
  [
    "the stack's config",
    true,
    [
      [UP, true],
      [["refresh", "--yes", "--diff"], true],
      [[...UP, "--refresh"], false, UNREACHABLE],
      [["stack", "export"], true],
      [["destroy", "--yes"], true],
    ],
  ],
])("a key from %s never appears in an output or a file", async (_source, isInConfig, steps) => {
  await using emulator = await startEmulator({ profile: "contract", apiKey: CANARY, drainMs: 200 });
  emulator.pods.add({ id: "pod-1", env: { API_KEY: CANARY } });
  const { SERVERLESS_GPU_API_KEY: apiKey = "", ...others }: Record<string, string> = { ...emulator.env };
  const stack = await createStack({ program: PROGRAM, env: isInConfig ? others : { ...emulator.env } });
  if (isInConfig) await stack.setConfig({ "serverless-gpu:apiKey": apiKey }, { secret: true });

  for (const [command, succeeds, env] of steps) {
    const { exitCode, output } = await stack.run([...command], env);
    expect({ command, succeeds: exitCode === 0 }).toEqual({ command, succeeds });
    expect(output).not.toContain(CANARY);
  }
  for (const [file, text] of await stack.files()) {
    if (text.includes(CANARY)) throw new Error(`${file} holds the key`);
  }
  expect(JSON.stringify(emulator.journal.requests())).not.toContain(CANARY);
});
