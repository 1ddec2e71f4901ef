import { createClient } from "../../../sdk";
import { type Remembered, refresh, up } from "../../faults/engineMemory";
import {
  AFTER_THE_SAVE,
  failedUp,
  former,
  killAt,
  maximumOf,
  type Run,
  rollBack,
  start,
} from "../../support/rollOutRuns";
import { newMachine, programOf, serving, startProvider } from "../../support/rollOuts";

type Provider = Run["provider"];

/** Adopts the endpoint with another image and more workers. */
const adopting = (id: string, kind = "2-good") => ({ ...programOf(kind), workersMax: 6, adoptId: id });

const consoleOf = ({ url, apiKey }: Run["emulator"]) =>
  createClient({ graphqlUrl: url, queueUrl: url, service: "runpod", apiKey, api: "v2" });

const EDIT = { imageName: "me/theirs-good" };

/** Sets another image in the console. */
async function editImage(emulator: Run["emulator"], id: string): Promise<void> {
  await using console = consoleOf(emulator);
  await console.endpoints.update(id, EDIT);
}

/** Runs `up`, which must fail, and sets another image in the console while the test runs. */
async function failedUpWithEdit({ emulator, first }: Run, provider: Provider, program: object, before?: Remembered) {
  await using console = consoleOf(emulator);
  // Loads the client's code before the time counts.
  await console.endpoints.get(first.id);
  emulator.faults.add({ match: { operation: "status-sync", nth: 1 }, effect: { latencyMs: 3_000 } });
  const running = failedUp(provider, program, before);
  const isHeld = () => emulator.journal.requests({ outcome: "pending", operation: "status-sync" }).length > 0;
  while (!isHeld()) await new Promise((resolve) => setTimeout(resolve, 20));
  await console.endpoints.update(first.id, EDIT);
  return running;
}

describe("if the console sets another image while an adoption is judged", () => {
  test("the worker counts are restored, and the error lists everything else with the command that restores it", async () => {
    await using run = await start();
    const { emulator, provider, machine, first } = run;
    const error = await failedUpWithEdit(run, provider, adopting(first.id));
    expect(error.remembered).toBeUndefined();
    expect(error.message).toContain("The endpoint was not adopted. The endpoint still has env.VERSION of this program");
    expect(error.message).toContain(`serverless-gpu rollback ${first.id} --left --yes`);
    expect(maximumOf(run)).toBe(2);
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good", env: { VERSION: "2-good" } });
    // A process of another deployment names it as well.
    await provider.stop();
    expect(await rollBack(run)).toMatchObject({ code: 0, stderr: expect.stringContaining("has them again") });
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good", env: former.env });

    await using next = await startProvider(emulator, machine);
    const adopted = await up(next, adopting(first.id), undefined);
    expect(adopted.outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 6 });
  }, 120_000);

  test("an adoption that then fails restores the settings that the first one changed", async () => {
    await using run = await start();
    const { emulator, provider, machine, first } = run;
    await failedUpWithEdit(run, provider, adopting(first.id));
    await using next = await startProvider(emulator, machine);
    const error = await failedUp(next, adopting(first.id, "wrong"), undefined);
    expect(error.message).toContain("failed and was rolled back: its test failed");
    expect(maximumOf(run)).toBe(2);
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good", env: former.env });
  }, 120_000);

  test("removing an endpoint that an earlier run adopted without a verdict restores the worker counts", async () => {
    await using run = await start();
    const { emulator, provider, machine, first } = run;
    emulator.faults.add({ match: { operation: "health" }, effect: { status: 400 } });
    const { remembered } = await failedUp(provider, adopting(first.id), undefined);
    emulator.faults.clear();
    await using next = await startProvider(emulator, machine);
    const error = await failedUpWithEdit(run, next, adopting(first.id), remembered as Remembered);
    expect(error.message).toContain("neither accepted nor rolled back");
    expect(error.remembered?.outputs).toMatchObject({ imageName: "me/theirs-good", workersMax: 6, __adopting: true });
    await using last = await startProvider(emulator, machine);
    const left = (await refresh(last, error.remembered as Remembered)) as Remembered;
    await last.delete(left.id, left.outputs);
    expect(maximumOf(run)).toBe(2);
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good" });
  }, 120_000);
});

describe("if the console sets another image after an adoption", () => {
  test("removing a resource that was adopted without a verdict restores the worker counts and lists everything else", async () => {
    await using run = await start();
    const { emulator, provider, machine, first } = run;
    emulator.faults.add({ match: { operation: "health" }, effect: { status: 400 } });
    const { remembered } = await failedUp(provider, adopting(first.id), undefined);
    emulator.faults.clear();
    await editImage(emulator, first.id);
    const left = remembered as Remembered;
    const next = await startProvider(emulator, machine);
    await next.delete(left.id, left.outputs);
    expect(next.output()).toContain("The endpoint still has env.VERSION of this program");
    expect(next.output()).toContain(`serverless-gpu rollback ${first.id} --left --yes`);
    expect(maximumOf(run)).toBe(2);
    await next.stop();
    await rollBack(run);
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good", env: former.env });
  }, 120_000);

  test("the next adoption after a killed one starts from the worker counts before both adoptions", async () => {
    await using run = await start();
    const { emulator, provider, machine, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
    await editImage(emulator, first.id);
    await using next = await startProvider(emulator, machine);
    await failedUp(next, adopting(first.id, "wrong"), undefined);
    expect(maximumOf(run)).toBe(2);
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good", env: former.env });
  }, 120_000);

  test("the command restores the settings that a killed adoption changed, except for the console's changes, and says so", async () => {
    await using run = await start();
    const { emulator, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
    await editImage(emulator, first.id);
    const { code, stderr } = await rollBack(run);
    expect([code, stderr]).toEqual([0, expect.stringContaining("has them again, except for imageName")]);
    expect(maximumOf(run)).toBe(2);
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good", env: former.env });
  }, 120_000);
});

test("an adoption that fails after a killed one with another image leaves the endpoint as it was before both adoptions", async () => {
  await using run = await start();
  const { emulator, provider, machine, first } = run;
  await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
  await using next = await startProvider(emulator, machine);
  await failedUp(next, adopting(first.id, "wrong"), undefined);
  expect(maximumOf(run)).toBe(2);
  expect(serving(emulator)).toMatchObject(former);
}, 120_000);

describe("an adoption that was killed on another machine", () => {
  test("is judged and not completed if its image is bad, and the error names the command that rolls the release back", async () => {
    await using run = await start();
    const { emulator, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id, "wrong"));
    const elsewhere = newMachine();
    for (const workersMax of [6, 9]) {
      await using other = await startProvider(emulator, elsewhere);
      const error = await failedUp(other, { ...adopting(first.id, "wrong"), workersMax }, undefined);
      expect(error.message).toContain("was not adopted: it already had the program's release, which failed: its test");
      expect(error.message).toMatch(new RegExp(`serverless-gpu rollback ${first.id} --to \\d`));
      expect(error.remembered).toBeUndefined();
      expect(maximumOf(run)).toBe(6);
    }
    // The machine of the killed run still knows what served before.
    expect(await rollBack(run)).toMatchObject({ code: 0, stderr: expect.stringContaining("has them again") });
    expect(maximumOf(run)).toBe(2);
    expect(serving(emulator)).toMatchObject(former);
  }, 120_000);

  test("is judged and completed if its image is good, and is not judged again", async () => {
    await using run = await start();
    const { emulator, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
    const { saves } = serving(emulator);
    await using other = await startProvider(emulator, newMachine());
    const adopted = await up(other, adopting(first.id), undefined);
    expect(other.output()).toContain("is already in service and is judged now");
    expect(other.output()).toContain("has passed");
    expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good", saves });
    expect(await other.diff(adopted.id, adopted.outputs, adopted.inputs)).toMatchObject({ changes: "none" });
  }, 120_000);
});
