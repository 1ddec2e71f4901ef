import { up } from "../../faults/engineMemory";
import { IS_EVERYWHERE } from "../../support/everywhere";
import {
  AFTER_THE_SAVE,
  editImage,
  failedUp,
  failedUpWithEdit,
  killAt,
  type Moment,
  maximumOf,
  previous,
  type Run,
  rollBack,
  start,
} from "../../support/rollOutRuns";
import { newMachine, programOf, serving, startProvider, TOKEN } from "../../support/rollOuts";

/** One API, and with `npm run test:everywhere` both. */
const apis = (api: string) => ["v2", "graphql"].filter((each) => IS_EVERYWHERE || each === api);

/** Adopts the endpoint with another image and more workers. */
const adopting = (id: string, kind = "wrong") => ({ ...programOf(kind), workersMax: 6, adoptId: id });
const withoutRollOut = ({ rollOut: _, ...program }: ReturnType<typeof adopting>) => program;

const TEMPLATE = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").templateV1;';
const ANOTHER = { __provider: TEMPLATE, automaticName: "other", imageName: "app:1" };

/** What the next run of any resource on this machine prints. */
async function saidByNextRun({ emulator, machine }: Run, automaticName = "other"): Promise<string> {
  await using next = await startProvider(emulator, machine);
  await up(next, { ...ANOTHER, automaticName }, undefined);
  return next.output();
}

test("an adoption whose release fails leaves the endpoint as it was, and the next one with a good release passes", async () => {
  await using run = await start();
  const { emulator, machine, provider, first } = run;
  for (const saves of [2, 4]) {
    await using each = await startProvider(emulator, machine);
    const error = await failedUp(each, adopting(first.id), undefined);
    expect(error.message).toContain("The previous settings were saved again");
    expect(error.message).toContain("The endpoint was not adopted");
    expect(error.remembered).toBeUndefined();
    expect([serving(emulator), maximumOf(run)]).toEqual([{ ...previous, saves }, 2]);
  }
  expect(await saidByNextRun(run)).not.toContain("did not finish the adoption");
  const adopted = await up(provider, adopting(first.id, "2-good"), undefined);
  expect(adopted.outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 6 });
}, 120_000);

const KILLS: Moment[] = [AFTER_THE_SAVE, ["the restore, before it", "updateEndpoint", 2, "before"]];

test.each(
  KILLS,
)("after a kill at %s, the next up tests the release again and leaves the endpoint as it was before both", async (...moment) => {
  await using run = await start();
  const { emulator, machine, provider, first } = run;
  await killAt(emulator, provider, moment, undefined, adopting(first.id));
  await using next = await startProvider(emulator, machine);
  const error = await failedUp(next, adopting(first.id), undefined);
  expect(error.remembered).toBeUndefined();
  expect([serving(emulator), maximumOf(run)]).toEqual([expect.objectContaining(previous), 2]);
}, 120_000);

test("an adoption on another machine, of an endpoint that already has the bad release, fails and names the command that returns to another one", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
  await using other = await startProvider(emulator, newMachine());
  const error = await failedUp(other, adopting(first.id), undefined);
  expect(other.output()).toContain("is already in service, but has not passed: it is tested now");
  expect(error.message).toContain("this run does not know the previous settings. The endpoint was not adopted");
  expect(error.message).toContain(`rollback ${first.id} --to <version>`);
  expect(error.remembered).toBeUndefined();
  // The machine of the killed run still knows what served before.
  expect(await rollBack(run)).toMatchObject({ code: 0, stderr: expect.stringContaining("has them again") });
  expect([serving(emulator), maximumOf(run)]).toEqual([expect.objectContaining(previous), 2]);
}, 120_000);

test("an adoption on another machine, of an endpoint that already has the good release, tests it and saves nothing", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id, "2-good"));
  const { saves } = serving(emulator);
  await using other = await startProvider(emulator, newMachine());
  const adopted = await up(other, adopting(first.id, "2-good"), undefined);
  expect(other.output()).toContain("its new release has passed");
  expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good", saves });
  expect(await other.diff(adopted.id, adopted.outputs, adopted.inputs)).toMatchObject({ changes: "none" });
}, 120_000);

test.each([
  ["could not be restored", { operation: "updateEndpoint", nth: 2 }, "me/llama-wrong"],
  ["could not be tested", { operation: "health" }, previous.image],
])(
  "a release that %s leaves the endpoint out of state, and the next run names it if it was not restored",
  async (_name, match, image) => {
    await using run = await start();
    const { emulator, provider, first } = run;
    emulator.faults.add({ match, effect: { status: 400 } });
    const error = await failedUp(provider, adopting(first.id), undefined);
    emulator.faults.clear();
    expect(error.remembered).toBeUndefined();
    expect(serving(emulator)).toMatchObject({ image });
    await provider.stop();
    const said = await saidByNextRun(run);
    const isNamed = said.includes(`did not finish the adoption of endpoint ${first.id} ("llama")`);
    expect(isNamed).toBe(image !== previous.image);
    if (isNamed) await rollBack(run);
    expect([serving(emulator), maximumOf(run)]).toEqual([expect.objectContaining(previous), 2]);
  },
  120_000,
);

test("if the console sets another image while the release of an adoption is tested, only that image stays", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  const error = await failedUpWithEdit(run, provider, adopting(first.id), undefined);
  expect(error.remembered).toBeUndefined();
  expect(error.message).toContain("someone else changed imageName after it was saved");
  expect(error.message).toContain("The endpoint was not adopted");
  expect(serving(emulator)).toMatchObject({ image: "me/theirs-good", env: previous.env });
  expect(maximumOf(run)).toBe(2);
}, 120_000);

const withoutRollOutOf = (id: string, kind?: string) => withoutRollOut(adopting(id, kind));
const PROGRAMS = [
  ["with a rollout", adopting],
  ["without a rollout", withoutRollOutOf],
] as const;
/** One of these programs, and with `npm run test:everywhere` both. */
const programs = (at: number) => PROGRAMS.filter((_, index) => IS_EVERYWHERE || index === at);

async function killed(run: Run, program: typeof withoutRollOutOf, kind: string): Promise<void> {
  await killAt(run.emulator, run.provider, AFTER_THE_SAVE, undefined, program(run.first.id, kind));
  expect(serving(run.emulator)).toMatchObject({ image: `me/llama-${kind}` });
}

test.each(programs(1))(
  "a killed adoption %s is named by the next run of any resource, and the command restores everything but the console's later change",
  async (_name, program) => {
    await using run = await start();
    await killed(run, program, "wrong");
    const said = await saidByNextRun(run);
    expect(said).toContain(`did not finish the adoption of endpoint ${run.first.id} ("llama")`);
    expect(said).toContain(`rollback ${run.first.id} --left --yes`);
    await editImage(run, "me/theirs-good");
    const { code, stdout, stderr } = await rollBack(run);
    expect([code, stderr]).toEqual([0, expect.stringContaining("has them again, except for imageName")]);
    expect(stdout + stderr + said).not.toContain(TOKEN);
    expect(serving(run.emulator)).toMatchObject({ image: "me/theirs-good", env: previous.env });
    expect(maximumOf(run)).toBe(2);
    expect(await rollBack(run)).toMatchObject({ code: 1, stderr: expect.stringContaining("has no record") });
    expect(await saidByNextRun(run, "third")).not.toContain("did not finish the adoption");
  },
  120_000,
);

test.each(programs(0))(
  "a killed adoption %s is completed by the same program and no longer named",
  async (_name, program) => {
    await using run = await start();
    await killed(run, program, "2-good");
    await using next = await startProvider(run.emulator, run.machine);
    const { id, outputs, inputs } = await up(next, program(run.first.id, "2-good"), undefined);
    expect(outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 6 });
    expect(await saidByNextRun(run)).not.toContain("did not finish the adoption");
    expect(await next.diff(id, outputs, inputs)).toMatchObject({ changes: "none" });
  },
  120_000,
);

test.each(programs(1))(
  "a killed adoption %s leaves nothing behind for a program that adopts the endpoint with fewer settings",
  async (_name, program) => {
    await using run = await start();
    await killed(run, program, "2-good");
    await using next = await startProvider(run.emulator, run.machine);
    const { workersMax: _, ...less } = program(run.first.id, "2-good");
    const { outputs } = await up(next, less, undefined);
    expect(maximumOf(run)).toBe(2);
    expect(outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 2 });
  },
  120_000,
);

test("an adoption that the service rejects is not named", async () => {
  await using run = await start();
  const { emulator, provider, first } = run;
  emulator.faults.add({ match: { operation: "updateEndpoint" }, effect: { status: 400 }, times: 1 });
  await failedUp(provider, adopting(first.id), undefined);
  await provider.stop();
  expect(await saidByNextRun(run)).not.toContain("did not finish the adoption");
  expect(serving(emulator)).toMatchObject(previous);
}, 120_000);

test.each(
  apis("graphql"),
)("the command over %s forgets a killed adoption of an endpoint that was deleted since", async (api) => {
  await using run = await start();
  const { emulator, provider, first } = run;
  await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
  emulator.endpoints.delete(first.id);
  emulator.endpoints.create({ name: "another", gpuIds: "ADA_24", templateId: "t" });
  expect(await rollBack(run, api)).toMatchObject({ code: 0, stderr: expect.stringContaining("no longer exists") });
  expect(await rollBack(run, api)).toMatchObject({ code: 1, stderr: expect.stringContaining("has no record") });
}, 120_000);

/** An endpoint whose last change removed a variable and raised its workers, and the program. */
async function changed(api: string) {
  const run = await start(api);
  const { emulator, provider, first, machine } = run;
  const { rollOut, env, ...program } = programOf("good");
  const more = await up(provider, { ...program, env: { ...env, OLD: "1" } }, first);
  await up(provider, { ...program, env, workersMax: 5 }, more);
  // Another resource, which leaves the worker counts and other variables to the service.
  const { workersMax: _, workersMin: __, ...other } = { ...program, automaticName: "other", adoptId: first.id, env };
  return { run, other, rollOut, next: await startProvider(emulator, machine, api) };
}

test.each(apis("v2"))("an adoption over %s restores nothing of a completed change when it succeeds", async (api) => {
  const { run, other, next } = await changed(api);
  await using _ = run;
  await up(next, other, undefined);
  expect([serving(run.emulator), maximumOf(run)]).toEqual([expect.objectContaining(previous), 5]);
  expect(next.output()).not.toContain("restores");
  await next.stop();
}, 120_000);

test.each(
  apis("graphql"),
)("an adoption over %s restores nothing of a completed change when its release fails and it has written nothing", async (api) => {
  const { run, other, rollOut, next } = await changed(api);
  await using _ = run;
  const test = { ...rollOut.test, expectedOutput: { text: "6" } };
  const error = await failedUp(next, { ...other, rollOut: { ...rollOut, test } }, undefined);
  expect(error.message).toContain("The endpoint was not adopted");
  expect([serving(run.emulator), maximumOf(run)]).toEqual([expect.objectContaining(previous), 5]);
  await next.stop();
}, 120_000);
