import { setTimeout as sleep } from "node:timers/promises";
import { startEmulator } from "../../emulator";
import { initFailure } from "../support/dynamicProvider";
import { startPlugin } from "../support/plugin";
import { newMachine, programOf, serving, startService } from "../support/rollOuts";

const ONE = { kind: "ServerlessEndpoint" };
const INPUTS = { gpuIds: ["AMPERE_24"], templateId: "template" };

/**
 * Starts a call, and cancels the plugin when `isReached` is true. Returns the time that the call
 * then took, in ms.
 */
async function cancelled(
  plugin: Awaited<ReturnType<typeof startPlugin>>,
  call: Promise<unknown>,
  isReached: () => boolean,
): Promise<{ readonly tookMs: number; readonly outcome: unknown }> {
  const ended = call.catch((error: unknown) => error);
  while (!isReached()) await sleep(20);
  const before = performance.now();
  await plugin.cancel();
  const outcome = await ended;
  return { tookMs: performance.now() - before, outcome };
}

test("a cancelled drain stops at once and restores the endpoint's workers, and the next run completes", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 5_000 });
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(ONE, { ...INPUTS, workersMin: 1 });
  const { id, outputs } = await plugin.create(ONE, inputs);
  const { tookMs, outcome } = await cancelled(plugin, plugin.delete(ONE, id, outputs), () =>
    plugin.lines.some(({ message }) => message.startsWith("waiting")),
  );
  expect(String(outcome)).toContain(
    "the run was cancelled before this operation completed. What exists stays in state",
  );
  expect(tookMs).toBeLessThan(1_000);
  expect(String(outcome)).toContain(`endpoint ${id} is in service and billed again`);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMin: 1, workersMax: 3 }]);
  await using next = await startPlugin(emulator.env);
  await next.delete(ONE, id, outputs);
  expect(emulator.endpoints.list()).toEqual([]);
});

test("a create or update that is cancelled runs to completion", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(ONE, INPUTS);
  const slow = () => {
    emulator.journal.clear();
    emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { latencyMs: 700 }, times: 1 });
  };
  const isSaving = () => emulator.journal.operations().includes("saveEndpoint");
  slow();
  const creating = plugin.create(ONE, inputs);
  const created = await cancelled(plugin, creating, isSaving);
  expect(created.outcome).toMatchObject({ id: emulator.endpoints.list()[0]?.id });
  const { id, outputs } = await creating;

  await using next = await startPlugin(emulator.env);
  slow();
  const updating = next.update(ONE, id, outputs, inputs, { ...inputs, workersMax: 1 });
  expect((await cancelled(next, updating, isSaving)).outcome).toMatchObject({ workersMax: 1 });
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 1 }]);
});

test("a cancelled wait for workers ends and leaves an incomplete resource, which the next run completes", async () => {
  await using emulator = await startEmulator({ profile: "contract", coldStartMs: 60_000 });
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(ONE, { ...INPUTS, workersMin: 1, awaitReady: true });
  const { outcome, tookMs } = await cancelled(plugin, plugin.create(ONE, inputs), () =>
    plugin.lines.some(({ message }) => message.includes("workers are ready")),
  );
  expect(tookMs).toBeLessThan(1_000);
  const failure = initFailure(outcome);
  expect(failure).toMatchObject({
    id: emulator.endpoints.list()[0]?.id,
    properties: { gpuIds: ["AMPERE_24"], workersMin: 1 },
    reasons: [expect.stringContaining("cancelled")],
  });
  const { id = "", properties = {} } = failure ?? {};
  expect(await plugin.diff(ONE, id, properties, inputs, inputs)).toMatchObject({ changes: "some" });
});

test("a cancelled smoke test ends, and its job is cancelled", async () => {
  let isRunning = false;
  const never = async () => {
    isRunning = true;
    await sleep(60_000, undefined, { ref: false });
  };
  await using emulator = await startEmulator({ profile: "contract", coldStartMs: 0, handlers: { default: never } });
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(ONE, { ...INPUTS, workersMin: 1 });
  const { id } = await plugin.create(ONE, inputs);
  const running = plugin.create({ kind: "SmokeTest" }, { endpointId: id, input: { prompt: "Hello" } });
  const { outcome, tookMs } = await cancelled(plugin, running, () => isRunning);
  expect(String(outcome)).toContain("the run was cancelled");
  expect(tookMs).toBeLessThan(1_000);
  expect(emulator.journal.operations()).toContain("cancel");
});

test("a cancelled watch of a release ends at once, state does not record that the release passed, and the next run tests it without a save", async () => {
  await using emulator = await startService();
  const env = {
    ...emulator.env,
    SERVERLESS_GPU_API: "v2",
    SERVERLESS_GPU_SERVICE: "runpod",
    XDG_CACHE_HOME: newMachine(),
  };
  const { automaticName: _, ...program } = programOf("good", { watch: { seconds: 600 } });
  await using plugin = await startPlugin(env);
  const { inputs } = await plugin.check(ONE, program);
  const { id, outputs } = await plugin.create(ONE, inputs);
  const { inputs: changed } = await plugin.check(ONE, { ...program, imageName: "me/llama-2-good" }, inputs);
  const { outcome, tookMs } = await cancelled(plugin, plugin.update(ONE, id, outputs, inputs, changed), () =>
    plugin.lines.some(({ message }) => message.startsWith("watching its new release")),
  );
  expect(tookMs).toBeLessThan(2_000);
  expect(String(outcome)).toContain("could not be tested");
  const { properties = {} } = initFailure(outcome) ?? {};
  expect(properties).toMatchObject({ imageName: "me/llama-2-good" });

  await using next = await startPlugin(env);
  expect(await next.diff(ONE, id, properties, changed, changed)).toMatchObject({ changes: "some" });
  const { inputs: last } = await next.check(ONE, { ...program, imageName: "me/llama-2-good", rollOut: {} }, changed);
  const judged = await next.update(ONE, id, properties, changed, last);
  expect(judged.__passed).toBeDefined();
  expect(judged.__passed).not.toEqual(properties.__passed);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good", saves: 1 });
});
