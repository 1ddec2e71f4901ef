import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Remembered, up } from "../../faults/engineMemory";
import {
  AFTER_THE_SAVE,
  editImage,
  failedUp,
  failedUpWithEdit,
  killAt,
  maximumOf,
  previous,
  start,
} from "../../support/rollOutRuns";
import { newMachine, programOf, serving, startProvider } from "../../support/rollOuts";

const SECOND = programOf("2-good");

test("releases that pass can alternate, and a second up changes nothing", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  let state: Remembered = first;
  for (const program of [SECOND, programOf("good"), SECOND]) {
    state = await up(provider, program, state);
    expect(serving(emulator)).toMatchObject({ image: program.imageName });
    expect(await provider.diff(state.id, state.outputs, state.inputs)).toMatchObject({ changes: "none" });
  }
  expect(provider.output().match(/its new release has passed/g)).toHaveLength(3);
}, 120_000);

test("a failed release leaves state and service as they were, without the variable that it added, and each later up tries it again", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const program = { ...programOf("wrong"), env: { ...programOf("wrong").env, EXTRA: "1" } };
  for (const saves of [2, 4]) {
    const error = await failedUp(provider, program, first);
    expect(error.message).toMatch(/failed: its test failed: job .* output\.text is not as expected/);
    expect(error.message).toContain("The previous settings were saved again");
    expect(error.message).toContain("The next pulumi up tries the same release again");
    // The plain error leaves state as it was.
    expect(error.remembered).toBe(first);
    expect(serving(emulator)).toEqual({ ...previous, saves });
  }
}, 120_000);

test("with onFailure keep, a failed release stays in service and in state, and the next up tests it again without a save", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  let state: Remembered = first;
  for (const _ of ["the first", "the second"]) {
    const error = await failedUp(provider, programOf("wrong", { onFailure: "keep" }), state);
    expect(error.message).toContain("It is still in service, because rollOut.onFailure is keep");
    state = error.remembered as Remembered;
    expect(state.outputs).toMatchObject({ imageName: "me/llama-wrong" });
    expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong", saves: 1 });
  }
}, 120_000);

test("the error of a failed release shows its workers' log once, without secrets", async () => {
  await using run = await start();
  const { provider, first } = run;
  const error = await failedUp(provider, programOf("broken"), first);
  expect(error.message).toContain("CUDA error: no kernel image is available");
  expect(error.message.match(/\n {2}loading the weights of me\/llama-broken with \[redacted\]/g)).toHaveLength(1);
}, 120_000);

test("the error of a release whose container never runs shows the service's lines, and no advice that is followed already", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  emulator.faults.add({ match: { imageName: "me/llama-2-good" }, effect: { crashLoop: true } });
  const { message } = await failedUp(provider, SECOND, first);
  expect(message).toMatch(/did not end within 5 s, so this run cancelled it[\s\S]*\n {2}start container for me\/llama/);
  expect(message).not.toContain("set workersMin");
  expect(message.match(/Most likely/g) ?? []).toHaveLength(0);
}, 120_000);

test("if a failed release was already in service, the error of a change of workers says that it stays, and gives the workers back", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const kept = await failedUp(provider, programOf("wrong", { onFailure: "keep" }), first);
  const error = await failedUp(provider, { ...programOf("wrong"), workersMax: 3 }, kept.remembered);
  expect(error.message).toMatch(
    /still has this release, because this run does not know the previous settings[\s\S]*rollback/,
  );
  expect(error.message).not.toContain("saved again");
  expect(error.remembered).toBe(kept.remembered);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
  expect(maximumOf(run)).toBe(2);
}, 120_000);

test("an update of other fields names a release that someone else has saved, and leaves it", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  await editImage(run, "me/llama-wrong");
  await up(provider, { ...programOf("good"), workersMax: 3 }, first);
  expect(provider.output()).toMatch(/warning: someone else has changed imageName.*was not tested.*pulumi up --refresh/);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
}, 120_000);

test("a failed restore leaves a state that shows what serves, and no secret of it in plain text", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  emulator.faults.add({ match: { operation: "updateEndpoint", nth: 2 }, effect: { status: 400 } });
  const error = await failedUp(provider, programOf("wrong"), first);
  expect(error.message).toContain("It may still be in service, because restoring the previous settings failed");
  expect(error.remembered).toMatchObject({ isHalfMade: true, outputs: { imageName: "me/llama-wrong" } });
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
}, 120_000);

test("after a failed restore, the next up restores what served before, state shows that, and the release is tried again", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  emulator.faults.add({ match: { operation: "updateEndpoint", nth: 2 }, effect: { status: 400 } });
  let { remembered } = await failedUp(provider, programOf("wrong"), first);
  for (const _ of ["the second", "the third"]) {
    const error = await failedUp(provider, programOf("wrong"), remembered);
    expect(error.message).toMatch(/its test failed[\s\S]*The previous settings were saved again/);
    remembered = error.remembered;
    expect(remembered?.outputs).toMatchObject({ imageName: "me/llama-good" });
    expect(serving(emulator)).toMatchObject(previous);
  }
}, 120_000);

test("a release made at workersMax 0 is tested once the endpoint gets workers", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const second = await up(provider, { ...programOf("wrong"), workersMin: 0, workersMax: 0 }, first);
  expect(provider.output()).toContain("its release is tested once workersMax is raised");
  expect(provider.output()).not.toContain("has passed");
  expect(await provider.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
  const error = await failedUp(provider, programOf("wrong"), second);
  expect(error.message).toContain("its test failed");
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
}, 120_000);

test("the previous program also restores a release that had passed when its run was killed", async () => {
  await using run = await start();
  const { emulator, machine, provider, first } = run;
  emulator.faults.add({ match: { operation: "health", nth: 3 }, effect: { hang: true } });
  const running = up(provider, { ...SECOND, awaitReady: true }, first).catch(() => undefined);
  while (!provider.output().includes("has passed")) await sleep(20);
  await provider.stop();
  await running;
  emulator.faults.clear();
  await using next = await startProvider(emulator, machine);
  const { outputs, inputs, id } = await up(next, programOf("good"), first);
  expect(serving(emulator)).toMatchObject(previous);
  expect(await next.diff(id, outputs, inputs)).toMatchObject({ changes: "none" });
}, 120_000);

test("a note that another API key encrypted makes the next up fail, and name the refresh that shows what serves", async () => {
  await using run = await start();
  const { emulator, machine, provider, first } = run;
  await killAt(emulator, provider, AFTER_THE_SAVE, first);
  const names = readdirSync(machine, { recursive: true, encoding: "utf8" });
  for (const file of names.filter((name) => name.endsWith(".json")).map((name) => path.join(machine, name))) {
    const record = JSON.parse(readFileSync(file, "utf8"));
    if ("sealed" in record) writeFileSync(file, JSON.stringify({ ...record, sealed: "AAAA" }));
  }
  await using next = await startProvider(emulator, machine);
  const error = await failedUp(next, programOf("good"), first);
  expect(error.message).toMatch(/another API key.*pulumi up --refresh/);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
}, 120_000);

describe.each([
  ["v2", "wrong"],
  ["graphql", "2-good"],
])("over %s", (api, kind) => {
  const save = api === "v2" ? AFTER_THE_SAVE : (["the save", "saveTemplate", 1, "after"] as const);

  test("the machine of a killed run leaves a release that another machine has accepted", async () => {
    await using run = await start(api);
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, [...save], first, SECOND);
    const other = await startProvider(emulator, newMachine(), api);
    const accepted = await up(other, SECOND, first);
    await other.stop();
    await using back = await startProvider(emulator, machine, api);
    expect(await back.diff(accepted.id, accepted.outputs, accepted.inputs)).toMatchObject({ changes: "none" });
    const scaled = await up(back, { ...SECOND, workersMax: 3 }, accepted);
    expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good" });
    expect(scaled.outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 3 });
  }, 120_000);

  test(`if the console sets another image while the release ${kind} is tested, up gives no verdict and leaves that image`, async () => {
    await using run = await start(api);
    const { emulator, provider, first } = run;
    const error = await failedUpWithEdit(run, provider, programOf(kind), first);
    expect(error.message).toContain("neither accepted nor rolled back: someone else changed imageName");
    expect(provider.output()).not.toContain("has passed");
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good" });
    const state = error.remembered as Remembered;
    const again = await failedUp(provider, programOf(kind), state);
    expect(again.message).toContain("neither accepted nor rolled back: someone else changed imageName");
    expect(provider.output()).not.toContain("is tested now");
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good" });
    // The program still wants its release.
    const next = await up(provider, programOf("3-good"), state);
    expect(next.outputs).toMatchObject({ imageName: "me/llama-3-good" });
    expect(serving(emulator)).toMatchObject({ image: "me/llama-3-good" });
  }, 120_000);
});
