import { setTimeout as sleep } from "node:timers/promises";
import type { HandlerContext, HandlerJob } from "../../../emulator";
import { done, ENDPOINT, startRuns } from "../../provider/followedAdvice/runs";

// Advice that one resource and its provider's process are enough for, without the engine.

jest.setTimeout(240_000);

const REST_V2 = { SERVERLESS_GPU_API: "v2" };
const WITH_IMAGE = { name: "llama", gpuIds: "AMPERE_24", imageName: "me/llama:1" };

test("workersStandby that the program does not set is ended with the setting that the warning names", async () => {
  await using user = await startRuns({ profile: "observed" });
  const state = done(await user.up(WITH_IMAGE));
  user.emulator.endpoints.change(state.id, { workersStandby: 1 });
  const refreshed = await user.refresh(state);
  const warned = await user.up({ ...WITH_IMAGE, workersMax: 2 }, refreshed.state);
  expect(warned.output).toMatch(/keeps its workersStandby 1, .* To end that, add workersStandby: 0 to the program/);
  const ended = await user.up({ ...WITH_IMAGE, workersMax: 2, workersStandby: 0 }, done(warned));
  expect(done(ended).id).toBe(state.id);
  expect(ended.output).not.toContain("keeps its workersStandby");
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: state.id, workersStandby: 0, workersMax: 2 }]);
});

test("counts that the service has lowered under a schedule are restored by the advised refresh", async () => {
  await using user = await startRuns({ profile: "observed" });
  const rules = [
    { cron: "0 8 * * *", workersMin: 1, workersMax: 8 },
    { cron: "0 20 * * *", workersMin: 0, workersMax: 4 },
  ];
  const program = { ...WITH_IMAGE, schedule: { timeZone: "UTC", rules } };
  const state = done(await user.up(program));
  const { workersMax } = user.emulator.endpoints.get(state.id) ?? {};
  user.emulator.endpoints.change(state.id, { workersMin: 0, workersMax: 2 });
  const again = await user.up(program, state);
  expect(again.output).toContain("To restore it now, run pulumi up --refresh");
  expect(user.emulator.endpoints.get(state.id)).toMatchObject({ workersMax: 2 });
  const refreshed = await user.refresh(state);
  done(await user.up(program, refreshed.state));
  expect(user.emulator.endpoints.get(state.id)).toMatchObject({ workersMax });
});

test("a pinned time is removed, and the next run writes the counts of now", async () => {
  await using user = await startRuns({ profile: "observed" });
  // A name of this machine that is not certain to be this machine.
  const elsewhere = Object.fromEntries(
    Object.entries(user.emulator.env).map(([name, value]) => [name, value.replace("127.0.0.1", "0.0.0.0")]),
  );
  const rules = [{ cron: "0 8 * * *", workersMin: 0, workersMax: 5 }];
  const program = { ...WITH_IMAGE, schedule: { timeZone: "UTC", rules } };
  const refused = await user.up(program, undefined, { ...elsewhere, SERVERLESS_GPU_NOW: "2027-06-01T12:00Z" });
  expect(refused.error).toMatch(/remove the variable and run pulumi up again/);
  expect(user.emulator.endpoints.list()).toEqual([]);
  done(await user.up(program, undefined, elsewhere));
  expect(user.emulator.endpoints.list()).toMatchObject([{ workersMax: 5 }]);
});

test("a move from a template to an image is made without rollOut, which is added afterwards", async () => {
  await using user = await startRuns({ profile: "observed" }, { ...REST_V2, SERVERLESS_GPU_SERVICE: "runpod" });
  user.emulator.templates.create({ id: "t", name: "t", imageName: "app:1", isServerless: true });
  const state = done(await user.up({ ...ENDPOINT, templateId: "t" }));
  const rollOut = { test: { input: { prompt: "x" }, timeout: 30 } };
  const refused = await user.up({ ...WITH_IMAGE, rollOut }, state);
  expect(refused.error).toMatch(/Make that change without rollOut, and add rollOut afterwards/);
  const moved = done(await user.up(WITH_IMAGE, state));
  const judged = done(await user.up({ ...WITH_IMAGE, rollOut }, moved));
  expect(judged.id).toBe(state.id);
  const released = done(await user.up({ ...WITH_IMAGE, imageName: "me/llama:2", rollOut }, judged));
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: released.id, workersMax: 3 }]);
});

test("a release that waits for a long job is judged within the longer rollOut.timeout that the error advises", async () => {
  const handlers = { default: (job: HandlerJob, { sleep: pause }: HandlerContext) => answer(job, pause) };
  await using user = await startRuns(
    { profile: "observed", handlers },
    { ...REST_V2, SERVERLESS_GPU_SERVICE: "runpod" },
  );
  const rollOut = (timeout: number) => ({ test: { input: { prompt: "short" }, timeout: 20 }, timeout });
  const state = done(await user.up({ ...WITH_IMAGE, workersMax: 2, rollOut: rollOut(5) }));
  await fetch(`${user.emulator.url}/v2/${state.id}/run`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.emulator.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ input: { prompt: "long" } }),
  });
  await sleep(1000);
  const next = { ...WITH_IMAGE, workersMax: 2, imageName: "me/llama:2" };
  const early = await user.up({ ...next, rollOut: rollOut(5) }, state);
  expect(early.error).toMatch(/its workers were not replaced within 5 s: .* or set a longer rollOut\.timeout/);
  const judged = await user.up({ ...next, rollOut: rollOut(60) }, early.state);
  expect(done(judged).id).toBe(state.id);
  expect(user.emulator.endpoints.get(state.id)).toMatchObject({ workersMax: 2 });
});

/** Works for fifteen seconds on the job "long". */
async function answer({ input }: HandlerJob, pause: (ms: number) => Promise<void>) {
  if (JSON.stringify(input).includes("long")) await pause(15_000);
  return { text: "4" };
}

test("one of two endpoints that were made with one name at the same moment is renamed, as the warning says", async () => {
  await using user = await startRuns({ profile: "contract" });
  user.emulator.faults.add({
    match: { operation: "saveEndpoint", nth: 1 },
    effect: { latencyMs: 2_500, when: "before" },
  });
  const creating = user.up(ENDPOINT);
  const isHeld = () => user.emulator.journal.requests({ outcome: "pending", operation: "saveEndpoint" }).length > 0;
  while (!isHeld()) await sleep(20);
  const { id: other } = user.emulator.endpoints.create(ENDPOINT);
  const made = await creating;
  expect(made.output).toMatch(/two or more endpoints are named "llama".*To keep several, rename all but one/s);
  const renamed = done(await user.up({ ...ENDPOINT, name: "llama-2" }, done(made)));
  const named = user.emulator.endpoints.list().map(({ id, name }) => [id, name]);
  expect(named.sort()).toEqual(
    [
      [other, "llama"],
      [renamed.id, "llama-2"],
    ].sort(),
  );
});
