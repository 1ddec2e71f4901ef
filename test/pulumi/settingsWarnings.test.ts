import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

const TWO = `
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const args = { gpuIds: "AMPERE_24", templateId: "template" };
const options = {};
`;
const MADE = `
new ServerlessEndpoint("one", args, options);
new ServerlessEndpoint("two", args, options);
`;

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract" });
  stack = await createStack({ program: TWO + MADE, env: emulator.env });
});

afterAll(() => emulator.stop());

const WITHOUT_KEY = { SERVERLESS_GPU_API_KEY: "" };
const warnings = (output: string) => output.match(/^ +warning: .*/gm) ?? [];

test("a preview has no warnings when all settings that up needs are present", async () => {
  expect(warnings((await stack.preview()).output)).toEqual([]);
});

test("a preview without a key warns once that up will fail, and names a misspelled setting", async () => {
  await stack.setConfig({ "serverless-gpu:apikey": "some-key-that-is-not-shown", "other:apikey": "x" });
  const { exitCode, output } = await stack.run(["preview"], WITHOUT_KEY);
  expect(exitCode).toBe(0);
  expect(warnings(output)).toEqual([
    expect.stringContaining("serverless-gpu:apikey in the stack's config is not a setting"),
    expect.stringMatching(/this preview .* up will fail: there is no API key: set SERVERLESS_GPU_API_KEY/),
  ]);
  expect(output).toContain("Did you mean serverless-gpu:apiKey?");
  expect(output).not.toContain("some-key-that-is-not-shown");
});

test("a preview reports once that the URLs take precedence over the named service", async () => {
  const service = { SERVERLESS_GPU_SERVICE: "runpod" };
  const { output } = await stack.run(["preview"], { ...service, SERVERLESS_GPU_QUEUE_URL: "" });
  const note = "the service runpod is set, but the URLs that are set take precedence: graphqlUrl, restUrl";
  // The engine shows each message while it runs, and again at the end.
  expect(output.slice(output.indexOf("Diagnostics:")).split(note)).toHaveLength(2);
  // An emulator sets them all.
  expect((await stack.run(["preview"], service)).output).not.toContain("take precedence");
});

test("a wrong key is reported in full once, in a short line for the other resources, and in no line for the stack", async () => {
  await stack.succeed(["up", "--yes", "--skip-preview"]);
  const wrong = { SERVERLESS_GPU_API_KEY: "another-key" };
  for (const command of ["preview", "refresh"]) {
    const { exitCode, output } = await stack.run([command, ...(command === "refresh" ? ["--yes"] : [])], wrong);
    expect(exitCode).not.toBe(0);
    const diagnostics = output.slice(output.indexOf("Diagnostics:")).split("\n");
    const lines = diagnostics.filter((line) => line.includes("responded with 401"));
    expect(lines).toEqual([expect.stringMatching(/^ {4}error: /)]);
    const short = diagnostics.filter((line) => line.includes("the API key is not accepted"));
    expect(short.length).toBe(command === "refresh" ? 1 : 0);
    for (const line of short)
      expect(line).toMatch(/^ {4}error: (Preview failed: )?the API key is not accepted: see the error of (one|two)-/);
  }
});

test("an explicit provider uses its own key", async () => {
  await stack.writeProgram(`${TWO}
options.provider = new ServerlessGpuProvider("own", { apiKey: "${emulator.env.SERVERLESS_GPU_API_KEY}", graphqlUrl: "${emulator.url}", queueUrl: "${emulator.url}" });
${MADE}`);
  const { output } = await stack.run(["preview"], WITHOUT_KEY);
  expect(output).not.toContain("there is no API key");
});
