import { type Remembered, up } from "../../faults/engineMemory";
import { AFTER_THE_SAVE, failedUp, former, killAt, start } from "../../support/rollOutRuns";
import { newMachine, programOf, serving, startProvider } from "../../support/rollOuts";

const { rollOut: _, ...withoutRollOut } = programOf("good");
const LEFT = "takes back a release that a run has left without a verdict";

describe("after a kill, the former program", () => {
  test.each([
    ["as it was", programOf("good")],
    ["without its rollOut", withoutRollOut],
  ])(
    "%s takes the release back that state does not know",
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

test("releases that pass can follow each other back and forth on one machine", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const other = { ...programOf("good"), imageName: "me/llama-2-good" };
  let state: Remembered = first;
  for (const program of [other, programOf("good"), other, programOf("good")]) {
    state = await up(provider, program, state);
    expect(serving(emulator)).toMatchObject({ image: program.imageName });
  }
  expect(provider.output().match(/its new release has passed/g)).toHaveLength(4);
}, 120_000);

test("a release made at workersMax 0 is judged when the endpoint gets workers", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const off = { ...programOf("wrong"), workersMin: 0, workersMax: 0 };
  const second = await up(provider, off, first);
  expect(provider.output()).toContain("its new release is judged when workersMax is raised");
  expect(provider.output()).not.toContain("has passed");
  expect(await provider.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
  const error = await failedUp(provider, programOf("wrong"), second);
  expect(error.message).toContain("was refused: its test failed");
  expect(serving(emulator)).toMatchObject(former);
  expect(error.remembered?.outputs).toMatchObject({ imageName: former.image });
}, 120_000);

test("on another machine, the advice names a change that helps", async () => {
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
