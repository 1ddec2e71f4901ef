import { up } from "../../faults/engineMemory";
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
import { programOf, serving, startProvider } from "../../support/rollOuts";

const TEMPLATE = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").templateV1;';
const ANOTHER = { __provider: TEMPLATE, automaticName: "other", imageName: "app:1" };

/** Adopts the endpoint with other settings, without a rollout. */
function adopting(adoptId: string, kind = "2-good") {
  const { rollOut: _, ...program } = programOf(kind);
  return { ...program, workersMax: 6, adoptId };
}

async function killed(run: Run): Promise<void> {
  await killAt(run.emulator, run.provider, AFTER_THE_SAVE, undefined, adopting(run.first.id));
  expect(serving(run.emulator)).toMatchObject({ image: "me/llama-2-good" });
}

describe("an adoption without a rollout that was killed", () => {
  test("is reported by the next run of any resource, with the command that restores the endpoint's previous settings", async () => {
    await using run = await start();
    await killed(run);
    await using next = await startProvider(run.emulator, run.machine);
    await up(next, ANOTHER, undefined);
    expect(next.output()).toContain(`did not finish the adoption of endpoint ${run.first.id} ("llama")`);
    expect(next.output()).toContain(`serverless-gpu rollback ${run.first.id} --left --yes`);
    expect(await rollBack(run)).toMatchObject({ code: 0, stderr: expect.stringContaining("has them again") });
    expect(maximumOf(run)).toBe(2);
    expect(serving(run.emulator)).toMatchObject(former);
  }, 120_000);

  test("is completed by the same program and no longer reported", async () => {
    await using run = await start();
    await killed(run);
    await using next = await startProvider(run.emulator, run.machine);
    const adopted = await up(next, adopting(run.first.id), undefined);
    expect(adopted.outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 6 });
    await using last = await startProvider(run.emulator, run.machine);
    await up(last, ANOTHER, undefined);
    expect(last.output()).not.toContain("did not finish the adoption");
    expect(await last.diff(adopted.id, adopted.outputs, adopted.inputs)).toMatchObject({ changes: "none" });
  }, 120_000);

  test("has no further effect on a program that adopts the endpoint with fewer settings", async () => {
    await using run = await start();
    await killed(run);
    await using next = await startProvider(run.emulator, run.machine);
    const { workersMax: _, ...less } = adopting(run.first.id);
    const adopted = await up(next, less, undefined);
    expect(maximumOf(run)).toBe(2);
    expect(adopted.outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 2 });
  }, 120_000);
});

test("an adoption that the service rejects is not reported", async () => {
  await using run = await start();
  const { emulator, provider, machine, first } = run;
  emulator.faults.add({ match: { operation: "updateEndpoint" }, effect: { status: 400 }, times: 1 });
  await failedUp(provider, adopting(first.id), undefined);
  await provider.stop();
  await using next = await startProvider(emulator, machine);
  await up(next, ANOTHER, undefined);
  expect(next.output()).not.toContain("did not finish the adoption");
  expect(serving(emulator)).toMatchObject(former);
}, 120_000);
