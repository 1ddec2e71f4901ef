import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SECRET_SIGNATURE, SIGNATURE } from "../../../provider/properties";
import { type Remembered, refresh, up } from "../../faults/engineMemory";
import { initFailure } from "../../support/dynamicProvider";
import { AFTER_THE_SAVE, failedUp, former, killAt, start } from "../../support/rollOutRuns";
import { newMachine, programOf, serving, startProvider } from "../../support/rollOuts";

const { rollOut: _, ...withoutRollOut } = programOf("good");
const LEFT = "rolls back a release that an earlier run left behind";

/** Replaces what was sealed on this machine, as if another key had sealed it. */
function reseal(machine: string): void {
  const names = readdirSync(machine, { recursive: true, encoding: "utf8" });
  const files = names.map((name) => path.join(machine, name)).filter((file) => file.endsWith(".json"));
  const records = files.map((file) => [file, JSON.parse(readFileSync(file, "utf8"))] as const);
  const sealed = records.filter(([, record]) => "sealed" in record);
  expect(sealed).toHaveLength(2);
  for (const [file, record] of sealed) writeFileSync(file, JSON.stringify({ ...record, sealed: "AAAA" }));
}

describe("after a kill, the previous program", () => {
  test.each([
    ["as it was", programOf("good")],
    ["without its rollOut", withoutRollOut],
  ])(
    "%s rolls back the release that is missing from state",
    async (_name, program) => {
      await using run = await start();
      const { emulator, machine, provider, first } = run;
      await killAt(emulator, provider, AFTER_THE_SAVE, first);
      expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
      const next = await startProvider(emulator, machine);
      try {
        const second = await up(next, program, first);
        expect(next.output()).toContain(LEFT);
        expect(serving(emulator)).toMatchObject(former);
        expect(second.outputs).toMatchObject({ imageName: former.image, env: former.env });
        const saves = serving(emulator).saves;
        expect(await next.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
        await up(next, program, second);
        expect(serving(emulator)).toMatchObject({ ...former, saves });
      } finally {
        await next.stop();
      }
    },
    120_000,
  );

  test("can be followed by the same release, which is judged because no run has rejected it", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, first);
    const next = await startProvider(emulator, machine);
    try {
      const second = await up(next, programOf("good"), first);
      const error = await failedUp(next, programOf("wrong"), second);
      expect(error.message).toContain("failed and was rolled back: its test failed");
      expect(serving(emulator)).toMatchObject(former);
    } finally {
      await next.stop();
    }
  }, 120_000);

  test("is refused with advice if the previous settings were recorded with another API key", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, first);
    reseal(machine);
    const next = await startProvider(emulator, machine);
    try {
      const error = await failedUp(next, programOf("good"), first);
      expect(error.message).toContain("with another API key, so they cannot be read. Run pulumi up --refresh");
      const refreshed = (await refresh(next, first)) as Remembered;
      const last = await up(next, programOf("good"), { ...refreshed, inputs: first.inputs });
      expect(serving(emulator)).toMatchObject(former);
      expect(await next.diff(last.id, last.outputs, last.inputs)).toMatchObject({ changes: "none" });
    } finally {
      await next.stop();
    }
  }, 120_000);

  test("rolls back a release that had passed if the run was killed before it finished", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    const release = { ...programOf("good"), imageName: "me/llama-2-good", awaitReady: true };
    emulator.faults.add({ match: { operation: "health", nth: 3 }, effect: { hang: true } });
    const running = up(provider, release, first).catch(() => undefined);
    while (!provider.output().includes("has passed")) await sleep(20);
    await provider.stop();
    await running;
    emulator.faults.clear();
    const next = await startProvider(emulator, machine);
    try {
      const second = await up(next, programOf("good"), first);
      expect(next.output()).toContain(LEFT);
      expect(serving(emulator)).toMatchObject(former);
      expect(await next.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
    } finally {
      await next.stop();
    }
  }, 120_000);

  test("changes nothing if the release was never saved", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, ["the save, before it", "updateEndpoint", 1, "before"], first);
    const next = await startProvider(emulator, machine);
    try {
      const second = await up(next, programOf("good"), first);
      expect(serving(emulator)).toMatchObject(former);
      expect(next.output()).not.toContain(LEFT);
      expect(await next.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
    } finally {
      await next.stop();
    }
  }, 120_000);
});

test("releases that pass can alternate on the same machine", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const other = { ...programOf("good"), imageName: "me/llama-2-good" };
  let state: Remembered = first;
  for (const program of [other, programOf("good"), other, programOf("good")]) {
    state = await up(provider, program, state);
    expect(serving(emulator)).toMatchObject({ image: program.imageName });
    expect(await provider.diff(state.id, state.outputs, state.inputs)).toMatchObject({ changes: "none" });
  }
  expect(provider.output().match(/its new release has passed/g)).toHaveLength(4);
}, 120_000);

test("a release made at workersMax 0 is judged once the endpoint gets workers", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const off = { ...programOf("wrong"), workersMin: 0, workersMax: 0 };
  const second = await up(provider, off, first);
  expect(provider.output()).toContain("its new release is judged once workersMax is raised");
  expect(provider.output()).not.toContain("has passed");
  expect(await provider.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
  const error = await failedUp(provider, programOf("wrong"), second);
  expect(error.message).toContain("failed and was rolled back: its test failed");
  expect(serving(emulator)).toMatchObject(former);
  expect(error.remembered?.outputs).toMatchObject({ imageName: former.image });
}, 120_000);

test("on another machine, the advice names a change that allows another attempt", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  await failedUp(provider, programOf("wrong"), first);
  const other = await startProvider(emulator, newMachine());
  try {
    const error = await failedUp(other, { ...programOf("wrong"), workersMax: 3 }, first);
    expect(error.message).toContain("change its image, variables or another setting of the release");
    const last = await up(other, { ...programOf("wrong"), imageName: "me/llama-3-good", workersMax: 3 }, first);
    expect(last.outputs).toMatchObject({ imageName: "me/llama-3-good", workersMax: 3 });
  } finally {
    await other.stop();
  }
}, 120_000);

describe("on a machine that knows nothing, after a refresh", () => {
  const withExtra = (kind: string) => ({ ...programOf(kind), env: { ...programOf(kind).env, EXTRA: "1" } });

  test("a restore also removes the variables that the release added, and keeps secrets secret", async () => {
    await using run = await start();
    const { emulator, provider, first } = run;
    emulator.faults.add({ match: { operation: "updateEndpoint", nth: 1 }, effect: { hang: true, when: "after" } });
    const running = up(provider, withExtra("wrong"), first).catch(() => undefined);
    while (!emulator.journal.requests({ outcome: "pending" }).some(({ fault }) => fault?.includes("hang")))
      await sleep(20);
    await provider.stop();
    await running;
    emulator.faults.clear();
    const other = await startProvider(emulator, newMachine());
    try {
      const refreshed = (await refresh(other, first)) as Remembered;
      const { inputs } = await other.check(first.inputs, withExtra("wrong"));
      const error: unknown = await other.update(refreshed.id, refreshed.outputs, inputs).catch((reason) => reason);
      const { env } = initFailure(error)?.properties ?? {};
      expect(env).toMatchObject({ VERSION: { [SIGNATURE]: SECRET_SIGNATURE, value: "good" } });
      expect(serving(emulator)).toMatchObject(former);
      expect(serving(emulator).env).not.toHaveProperty("EXTRA");
    } finally {
      await other.stop();
    }
  }, 120_000);

  test("a restore never switches an endpoint off", async () => {
    await using run = await start();
    const { emulator, first } = run;
    emulator.endpoints.change(first.id, { workersMin: 0, workersMax: 0 });
    const other = await startProvider(emulator, newMachine());
    try {
      const refreshed = (await refresh(other, first)) as Remembered;
      expect(refreshed.outputs).toMatchObject({ workersMax: 0 });
      const error = await failedUp(other, programOf("wrong"), { ...refreshed, inputs: first.inputs });
      expect(error.message).toContain("failed and was rolled back: its test failed");
      expect(serving(emulator)).toMatchObject(former);
      expect(emulator.endpoints.get(first.id)).toMatchObject({ workersMin: 1, workersMax: 2 });
      expect(error.remembered?.outputs).toMatchObject({ imageName: former.image, workersMin: 1, workersMax: 2 });
    } finally {
      await other.stop();
    }
  }, 120_000);
});

test("an adoption that changes the release is also judged, and a rejected release is not adopted", async () => {
  await using run = await start();
  const { emulator, machine, provider, first } = run;
  const adopting = (kind: string) => ({ ...programOf(kind), adoptId: first.id });
  const error = await failedUp(provider, adopting("wrong"), undefined);
  expect(error.message).toContain("failed and was rolled back: its test failed");
  expect(error.remembered).toBeUndefined();
  expect(serving(emulator)).toMatchObject({ ...former, saves: 2 });
  const next = await startProvider(emulator, machine);
  try {
    const again = await failedUp(next, adopting("wrong"), undefined);
    expect(again.message).toContain("failed and was rolled back: its test failed");
    expect(serving(emulator)).toMatchObject({ ...former, saves: 2 });
  } finally {
    await next.stop();
  }
  const last = await startProvider(emulator, machine);
  try {
    const adopted = await up(last, { ...adopting("good"), imageName: "me/llama-2-good" }, undefined);
    expect(adopted.outputs).toMatchObject({ imageName: "me/llama-2-good" });
  } finally {
    await last.stop();
  }
}, 120_000);
