import { setTimeout as sleep } from "node:timers/promises";
import { up } from "../../faults/engineMemory";
import { failedUp, failedUpWithEdit, start } from "../../support/rollOutRuns";
import { programOf, serving } from "../../support/rollOuts";
import { done, ENDPOINT, runsAt, startRuns } from "./runs";

// Provokes messages about endpoints, does what they say, and checks that it works and that nothing
// is lost: no second endpoint, nothing deleted or switched off.

const RUNPOD = { SERVERLESS_GPU_SERVICE: "runpod" };

test("an endpoint that is off is put back in service, or kept off, as the warning says", async () => {
  await using user = await startRuns();
  const program = { ...ENDPOINT, workersMin: 0 };
  const state = done(await user.up(program));
  user.emulator.endpoints.change(state.id, { workersMax: 0 });
  const off = await user.refresh(state);
  expect(off.output).toMatch(
    /To put it back in service, add workersMax: 3 to the program .* To keep it off, add workersMax: 0/,
  );
  const kept = done(await user.up({ ...program, workersMax: 0 }, off.state));
  expect((await user.refresh(kept)).output).not.toContain("is off");
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: state.id, workersMax: 0 }]);
  const back = done(await user.up({ ...program, workersMax: 3 }, kept));
  expect((await user.refresh(back)).output).not.toContain("is off");
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: state.id, workersMax: 3 }]);
});

test("a deletion that timed out succeeds with a longer drainTimeout, once that is in state", async () => {
  await using user = await startRuns({
    profile: "observed",
    handlers: { default: (_, context) => context.sleep(15_000) },
  });
  const program = { ...ENDPOINT, workersMin: 1, workersMax: 1, drainTimeout: 2 };
  const state = done(await user.up(program));
  await fetch(`${user.emulator.url}/v2/${state.id}/run`, {
    method: "POST",
    body: JSON.stringify({ input: { prompt: "x" } }),
    headers: { authorization: `Bearer ${user.emulator.apiKey}`, "content-type": "application/json" },
  });
  await sleep(1_000);
  const failed = await user.destroy(state);
  expect(failed.error).toContain("set a longer drainTimeout and run pulumi up before you delete it");
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: state.id, workersMax: 1 }]);
  const longer = done(await user.up({ ...program, drainTimeout: 60 }, state));
  expect((await user.destroy(longer)).error).toBeUndefined();
  expect(user.emulator.endpoints.list()).toEqual([]);
}, 120_000);

test("an endpoint whose workers were not ready in time gets ready in the next up with a longer awaitReadyTimeout", async () => {
  await using user = await startRuns({ profile: "observed" });
  user.emulator.faults.add({ match: { pool: "ADA_24" }, effect: { soldOut: true } });
  const program = { ...ENDPOINT, gpuIds: "ADA_24", workersMin: 1, awaitReady: true, awaitReadyTimeout: 3 };
  const failed = await user.up(program);
  expect(failed.error).toMatch(
    /Check that its GPU pools are available .* Then run pulumi up again, if necessary with a longer/,
  );
  user.emulator.faults.clear();
  const ready = done(await user.up({ ...program, awaitReadyTimeout: 30 }, failed.state));
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: ready.id, workersMin: 1 }]);
}, 120_000);

test("an endpoint cannot change between template and image over GraphQL, but both ways that the errors name work", async () => {
  await using user = await startRuns({ profile: "observed" }, RUNPOD);
  user.emulator.templates.create({ id: "t", name: "t", imageName: "app:1", isServerless: true });
  const withTemplate = { ...ENDPOINT, templateId: "t" };
  const withImage = { name: "llama", gpuIds: "AMPERE_24", imageName: "app:2" };
  const state = done(await user.up(withTemplate));
  const refused = await user.up(withImage, state);
  expect(refused.error).toMatch(
    /or use REST v2 \(SERVERLESS_GPU_API=v2\), which can do it\. To set imageName, change the resource's logical name/,
  );
  // Another logical name: a new resource, whose endpoint needs a name of its own.
  const other = done(await user.up({ ...withImage, name: "llama-2" }));
  expect(user.emulator.endpoints.list().map(({ id }) => id)).toEqual([state.id, other.id]);
  const back = await user.up({ ...withTemplate, name: "llama-2" }, other);
  expect(back.error).toMatch(/cannot replace imageName over GraphQL/);
  const switched = done(await user.up(withImage, state, { SERVERLESS_GPU_API: "v2" }));
  expect(switched.id).toBe(state.id);
  expect(user.emulator.endpoints.list()).toHaveLength(2);
}, 120_000);

test("an endpoint with a foreign template is adopted with the templateId that the error advises, or over REST v2", async () => {
  await using user = await startRuns({ profile: "observed" }, RUNPOD);
  user.emulator.templates.create({ id: "t", name: "t", imageName: "app:1", isServerless: true });
  const { id: adoptId } = user.emulator.endpoints.create({ ...ENDPOINT, templateId: "t" });
  const withImage = { name: "llama", gpuIds: "AMPERE_24", imageName: "app:1", adoptId };
  const refused = await user.up(withImage);
  expect(refused.error).toMatch(/Set templateId to the id of that template instead, or use REST v2/);
  expect(done(await user.up({ ...ENDPOINT, templateId: "t", adoptId })).id).toBe(adoptId);
  expect(done(await user.up(withImage, undefined, { SERVERLESS_GPU_API: "v2" })).id).toBe(adoptId);
  expect(user.emulator.endpoints.list()).toHaveLength(1);
}, 120_000);

test("a change of an adopted endpoint that needs a new one waits until adoptId is removed, as the error says", async () => {
  await using user = await startRuns({ profile: "observed" }, RUNPOD);
  const { id: adoptId } = user.emulator.endpoints.create(ENDPOINT);
  const adopted = done(await user.up({ ...ENDPOINT, adoptId }));
  const changed = { name: "llama", templateId: "template", instanceIds: "cpu3c-2-4" };
  const refused = await user.up(changed, adopted);
  expect(refused.error).toMatch(
    /Restore the previous value, run pulumi up, which only removes adoptId .* then change it/,
  );
  const own = done(await user.up(ENDPOINT, adopted));
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
  expect(await user.replaces(changed, own)).toContain("instanceIds");
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
}, 120_000);

test("over GraphQL, drain: false is removed, or the endpoint deleted over REST v2, as the error says", async () => {
  await using user = await startRuns({ profile: "observed" }, RUNPOD);
  const refused = await user.up({ ...ENDPOINT, drain: false });
  expect(refused.error).toMatch(/Remove drain, or switch to REST v2 \(SERVERLESS_GPU_API=v2\)/);
  const state = done(await user.up({ ...ENDPOINT, drain: false }, undefined, { SERVERLESS_GPU_API: "v2" }));
  await user.destroy(state, { SERVERLESS_GPU_API: "v2" });
  expect(user.emulator.endpoints.list()).toEqual([]);
  done(await user.up(ENDPOINT));
}, 120_000);

test("a release whose restore failed, or that could not be tested, is tested by the next up, as the error says", async () => {
  for (const [match, says] of [
    [
      { operation: "updateEndpoint", nth: 2 },
      /because restoring the previous settings failed: .*\. Run pulumi up again/s,
    ],
    [{ operation: "run", nth: 1 }, /could not be tested: .* It is in service\. Run pulumi up again to test it/s],
  ] as const) {
    await using run = await start();
    const { emulator, provider, first } = run;
    const isUntested = match.operation === "run";
    emulator.faults.add({ match, effect: { status: 400 } });
    const failed = await failedUp(provider, programOf(isUntested ? "2-good" : "wrong"), first);
    expect(failed.message).toMatch(says);
    emulator.faults.clear();
    if (isUntested) {
      const state = await up(provider, programOf("2-good"), failed.remembered);
      expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good" });
      expect(await provider.diff(state.id, state.outputs, state.inputs)).toMatchObject({ changes: "none" });
    } else {
      const again = await failedUp(provider, programOf("wrong"), failed.remembered);
      expect(again.message).toMatch(/its test failed|its release/);
      const state = await up(provider, programOf("good"), again.remembered);
      expect(serving(emulator)).toMatchObject({ image: "me/llama-good" });
      expect(state.id).toBe(first.id);
    }
    expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 2 }]);
  }
}, 240_000);

test("a release that someone else changed during its test is saved and tested after the advised refresh", async () => {
  await using run = await start();
  const { emulator, machine, provider, first } = run;
  const failed = await failedUpWithEdit(run, provider, programOf("2-good"), first);
  expect(failed.message).toContain("Run pulumi up --refresh to save the program's release and test it");
  const user = runsAt(emulator, machine, { ...RUNPOD, SERVERLESS_GPU_API: "v2" });
  const refreshed = await user.refresh(failed.remembered);
  const { output, state } = await user.up(programOf("2-good"), refreshed.state);
  expect([state?.id, output]).toEqual([first.id, expect.stringContaining("its new release has passed")]);
  expect(serving(emulator)).toMatchObject({ image: "me/llama-2-good" });
}, 240_000);

test("a template's change reaches an endpoint for certain with recycleWorkers: true, as the log says", async () => {
  await using user = await startRuns({ profile: "observed" }, RUNPOD);
  const program = { ...ENDPOINT, workersMin: 1, templateRevision: 1 };
  const state = done(await user.up(program));
  const unsure = await user.up({ ...program, templateRevision: 2 }, state);
  expect(unsure.output).toContain("To be certain, set recycleWorkers: true");
  const recycled = await user.up({ ...program, templateRevision: 3, recycleWorkers: true }, unsure.state);
  expect(done(recycled).id).toBe(state.id);
  expect(recycled.output).toMatch(/is scaled to zero until its workers have stopped, then restored/);
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: state.id, workersMin: 1, workersMax: 3 }]);
}, 120_000);
