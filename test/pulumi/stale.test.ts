import { type Emulator, manualClock, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const clock = manualClock();
const program = (args: Record<string, unknown>) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", ${JSON.stringify({ name: "one", gpuIds: "AMPERE_24", templateId: "template", ...args })});
`;

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 60_000, clock });
  stack = await createStack({ program: program({}), env: emulator.env });
});

afterAll(() => emulator.stop());

const only = () => {
  const [endpoint] = emulator.endpoints.list();
  if (!endpoint) throw new Error("there is no endpoint");
  return endpoint;
};

test("a field that the program begins to manage is written, even if state has its value", async () => {
  await stack.up();
  emulator.endpoints.change(only().id, { workersMax: 50 });
  await stack.writeProgram(program({ workersMax: 3 }));
  expect((await stack.preview("--diff")).output).toMatch(/\+ workersMax *: 3/);
  await stack.up();
  expect(only().workersMax).toBe(3);
  await stack.preview("--expect-no-changes");
  await stack.preview("--refresh", "--expect-no-changes");
});

test("a field that the program stops managing is no longer recorded as managed, and never counts as drift", async () => {
  const { id } = only();
  const adopted = (args: object) => program({ adoptId: id, workersMax: 3, ...args });
  await stack.writeProgram(adopted({}));
  await stack.up();
  await stack.writeProgram(adopted({ name: undefined }));
  await stack.up();
  await stack.preview("--expect-no-changes");
  emulator.endpoints.change(id, { name: "renamed by hand" });
  await stack.preview("--refresh", "--expect-no-changes");
});

test("a refresh does not count as a release that has passed: the next up waits for the workers again", async () => {
  await stack.writeProgram(program({ workersMin: 1, awaitReady: true, awaitReadyTimeout: 1 }));
  const up = () => stack.run(["up", "--yes", "--skip-preview", "--refresh"]);
  const first = await up();
  expect(first.exitCode).not.toBe(0);
  expect(first.output).toContain("0 of 1 workers ready");
  const second = await up();
  expect(second.exitCode).not.toBe(0);
  expect(second.output).toContain("0 of 1 workers ready");

  await clock.advance(60_000);
  expect((await up()).exitCode).toBe(0);
  const [state] = endpointsIn(await stack.exportState());
  expect(state?.outputs).toHaveProperty("__passed");
  await stack.preview("--refresh", "--expect-no-changes");
});
