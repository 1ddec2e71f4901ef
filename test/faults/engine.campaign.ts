import { startEmulator } from "../../emulator";
import { createStack } from "../pulumi/harness";
import { FAULTS } from "./faults";

const PROGRAM = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const args = { gpuIds: "AMPERE_24", templateId: "template" };
new ServerlessEndpoint("one", args);
new ServerlessEndpoint("two", args);
`;

/** The matrix covers faults that end by themselves, and faults that take minutes of retries. */
const QUICK = FAULTS.filter(({ name }) => !/hang|hour|slow|behind/.test(name)).map(
  (fault) => [fault.name, fault] as const,
);

test.concurrent.each(
  QUICK,
)("%s: the engine's runs tell what failed, and the next ones fix it", async (_name, fault) => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const stack = await createStack({ program: PROGRAM, env: emulator.env });
  await stack.setConfig({ "serverless-gpu:namespace": "faults" });
  const effect = typeof fault.effect === "function" ? fault.effect() : fault.effect;
  /** A run under the fault, from the given request on. */
  const strike = async (operation: string, ...command: string[]) => {
    emulator.faults.add({ match: { operation }, effect });
    const { exitCode, output } = await stack.run([...command, "--yes", "--skip-preview"]);
    emulator.faults.clear();
    if (exitCode === 0) return;
    expect(output).toMatch(fault.cause);
    expect(output).toMatch(/ServerlessEndpoint \((one|two)\)/);
    expect(output).not.toContain(emulator.apiKey);
  };

  await strike("saveEndpoint", "up");
  expect(emulator.endpoints.list().length).toBeLessThanOrEqual(2);
  await stack.up();
  expect(emulator.endpoints.list()).toHaveLength(2);
  await stack.preview("--refresh", "--expect-no-changes");

  await strike("myself", "refresh");
  await strike("deleteEndpoint", "destroy");
  const { deployment } = await stack.exportState();
  const known = deployment.resources?.map(({ id }) => id) ?? [];
  for (const { id } of emulator.endpoints.list()) expect(known).toContain(id);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});
