import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack } from "./pluginStack";

/** Tests on systems where the processes of a folder are known. */
const testOnLinux = process.platform === "linux" ? test : test.skip;

const program = (from: string) => `
const { ServerlessEndpoint, SmokeTest } = ${from};
const endpoint = new ServerlessEndpoint("endpoint", { gpuIds: ["AMPERE_24"], templateId: "template" });
new SmokeTest("responds", { endpointId: endpoint.id, input: { prompt: "Hello" }, timeout: 300 });`;

/** Starts an `up`, and presses Ctrl-C when the smoke test's job runs. */
async function interrupt(stack: PulumiStack, { journal }: Emulator, isRunning: () => boolean) {
  const ended = stack.run(["up", "--yes", "--skip-preview"]);
  const giveUpAt = performance.now() + 60_000;
  while (!isRunning()) {
    if (performance.now() > giveUpAt) throw new Error(`the job did not run: ${journal.operations().join(", ")}`);
    await sleep(50);
  }
  const engine = (await stack.processes()).find(({ command }) => /(^|\/)pulumi up /.test(command));
  process.kill(engine?.pid ?? Number.NaN, "SIGINT");
  return { ended };
}

/** Returns an emulator whose jobs end when `release` is called. */
async function startHeld() {
  let release = () => {};
  let isRunning = false;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = async () => {
    isRunning = true;
    await released;
    return "released";
  };
  const emulator = await startEmulator({
    profile: "contract",
    coldStartMs: 0,
    drainMs: 100,
    handlers: { default: held },
  });
  return { emulator, release, isRunning: () => isRunning };
}

testOnLinux("Ctrl-C ends a smoke test of the plugin at once, and cancels its job", async () => {
  const { isRunning, ...held } = await startHeld();
  await using emulator = held.emulator;
  const stack = await createPluginStack(program("plugin"), emulator.env);
  const { exitCode, output } = await (await interrupt(stack, emulator, isRunning)).ended;
  expect(exitCode).not.toBe(0);
  expect(output).toContain("the run was cancelled");
  expect(emulator.journal.operations()).toContain("cancel");
});

testOnLinux("after Ctrl-C, a smoke test of the dynamic provider finishes, and its job is in state", async () => {
  const { release, isRunning, ...held } = await startHeld();
  await using emulator = held.emulator;
  const stack = await createStack({ program: program('require("pulumi-serverless-gpu")'), env: emulator.env });
  const { ended } = await interrupt(stack, emulator, isRunning);
  await sleep(1_000);
  expect(emulator.journal.operations()).not.toContain("cancel");
  release();
  expect((await ended).exitCode).not.toBe(0);
  const states = (await stack.exportState()).deployment.resources ?? [];
  expect(states.find(({ type }) => type.endsWith("SmokeTest"))?.outputs).toMatchObject({ status: "COMPLETED" });
  expect((await stack.up()).exitCode).toBe(0);
  expect(emulator.journal.requests({ operation: "run" })).toHaveLength(1);
});
