import { createClient } from "../../../sdk";
import { ended, start as startCommand } from "../../cli/command";
import { type Remembered, up } from "../../faults/engineMemory";
import { AFTER_THE_SAVE, failedUp, former, killAt, type Moment, start } from "../../support/rollOutRuns";
import { answers, newMachine, programOf, serving, startProvider, TOKEN } from "../../support/rollOuts";

const LEFT = "rolls back a release that an earlier run left behind";
const over = (api: string): Moment => (api === "v2" ? AFTER_THE_SAVE : ["the save", "saveTemplate", 1, "after"]);

describe.each(["v2", "graphql"])("over %s", (api) => {
  test("the killed machine does not roll back a release once another machine has accepted it", async () => {
    await using run = await start(api);
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, over(api), first, programOf("2-good"));
    const other = await startProvider(emulator, newMachine(), api);
    const accepted = await up(other, programOf("2-good"), first);
    await other.stop();
    const { saves } = serving(emulator);
    const back = await startProvider(emulator, machine, api);
    try {
      expect(await back.diff(accepted.id, accepted.outputs, accepted.inputs)).toMatchObject({ changes: "none" });
      const scaled = await up(back, { ...programOf("2-good"), workersMax: 3 }, accepted);
      expect(back.output()).not.toContain(LEFT);
      expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good" });
      expect(scaled.outputs).toMatchObject({ imageName: "me/llama-2-good", workersMax: 3 });
      expect(serving(emulator).saves).toBeLessThanOrEqual(saves + 1);
    } finally {
      await back.stop();
    }
  }, 120_000);

  test("a release that this machine rejected is not rolled back once another machine has accepted it", async () => {
    await using run = await start(api);
    const { emulator, provider, first } = run;
    answers.set = "5";
    await failedUp(provider, programOf("set"), first);
    answers.set = "4";
    // The other machine may try it again.
    const again = { ...programOf("set"), rollOut: { ...programOf("set").rollOut, attempt: 2 } };
    await using other = await startProvider(emulator, newMachine(), api);
    const accepted = await up(other, again, first);
    await up(provider, programOf("set"), accepted);
    expect(serving(emulator)).toMatchObject({ image: "me/llama-set" });
  }, 120_000);

  test.each([
    "2-good",
    "wrong",
  ])("if the console sets another image while the release %s is judged, up gives no verdict, rolls nothing back, and records the image in service", async (kind) => {
    await using run = await start(api);
    const { emulator, provider, first } = run;
    const { url, apiKey } = emulator;
    const service = { graphqlUrl: url, queueUrl: url, service: "runpod" } as const;
    await using console = createClient({ ...service, apiKey, api: api === "v2" ? "v2" : "graphql" });
    // Loads the client's code before the time counts.
    await console.endpoints.get(first.id);
    emulator.faults.add({ match: { operation: "status-sync", nth: 1 }, effect: { latencyMs: 10_000 } });
    const test = { ...programOf(kind).rollOut.test, timeout: 60 };
    const running = failedUp(provider, programOf(kind, { test }), first);
    const isHeld = () => emulator.journal.requests({ outcome: "pending", operation: "status-sync" }).length > 0;
    while (!isHeld()) await new Promise((resolve) => setTimeout(resolve, 20));
    await console.endpoints.update(first.id, { imageName: "me/theirs-good" });
    const error = await running;
    expect(error.message).toContain("neither accepted nor rolled back: someone else changed imageName");
    expect(provider.output()).not.toContain("has passed");
    expect(serving(emulator)).toMatchObject({ image: "me/theirs-good" });
    expect(error.remembered?.outputs).toMatchObject({ imageName: "me/theirs-good", env: { VERSION: kind } });
    // The program still wants its release.
    const last = programOf("2-good");
    const next = await up(provider, last, error.remembered as Remembered);
    expect(next.outputs).toMatchObject({ imageName: last.imageName });
    expect(serving(emulator)).toMatchObject({ image: last.imageName });
  }, 120_000);
});

const TEMPLATE = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").templateV1;';

describe("a killed adoption with a bad image", () => {
  const adopting = (id: string, kind = "wrong") => ({ ...programOf(kind), adoptId: id });

  test("is rolled back by the next up, and the endpoint is not added to state", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
    expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
    for (const attempt of ["the first", "the second"]) {
      await using next = await startProvider(emulator, machine);
      const error = await failedUp(next, adopting(first.id), undefined);
      expect([attempt, error.message]).toEqual([
        attempt,
        expect.stringContaining("failed and was rolled back: its test failed"),
      ]);
      expect(error.remembered).toBeUndefined();
      expect(serving(emulator)).toMatchObject(former);
    }
  }, 120_000);

  test("is also rolled back if its restore was killed", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, ["the restore", "updateEndpoint", 2, "before"], undefined, adopting(first.id));
    await using next = await startProvider(emulator, machine);
    const error = await failedUp(next, adopting(first.id), undefined);
    expect(error.remembered).toBeUndefined();
    expect(serving(emulator)).toMatchObject(former);
  }, 120_000);

  test.each([
    ["could not be restored", { operation: "updateEndpoint", nth: 2 }],
    ["could not be judged", { operation: "health" }],
  ])(
    "leaves the endpoint in state when the release %s, and removing the resource restores the endpoint without deleting it",
    async (_name, match) => {
      await using run = await start();
      const { emulator, machine, provider, first } = run;
      emulator.faults.add({ match, effect: { status: 400 } });
      const error = await failedUp(provider, adopting(first.id), undefined);
      emulator.faults.clear();
      const left = error.remembered as Remembered;
      expect(left.outputs).toMatchObject({ imageName: "me/llama-wrong", __adopting: true });
      await using next = await startProvider(emulator, machine);
      const { outputs } = await next.read(left.id, left.outputs);
      expect(outputs).toMatchObject({ __adopting: true });
      await next.delete(left.id, left.outputs);
      expect(next.output()).toContain("is not deleted, because its adoption was not completed");
      expect(emulator.endpoints.get(first.id)).toMatchObject({ workersMax: 2 });
      expect(serving(emulator)).toMatchObject(former);
    },
    120_000,
  );

  test("is reported by the next run of any resource if its own resource was removed, with the command that restores the endpoint", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
    await using next = await startProvider(emulator, machine);
    const template = { automaticName: "other", imageName: "app:1" };
    await up(next, { __provider: TEMPLATE, ...template }, undefined);
    expect(next.output()).toContain(`did not finish the adoption of endpoint ${first.id} ("llama")`);
    expect(next.output()).toContain(`serverless-gpu rollback ${first.id} --left --yes`);
    // The program has it again.
    await using program = await startProvider(emulator, machine);
    const error = await failedUp(program, adopting(first.id), undefined);
    expect(program.output()).not.toContain("did not finish the adoption");
    expect(error.message).toContain("failed and was rolled back");
    await using last = await startProvider(emulator, machine);
    await up(last, { __provider: TEMPLATE, ...template, automaticName: "third" }, undefined);
    expect(last.output()).not.toContain("did not finish the adoption");
  }, 120_000);

  test("is no longer reported once this machine has verified the other machine's adoption", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    const program = adopting(first.id, "2-good");
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, program);
    await using other = await startProvider(emulator, newMachine());
    const adopted = await up(other, program, undefined);
    await using next = await startProvider(emulator, machine);
    const verified = await up(next, program, adopted);
    await using last = await startProvider(emulator, machine);
    const template = { __provider: TEMPLATE, automaticName: "other", imageName: "app:1" };
    await up(last, template, undefined);
    expect(last.output()).not.toContain("did not finish the adoption");
    expect(await last.diff(verified.id, verified.outputs, verified.inputs)).toMatchObject({ changes: "none" });
    expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good" });
  }, 120_000);

  test.each([
    "graphql",
    "v2",
  ])("is cleared by the command over %s if the endpoint has been deleted since", async (api) => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
    emulator.endpoints.delete(first.id);
    emulator.endpoints.create({ name: "another", gpuIds: "ADA_24", templateId: "t" });
    const { env } = process;
    process.env = { ...env, ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", XDG_CACHE_HOME: machine };
    try {
      const command = () => ended(startCommand("rollback", first.id, "--left", "--yes", "--api", api));
      expect(await command()).toMatchObject({ code: 0, stderr: expect.stringContaining("no longer exists") });
      expect(await command()).toMatchObject({ code: 1, stderr: expect.stringContaining("has no record") });
    } finally {
      process.env = env;
    }
  }, 120_000);

  test("is rolled back by the reported command over either API", async () => {
    await using run = await start();
    const { emulator, machine, provider, first } = run;
    await killAt(emulator, provider, AFTER_THE_SAVE, undefined, adopting(first.id));
    const { env } = process;
    process.env = { ...env, ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", XDG_CACHE_HOME: machine };
    try {
      const command = (...args: string[]) => ended(startCommand("rollback", first.id, "--left", ...args));
      const checked = await ended(startCommand("doctor", "--json"));
      expect(checked.stdout).toContain(`serverless-gpu rollback ${first.id} --left --yes`);
      const shown = await command("--api", "graphql");
      expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("env.VERSION, imageName")]);
      expect(serving(emulator)).toMatchObject({ image: "me/llama-wrong" });
      const done = await command("--yes", "--api", "v2");
      expect([done.code, done.stderr]).toEqual([0, expect.stringContaining("has them again")]);
      expect(serving(emulator)).toMatchObject(former);
      const again = await command("--yes", "--api", "v2");
      expect([again.code, again.stderr]).toEqual([
        1,
        expect.stringContaining("has no record of an unfinished adoption"),
      ]);
      for (const { stdout, stderr } of [checked, shown, done, again]) expect(stdout + stderr).not.toContain(TOKEN);
    } finally {
      process.env = env;
    }
  }, 120_000);
});
