import { done, ENDPOINT, REGISTRY_AUTH, SECRET, startRuns, TEMPLATE, VOLUME } from "./runs";

// Provokes messages about records of every kind, does what they say, and checks that it works and
// that nothing is lost: no second record, nothing deleted or switched off.

test("a released endpoint becomes the stack's own, and is deleted with it, as the warning says", async () => {
  await using user = await startRuns();
  const { id } = user.emulator.endpoints.create({ ...ENDPOINT, workersMax: 2 });
  const adopting = { ...ENDPOINT, adoptId: id };
  const adopted = done(await user.up(adopting));
  const { output } = await user.destroy(adopted);
  expect(output).toContain(
    "adopt it again, run pulumi up, remove adoptId, run pulumi up, and then remove the resource",
  );
  expect(user.emulator.endpoints.list()).toMatchObject([{ id, workersMax: 2 }]);

  const again = done(await user.up(adopting));
  const own = done(await user.up(ENDPOINT, again));
  expect(user.emulator.endpoints.list()).toMatchObject([{ id, workersMax: 2 }]);
  await user.destroy(own);
  expect(user.emulator.endpoints.list()).toEqual([]);
});

test("an endpoint whose adoptId is another one keeps its record if adoptId is removed, and a new resource adopts the other one", async () => {
  await using user = await startRuns();
  const own = done(await user.up(ENDPOINT));
  const { id } = user.emulator.endpoints.create({ ...ENDPOINT, name: "theirs" });
  const refused = await user.up({ ...ENDPOINT, adoptId: id }, own);
  expect(refused.error).toMatch(/declare another resource for it under another logical name, or remove adoptId/);
  expect(done(await user.up(ENDPOINT, own)).id).toBe(own.id);
  expect(done(await user.up({ ...ENDPOINT, name: "theirs", adoptId: id })).id).toBe(id);
  expect(user.emulator.endpoints.list().map((each) => each.id)).toEqual([own.id, id]);
});

test("an adoption of an id that is gone creates a record once adoptId is removed", async () => {
  await using user = await startRuns();
  user.emulator.endpoints.create({ ...ENDPOINT, name: "neighbor" });
  const refused = await user.up({ ...ENDPOINT, adoptId: "gone1234567" });
  expect(refused.error).toMatch(/Check the id and the API key\. If it was deleted, remove adoptId from the program/);
  const { id } = done(await user.up(ENDPOINT));
  expect(user.emulator.endpoints.list().map((each) => each.name)).toEqual(["neighbor", "llama"]);
  expect(id).toBeTruthy();
});

test("an endpoint that was deleted elsewhere is created again after the advised refresh, also one with adoptId", async () => {
  await using user = await startRuns();
  user.emulator.endpoints.create({ ...ENDPOINT, name: "neighbor" });
  const { id: theirs } = user.emulator.endpoints.create({ ...ENDPOINT, name: "theirs" });
  for (const adoptId of [undefined, theirs]) {
    const program = { ...ENDPOINT, name: adoptId ? "theirs" : "own" };
    const state = done(await user.up({ ...program, ...(adoptId && { adoptId }) }));
    user.emulator.endpoints.delete(state.id);
    const failed = await user.up({ ...program, ...(adoptId && { adoptId }), workersMax: 2 }, state);
    expect(failed.error).toMatch(
      /Run pulumi up --refresh: .* If the program still sets its adoptId, remove that first/,
    );
    const refreshed = await user.refresh(failed.state);
    expect(refreshed.state).toBeUndefined();
    expect(done(await user.up({ ...program, workersMax: 2 })).id).not.toBe(state.id);
  }
  expect(user.emulator.endpoints.list().map((each) => each.name)).toEqual(["neighbor", "own", "theirs"]);
});

test("a rename to a name that another endpoint has works as advised: under another name, or once the other one is gone", async () => {
  await using user = await startRuns();
  const one = done(await user.up({ ...ENDPOINT, name: "one" }));
  const other = done(await user.up({ ...ENDPOINT, name: "two" }));
  const refused = await user.up({ ...ENDPOINT, name: "two" }, one);
  expect(refused.error).toMatch(
    /Choose another name\.\nIf this run deletes the other endpoint .* run pulumi up again\./,
  );
  const renamed = done(await user.up({ ...ENDPOINT, name: "three" }, one));
  expect(user.emulator.endpoints.list().map(({ name }) => name)).toEqual(["three", "two"]);
  await user.destroy(other);
  done(await user.up({ ...ENDPOINT, name: "two" }, renamed));
  expect(user.emulator.endpoints.list()).toMatchObject([{ id: one.id, name: "two" }]);
});

test("a volume is kept and adopted with its own size, is kept if the previous value is restored, and moves as a second volume", async () => {
  await using user = await startRuns();
  const { id } = user.emulator.volumes.create({ name: "models", size: 100, dataCenterId: "EU-RO-1" });
  const small = await user.up({ ...VOLUME, adoptId: id });
  expect(small.error).toMatch(/it has 100 GB, and a volume cannot shrink to 50: set size to 100 or more/);
  const adopted = done(await user.up({ ...VOLUME, size: 100, adoptId: id }));
  const own = done(await user.up({ ...VOLUME, size: 100 }, adopted));
  const shrunk = await user.up({ ...VOLUME, size: 60 }, own);
  expect(shrunk.error).toMatch(/cannot shrink: set 100 or more, or declare another volume/);
  const kept = done(await user.up({ ...VOLUME, size: 100 }, own));

  const moved = await user.up({ ...VOLUME, size: 100, dataCenterId: "EU-CZ-1" }, kept);
  expect(moved.error).toMatch(
    /Restore the previous value\. To move, declare another volume under a new name, copy the data/,
  );
  const restored = done(await user.up({ ...VOLUME, size: 100 }, kept));
  expect(user.emulator.volumes.list()).toMatchObject([{ id, size: 100, dataCenterId: "EU-RO-1" }]);
  done(await user.up({ ...VOLUME, name: "models-2", size: 100, dataCenterId: "EU-CZ-1" }));
  expect(user.emulator.volumes.list()).toHaveLength(2);
  await user.destroy(restored);
  expect(user.emulator.volumes.list()).toMatchObject([{ name: "models-2", dataCenterId: "EU-CZ-1" }]);
});

test("a template that cannot be adopted is created anew, as advised", async () => {
  await using user = await startRuns();
  const of = { imageName: "app:0" };
  const templates = [
    { ...of, id: "pods", name: "pods", isServerless: false },
    { ...of, id: "public", name: "public", isPublic: true, isServerless: true },
    { ...of, id: "bound", name: "llama__template__a1b2c3d", isServerless: true },
  ];
  for (const [at, template] of templates.entries()) {
    user.emulator.templates.create(template);
    const program = { ...TEMPLATE, name: `new-${at}` };
    const refused = await user.up({ ...program, adoptId: template.id });
    expect(refused.error).toMatch(/create a new one/i);
    done(await user.up(program));
    expect(user.emulator.templates.get(template.id)).toMatchObject(of);
  }
  expect(user.emulator.templates.list()).toHaveLength(6);
});

test("over REST v2, a registry credential that cannot be adopted is created without adoptId", async () => {
  await using user = await startRuns({ profile: "observed" }, { SERVERLESS_GPU_API: "v2" });
  user.emulator.seed({ registryAuths: [{ id: "theirs", name: "theirs", username: "me", password: "their-password" }] });
  const refused = await user.up({ ...REGISTRY_AUTH, adoptId: "theirs" });
  expect(refused.error).toMatch(/or remove adoptId to create another credential/);
  const { id } = done(await user.up(REGISTRY_AUTH));
  expect(user.emulator.registryAuths.list().map((each) => each.id)).toEqual(["theirs", id]);
  expect(user.emulator.registryAuths.matches("theirs", "me", "their-password")).toBe(true);
});

test("a secret gets its value from the variable that the error names, and one of two values is removed as advised", async () => {
  await using user = await startRuns({ profile: "observed" }, { SERVERLESS_GPU_SERVICE: "runpod" });
  const program = { ...SECRET, valueEnv: "HF_TOKEN", valueVersion: 1 };
  const missing = await user.up(program);
  expect(missing.error).toMatch(/valueEnv: names HF_TOKEN, which is not set in the environment of this run/);
  expect(user.emulator.secrets.list()).toEqual([]);
  done(await user.up(program, undefined, { HF_TOKEN: "value-of-play" }));
  const both = await user.up({ ...program, name: "other", value: "value-of-play" });
  expect(both.error).toMatch(/cannot be combined with value: remove one of them/);
  done(await user.up({ ...SECRET, name: "other", value: "value-of-play" }));
  expect(user.emulator.secrets.list().map(({ name }) => name)).toEqual(["hf_token", "other"]);
});
