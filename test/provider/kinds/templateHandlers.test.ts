import { type Emulator, startEmulator } from "../../../emulator";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";

const CANARY = "canary-key-77ab12";
const SECRET = "env-canary-55ff01";
const FOREIGN = "foreign-canary-9a";

const handlersOf = (name: string) => `exports.handler = () => require("pulumi-serverless-gpu/handlers").${name};`;
const TEMPLATE = handlersOf("templateV1");
const VOLUME = handlersOf("networkVolumeV1");
const REGISTRY_AUTH = handlersOf("registryAuthV1");

let emulator: Emulator;
let provider: Awaited<ReturnType<typeof startDynamicProvider>>;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", apiKey: CANARY, drainMs: 0 });
  provider = await startDynamicProvider(emulator.env);
});

afterEach(() => {
  emulator.faults.clear();
  expect(provider.output()).not.toMatch(new RegExp([CANARY, SECRET, FOREIGN].join("|")));
});

afterAll(async () => {
  await provider.stop();
  await emulator.stop();
});

async function checked(news: Properties, olds: Properties = {}) {
  const { inputs, failures } = await provider.check(olds, news);
  expect(failures).toEqual([]);
  return inputs;
}

const template = (changes: Properties = {}) => ({
  __provider: TEMPLATE,
  automaticName: "llama",
  imageName: "app:1",
  env: { TOKEN: SECRET, MODE: "fast" },
  __secretInputs: "env.TOKEN",
  ...changes,
});

test("a template is created, read, changed and deleted, and state contains only the variables that the program sets", async () => {
  const inputs = await checked(template());
  expect(inputs).toEqual(await checked(template()));
  const { id, outputs } = await provider.create(inputs);
  expect(outputs.name).toMatch(/^llama-[0-9a-f]{7}$/);
  expect(outputs).toMatchObject({
    imageName: "app:1",
    containerDiskInGb: 20,
    revision: 1,
    env: { TOKEN: SECRET, MODE: "fast" },
  });
  const env = [...(emulator.templates.get(id)?.env ?? []), { key: "PORT", value: FOREIGN }];
  emulator.templates.change(id, { env, containerDiskInGb: 99 });
  const read = await provider.read(id, outputs);
  // Workers may not have what was changed elsewhere, or by a run that was interrupted before the
  // engine recorded it.
  expect(read.outputs).toMatchObject({ containerDiskInGb: 99, revision: 2, env: { TOKEN: SECRET, MODE: "fast" } });
  expect(JSON.stringify(read)).not.toContain(FOREIGN);
  expect((await provider.read(id, read.outputs)).outputs).toMatchObject({ revision: 2 });
  // The program does not manage the disk.
  expect(await provider.diff(id, read.outputs, inputs)).toEqual({ changes: "none", replaces: [] });

  const changed = await checked(template({ imageName: "app:2", env: { TOKEN: SECRET } }), inputs);
  const updated = await provider.update(id, read.outputs, changed);
  expect(updated).toMatchObject({ imageName: "app:2", revision: 3, containerDiskInGb: 99 });
  expect(emulator.templates.get(id)?.env).toEqual([
    { key: "TOKEN", value: SECRET },
    { key: "PORT", value: FOREIGN },
  ]);
  // A name and a description are for people: workers need no new version.
  const described = await provider.update(
    id,
    updated,
    await checked(template({ imageName: "app:2", env: { TOKEN: SECRET }, readme: "text" }), changed),
  );
  expect(described).toMatchObject({ readme: "text", revision: 3 });
  await provider.delete(id, described);
  expect(emulator.templates.get(id)).toBeUndefined();
});

test("a change that a killed run has made counts once it is recorded, so that workers get it: an image, a new variable and a removed one", async () => {
  const inputs = await checked(template());
  const changes = [
    { imageName: "app:2" },
    { env: { TOKEN: SECRET, MODE: "fast", NEW: "1" } },
    { env: { TOKEN: SECRET } },
  ];
  const all = await Promise.all(
    changes.map(async (change) => ({
      ...(await provider.create(inputs)),
      changed: await checked(template(change), inputs),
    })),
  );
  // The engine is killed before it records this.
  await Promise.all(all.map(({ id, outputs, changed }) => provider.update(id, outputs, changed)));
  emulator.journal.clear();
  const recorded = await Promise.all(all.map(({ id, outputs, changed }) => provider.update(id, outputs, changed)));
  expect(recorded).toMatchObject(changes.map(() => ({ revision: 2 })));
  expect(emulator.journal.operations()).not.toContain("saveTemplate");
});

test("each record gets its own automatic name, and an explicit name that is taken is refused with advice", async () => {
  const inputs = await checked(template());
  const first = await provider.create(inputs);
  const second = await provider.create(inputs);
  expect(second.outputs.name).toMatch(/^llama-[0-9a-f]{7}$/);
  expect(second.outputs.name).not.toBe(first.outputs.name);
  expect(await provider.diff(second.id, second.outputs, inputs)).toEqual({ changes: "none", replaces: [] });
  const explicit = await checked(template({ name: String(first.outputs.name) }));
  await expect(provider.create(explicit)).rejects.toThrow(new RegExp(`set adoptId to "${first.id}"`));
});

test("any template can be adopted unless it is a pod template, public, or bound to an endpoint", async () => {
  const own = { imageName: "app:0", isServerless: true };
  emulator.templates.create({ ...own, id: "mine", name: "mine" });
  const inputs = await checked(template({ adoptId: "mine" }));
  const { id, outputs } = await provider.create(inputs);
  expect([id, outputs.name, outputs.imageName]).toEqual(["mine", "mine", "app:1"]);
  const others = [
    { id: "pods", name: "pods", isServerless: false },
    { id: "public", name: "public", isPublic: true },
    { id: "bound", name: "llama__template__a1b2c3d" },
  ];
  for (const other of others) {
    emulator.templates.create({ ...own, ...other });
    await expect(provider.create(await checked(template({ adoptId: other.id })))).rejects.toThrow(/cannot be adopted/);
    expect(emulator.templates.get(other.id)?.imageName).toBe("app:0");
  }
});

test("a wrong account, a null account and an empty list never count as a deletion, and a run that meets a wrong account creates nothing more", async () => {
  // A run of its own, because nothing more can be created in it.
  await using provider = await startDynamicProvider(emulator.env);
  const { id, outputs } = await provider.create(await checked(template()));
  emulator.faults.add({ match: { operation: "myself" }, effect: { nullAccount: true } });
  await expect(provider.read(id, outputs)).rejects.toThrow(/found no account/);
  emulator.faults.clear();
  const elsewhere = { ...outputs, __account: `${emulator.url} 0123456789ab` };
  emulator.templates.delete(id);
  await expect(provider.read(id, elsewhere)).rejects.toThrow(/last seen with another API key/);
  await expect(provider.delete(id, elsewhere)).rejects.toThrow(/last seen with another API key/);
  const another = provider.create(await checked(template({ automaticName: "another" })));
  await expect(another).rejects.toThrow(`no template was created, because template ${id} of this stack is not in`);
  expect((await provider.read(id, outputs)).id).toBe("");
});

test("error messages show no secret value", async () => {
  const { failures } = await provider.check({}, template({ env: { "1-TOKEN": SECRET }, __secretInputs: "env" }));
  expect(JSON.stringify(failures)).toContain("letters, digits and underscores");
  expect(JSON.stringify(failures)).not.toContain(SECRET);
});

test("a volume grows in place, is never replaced when its data center changes, and cannot shrink", async () => {
  const volume = (changes: Properties = {}) => ({
    __provider: VOLUME,
    automaticName: "models-1234567",
    size: 50,
    dataCenterId: "EU-RO-1",
    ...changes,
  });
  const inputs = await checked(volume());
  const { id, outputs } = await provider.create(inputs);
  expect(outputs).toMatchObject({ name: "models-1234567", size: 50 });
  await expect(provider.create(inputs)).rejects.toThrow(/already exists.*set adoptId/s);
  const grown = await provider.update(id, outputs, await checked(volume({ size: 80 }), inputs));
  expect(grown).toMatchObject({ size: 80 });
  const { failures } = await provider.check(await checked(volume({ size: 80 })), volume({ size: 60 }));
  expect(failures[0]?.reason).toMatch(/cannot shrink/);
  emulator.volumes.change(id, { size: 200 });
  const read = await provider.read(id, grown);
  await expect(provider.update(id, read.outputs, await checked(volume({ size: 80 })))).rejects.toThrow(/cannot shrink/);
  const moved = await checked(volume({ dataCenterId: "EU-CZ-1", size: 20 }), inputs);
  await expect(provider.diff(id, grown, moved)).rejects.toThrow(
    /dataCenterId: cannot be changed, and a new volume would lose all data/,
  );
  // The refused create said how to keep the volume, so this run does not delete it.
  await expect(provider.delete(id, read.outputs)).rejects.toThrow(
    /another resource with its name could not be created/,
  );
  expect(emulator.volumes.list()).toMatchObject([{ id }]);
  emulator.volumes.delete(id);
});

test("a credential's password changes in place, and a new name replaces the credential", async () => {
  const auth = (changes: Properties = {}) => ({
    __provider: REGISTRY_AUTH,
    automaticName: "ghcr",
    username: "me",
    password: SECRET,
    __secretInputs: "password,username",
    ...changes,
  });
  const inputs = await checked(auth());
  const { id, outputs } = await provider.create(inputs);
  expect((await provider.read(id, outputs)).outputs).toEqual(outputs);
  const rotated = await checked(auth({ password: `${SECRET}-2` }), inputs);
  expect(await provider.diff(id, outputs, rotated)).toEqual({ changes: "unknown", replaces: [] });
  expect(await provider.update(id, outputs, rotated)).toMatchObject({ password: `${SECRET}-2`, name: outputs.name });
  const renamed = await checked(auth({ name: "other" }), inputs);
  expect(await provider.diff(id, outputs, renamed)).toMatchObject({ replaces: ["name"] });
  await provider.delete(id, outputs);
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("an adopted credential gets the program's user and password, because the service does not return its own", async () => {
  emulator.registryAuths.create({ id: "theirs", name: "theirs", username: "you", password: "unknown-password" });
  const auth = { __provider: REGISTRY_AUTH, username: "me", password: SECRET, __secretInputs: "password,username" };
  const { id, outputs } = await provider.create(await checked({ ...auth, adoptId: "theirs" }));
  expect([id, outputs.name]).toEqual(["theirs", "theirs"]);
  expect(emulator.registryAuths.matches("theirs", "me", SECRET)).toBe(true);
  // An adopted record is released.
  await provider.delete(id, outputs);
  expect(emulator.registryAuths.get("theirs")).toBeDefined();
  emulator.registryAuths.delete("theirs");
});

test("a volume that is larger than declared is not adopted, because volumes cannot shrink", async () => {
  emulator.volumes.create({ id: "large", name: "large", size: 100, dataCenterId: "EU-RO-1" });
  emulator.volumes.create({ id: "far", name: "far", size: 100, dataCenterId: "EU-CZ-1" });
  const volume = { __provider: VOLUME, dataCenterId: "EU-RO-1", size: 50 };
  const failing = provider.create(await checked({ ...volume, adoptId: "large" }));
  await expect(failing).rejects.toThrow(/cannot be adopted: it has 100 GB.*set size to 100 or more/);
  const elsewhere = provider.create(await checked({ ...volume, adoptId: "far", size: 200 }));
  await expect(elsewhere).rejects.toThrow(
    /cannot be adopted: its dataCenterId is "EU-CZ-1" and cannot be changed: set dataCenterId to that value/,
  );
  expect(emulator.volumes.list()).toMatchObject([{ size: 100 }, { size: 100 }]);
  for (const { id } of emulator.volumes.list()) emulator.volumes.delete(id);
});

test("a volume is never replaced when its tier changes", async () => {
  const volume = (highPerformance: boolean) => ({
    __provider: VOLUME,
    automaticName: "tiers-1234567",
    size: 50,
    dataCenterId: "EU-RO-1",
    highPerformance,
  });
  for (const isFast of [true, false]) {
    const inputs = await checked(volume(isFast));
    const { id, outputs } = await provider.create(inputs);
    expect(outputs).toMatchObject({ highPerformance: isFast });
    const other = await checked(volume(!isFast), inputs);
    await expect(provider.diff(id, outputs, other)).rejects.toThrow(/highPerformance: (cannot|requires)/);
    await provider.delete(id, outputs);
  }
});

test("a volume cannot take the name of another volume in its data center", async () => {
  const volume = { __provider: VOLUME, size: 50, dataCenterId: "EU-RO-1" };
  emulator.volumes.create({ id: "other", name: "taken", size: 10, dataCenterId: "EU-RO-1" });
  emulator.volumes.create({ id: "elsewhere", name: "free here", size: 10, dataCenterId: "EU-CZ-1" });
  const inputs = await checked({ ...volume, name: "mine" });
  const { id, outputs } = await provider.create(inputs);
  const taken = await checked({ ...volume, name: "taken" }, inputs);
  await expect(provider.update(id, outputs, taken)).rejects.toThrow(
    /cannot be renamed to "taken": other has that name/,
  );
  expect(emulator.volumes.get(id)).toMatchObject({ name: "mine" });
  const renamed = await provider.update(id, outputs, await checked({ ...volume, name: "free here" }, inputs));
  expect(renamed).toMatchObject({ name: "free here" });
  for (const each of ["other", "elsewhere", id]) emulator.volumes.delete(each);
});

test("the next update completes a recycle that was interrupted at zero workers", async () => {
  const { id: templateId } = await provider.create(await checked(template()));
  const endpoint = {
    automaticName: "llama-e",
    gpuIds: "ADA_24",
    templateId,
    templateRevision: 1,
    recycleWorkers: true,
  };
  const inputs = await checked(endpoint);
  expect(inputs).toMatchObject({ workersMin: 0, workersMax: 3 });
  const { id, outputs } = await provider.create(inputs);
  // The process was killed after it had scaled to zero: state still has the previous revision.
  emulator.endpoints.change(id, { workersMax: 0 });
  const next = await checked({ ...endpoint, templateRevision: 2 }, inputs);
  expect(await provider.diff(id, outputs, next)).toMatchObject({ changes: "some" });
  expect(provider.output()).toContain(`endpoint ${id} is scaled to zero instead of`);
  const updated = await provider.update(id, outputs, next);
  expect(updated).toMatchObject({ templateRevision: 2, workersMax: 3 });
  expect(emulator.endpoints.get(id)).toMatchObject({ workersMin: 0, workersMax: 3 });
});

test("the workers are restored after an interrupted recycle even if the program no longer requests the recycle", async () => {
  const { id: templateId } = await provider.create(await checked(template()));
  const endpoint = { automaticName: "llama-f", gpuIds: "ADA_24", templateId };
  const inputs = await checked({ ...endpoint, workersMax: 2, templateRevision: 1, recycleWorkers: true });
  const { id, outputs } = await provider.create(inputs);
  const nexts = [{ templateRevision: 2, workersMax: 2 }, { templateRevision: 2 }, { workersMax: 2 }];
  for (const next of nexts) {
    emulator.endpoints.change(id, { workersMax: 0 });
    // Each run has a process of its own, and its comparisons share a list.
    await using provider = await startDynamicProvider(emulator.env);
    const { inputs: changed } = await provider.check(inputs, { ...endpoint, ...next });
    expect((await provider.diff(id, outputs, changed)).changes).not.toBe("none");
    const workersMax = next.workersMax ?? 3;
    expect(await provider.update(id, outputs, changed)).toMatchObject({ workersMax });
    expect(emulator.endpoints.get(id)).toMatchObject({ workersMin: 0, workersMax });
  }
});

test("a template that an interrupted run created is found by its automatic name and changed instead of created again", async () => {
  const given = template({ automaticName: "drawn-1a2b3c4", env: {} });
  const before = emulator.templates.list().length;
  // This is the state after a kill: the template was created, and no run has recorded it.
  emulator.faults.add({ match: { operation: "saveTemplate" }, effect: { status: 401, when: "after" }, times: 1 });
  await expect(provider.create(await checked(given))).rejects.toThrow(/401/);
  const made = emulator.templates.list().slice(before);
  expect(made).toHaveLength(1);
  const { id, outputs } = await provider.create(await checked({ ...given, imageName: "app:2" }));
  expect([id, outputs.name]).toEqual([made[0]?.id, made[0]?.name]);
  expect(emulator.templates.list().slice(before)).toMatchObject([{ imageName: "app:2" }]);
  // The next record, such as that of a replacement, is another one.
  const next = await provider.create(await checked(given));
  expect(next.id).not.toBe(id);
  await provider.delete(id, outputs);
  await provider.delete(next.id, next.outputs);
});
