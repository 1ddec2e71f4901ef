import { type Remembered, refresh, up } from "../../faults/engineMemory";
import { AFTER_THE_SAVE, failedUp, former, killAt, type Moment, start } from "../../support/rollOutRuns";
import { newMachine, programOf, serving, startProvider, TOKEN } from "../../support/rollOuts";

/** The moments at which the process is killed. */
test("a good release passes its test, and the next up changes nothing", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const second = await up(provider, programOf("good", { attempt: 2 }), first);
  const changed = { ...programOf("good"), imageName: "me/llama-2-good" };
  const third = await up(provider, changed, second);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good" });
  expect(third.outputs).toMatchObject({ imageName: "me/llama-2-good" });
  expect(provider.output()).toContain("its new release has passed");
  expect(await provider.diff(third.id, third.outputs, third.inputs)).toMatchObject({ changes: "none" });
  expect(JSON.stringify(third.outputs)).not.toContain("__unjudged");
}, 120_000);

test("a release that fails its test is restored and stays refused until the attempt or the program changes, even on another machine", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const error = await failedUp(provider, programOf("wrong"), first);
  expect(error.message).toMatch(/failed and was rolled back: its test failed: job .* output\.text is not as expected/);
  expect(error.message).toContain("runs with its previous settings");
  // The plain error leaves state as it was.
  expect(error.remembered).toBe(first);
  expect(serving(emulator)).toMatchObject({ ...former, saves: 2 });

  const again = await failedUp(provider, programOf("wrong"), first);
  expect(again.message).toContain("output.text is not as expected");
  expect(provider.output()).toContain("warning: this release failed before");
  expect(serving(emulator)).toMatchObject({ ...former, saves: 2 });

  const other = await startProvider(emulator, newMachine());
  try {
    const elsewhere = await failedUp(other, programOf("wrong"), first);
    expect(elsewhere.message).toContain("the service shows that it was made at");
    expect(elsewhere.message).toContain("its next attempt is 2");
    expect(serving(emulator)).toMatchObject({ ...former, saves: 2 });
    await failedUp(other, programOf("wrong", { attempt: 2 }), first);
    expect(serving(emulator)).toMatchObject({ ...former, saves: 4 });
    await failedUp(other, programOf("wrong", { attempt: 2 }), first);
    expect(serving(emulator)).toMatchObject({ ...former, saves: 4 });
  } finally {
    await other.stop();
  }

  const changed = { ...programOf("wrong"), imageName: "me/llama-2-good" };
  await up(provider, changed, first);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good" });
}, 180_000);

test("over GraphQL, a release of the endpoint's own container is also judged and restored", async () => {
  await using run = await start("graphql");
  const { emulator, provider, first } = run;
  const error = await failedUp(provider, programOf("wrong"), first);
  expect(error.message).toContain("failed and was rolled back: its test failed");
  expect(provider.output()).toContain("GraphQL does not show releases");
  expect(error.remembered).toBe(first);
  expect(serving(emulator)).toMatchObject(former);
  const last = await up(provider, { ...programOf("good"), imageName: "me/llama-2-good" }, first);
  expect(last.outputs).toMatchObject({ imageName: "me/llama-2-good" });
}, 120_000);

test("a failed restore leaves a state that shows the settings in service, and the next up restores first", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  emulator.faults.add({ match: { operation: "updateEndpoint" }, effect: {}, times: 1 });
  emulator.faults.add({ match: { operation: "updateEndpoint" }, effect: { status: 400 }, times: 1 });
  const error = await failedUp(provider, programOf("wrong"), first);
  expect(error.message).toContain("may still be in service, because restoring its previous settings failed");
  expect(error.remembered?.outputs).toMatchObject({ imageName: "me/llama-wrong" });
  expect(JSON.stringify(error.remembered?.outputs.__unjudged)).not.toContain(TOKEN);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });

  emulator.faults.clear();
  const half = error.remembered as Remembered;
  const second = await failedUp(provider, programOf("wrong"), half);
  expect(second.message).toContain("failed and was rolled back: its test failed");
  expect(serving(emulator)).toMatchObject(former);
  expect(second.remembered?.outputs).toMatchObject({ imageName: "me/llama-good", env: former.env });
  const third = await failedUp(provider, programOf("wrong"), second.remembered as Remembered);
  expect(third.remembered).toBe(second.remembered);
  const last = await up(provider, programOf("good"), third.remembered);
  expect(last.outputs).toMatchObject({ imageName: "me/llama-good", env: former.env });
}, 180_000);

test("with onFailure keep, a failed release stays in place, up fails, and the next up judges it again", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const program = programOf("wrong", { onFailure: "keep" });
  const error = await failedUp(provider, program, first);
  expect(error.message).toContain("It is still in service, because rollOut.onFailure is keep");
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong", saves: 1 });
  const again = await failedUp(provider, program, error.remembered as Remembered);
  expect(again.message).toContain("It is still in service");
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong", saves: 1 });
}, 120_000);

const MOMENTS: Moment[] = [
  ["the save, before it", "updateEndpoint", 1, "before"],
  AFTER_THE_SAVE,
  ["the wait for the workers", "listWorkers", 1, "after"],
  ["the submit of the test", "run", 1, "after"],
  ["the wait for the test", "status-sync", 1, "after"],
  ["the save of the previous settings, before it", "updateEndpoint", 2, "before"],
  ["the save of the previous settings, after it", "updateEndpoint", 2, "after"],
  ["the wait for the previous workers", "listWorkers", 3, "after"],
];

describe("an up that was killed", () => {
  test.each(MOMENTS)("at %s leaves a correct state after the next up", async (...moment) => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, moment, first);
    const next = await startProvider(emulator, machine);
    try {
      const error = await failedUp(next, programOf("wrong"), first);
      expect(error.message).toContain("failed and was rolled back: its test failed");
      expect(error.remembered).toBe(first);
      expect(serving(emulator)).toMatchObject(former);
      const saves = serving(emulator).saves;
      await failedUp(next, programOf("wrong"), first);
      expect(serving(emulator)).toMatchObject({ ...former, saves });
      const refreshed = await refresh(next, first);
      expect(refreshed?.outputs).toMatchObject({ imageName: "me/llama-good", env: former.env });
      expect(refreshed?.outputs).not.toHaveProperty("__unjudged");
    } finally {
      await next.stop();
    }
  }, 180_000);

  test("after the save leaves a correct state on a machine without records, even after a refresh", async () => {
    await using run = await start();
    const { emulator, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, first);
    const other = await startProvider(emulator, newMachine());
    try {
      const refreshed = (await refresh(other, first)) as Remembered;
      expect(refreshed.outputs).toMatchObject({ imageName: "me/llama-wrong" });
      expect(JSON.stringify(refreshed.outputs.__unjudged)).not.toContain(TOKEN);
      const error = await failedUp(other, programOf("wrong"), { ...refreshed, inputs: first.inputs });
      expect(error.message).toContain("failed and was rolled back: its test failed");
      expect(error.remembered?.outputs).toMatchObject({ imageName: "me/llama-good", env: former.env });
      expect(serving(emulator)).toMatchObject(former);
    } finally {
      await other.stop();
    }
  }, 120_000);

  test("after the save restores the previous settings when the next program also fails", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, first);
    const next = await startProvider(emulator, machine);
    try {
      const error = await failedUp(next, programOf("broken"), first);
      expect(error.message).toContain("CUDA error");
      expect(serving(emulator)).toMatchObject(former);
    } finally {
      await next.stop();
    }
  }, 120_000);
});
