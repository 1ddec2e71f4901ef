import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const JOBS = Array.from({ length: 60 }, (_, index) => `${index * 60},3`).join("\n");

const program = (...endpoints: readonly string[]) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
${endpoints.join("\n")}`;
const whisper = (settings: string) =>
  `new ServerlessEndpoint("whisper", { templateId: "t", gpuIds: "ADA_24", ${settings} });`;

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract" });
  stack = await createStack({
    program: program(whisper('workersMax: 5, scalerType: "REQUEST_COUNT", scalerValue: 2')),
    env: emulator.env,
  });
  await stack.writeFile("jobs.csv", `arrival_s,duration_s\n${JOBS}\n`);
});

afterAll(() => emulator.stop());

const forecast = (...args: string[]) =>
  stack.exec(process.execPath, [COMMAND, "forecast", "--load", "jobs.csv", "--seeds", "2", ...args]);

test("reads the settings from the program and from the stack, and compares them", async () => {
  const empty = await forecast("--stack");
  expect(empty).toMatchObject({ exitCode: 1, stdout: "" });
  expect(empty.stderr).toContain("the stack has no ServerlessEndpoint");

  // Nothing is deployed yet, so there is nothing to compare with.
  const first = await forecast("--stack", "dev", "--program");
  expect(first).toMatchObject({ exitCode: 0 });
  expect(first.stdout).toContain("\nProgram: REQUEST_COUNT 2, workers 0 to 5, no FlashBoot, ADA_24\n");
  expect(first.stdout).not.toContain("Before");

  await stack.succeed(["up", "--yes", "--skip-preview"]);
  const calls = emulator.journal.operations().length;
  await stack.writeFile("index.js", program(whisper("workersMin: 1, workersMax: 5")));
  const compared = await forecast("--stack", "--program", "--cold-start", "20s");
  expect(compared).toMatchObject({ exitCode: 0, stderr: "" });
  // What is removed from the program gets its default again.
  expect(compared.stdout).toContain("\nBefore: REQUEST_COUNT 2, workers 0 to 5,");
  expect(compared.stdout).toContain("\nAfter: QUEUE_DELAY 4, workers 1 to 5, idleTimeout 10 s,");
  expect(compared.stdout).toMatch(
    /\nChange: scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 1\n +cost \$[\d.,]+ → \$[\d.,]+ a month, p95 delay .* → 0 s/,
  );

  const changed = await forecast("--stack", "--set", "scalerValue=8", "--json");
  expect(JSON.parse(changed.stdout).results).toEqual([
    expect.objectContaining({ title: "Stack", settings: expect.objectContaining({ scalerValue: 8, workersMin: 0 }) }),
  ]);

  await stack.writeFile(
    "index.js",
    program(whisper(""), 'new ServerlessEndpoint("llama", { templateId: "t", gpuIds: "ADA_24" });'),
  );
  const several = await forecast("--program");
  expect(several.stderr).toContain("the program has 2 endpoints: choose one with --endpoint: ");
  const misspelled = await forecast("--program", "--endpoint", "lama");
  expect(misspelled.stderr).toContain('the program has no endpoint "lama". Did you mean llama?');
  // A preview of endpoints changes nothing.
  expect(emulator.journal.operations().slice(calls)).not.toContain("saveEndpoint");

  // The forecast was for the endpoint that `up` creates.
  await stack.writeFile("index.js", program(whisper("workersMin: 1, workersMax: 5")));
  await stack.succeed(["up", "--yes", "--skip-preview"]);
  const after = { scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 1, workersMax: 5, idleTimeout: 10 };
  expect(emulator.endpoints.list()).toEqual([expect.objectContaining(after)]);

  // A program that leaves the endpoint as it is has the same forecast before and after.
  const unchanged = await forecast("--stack", "--program");
  expect(unchanged).toMatchObject({ exitCode: 0, stderr: "" });
});
