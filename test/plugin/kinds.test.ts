import { type Emulator, startEmulator } from "../../emulator";
import { UNKNOWN } from "../../provider/engine/properties";
import { secret, startPlugin } from "../support/plugin";

const TEMPLATE = { kind: "ServerlessTemplate" };
const VOLUME = { kind: "NetworkVolume" };
const AUTH = { kind: "ContainerRegistryAuth" };
const ENDPOINT = { kind: "ServerlessEndpoint" };
const SECRET = { kind: "Secret" };
const TEST = { kind: "SmokeTest" };

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    handlers: { default: async () => ({ text: "4" }) },
  });
});

afterEach(() => emulator.stop());

test("a template marks sensitive variables as secret, accepts a start command in parts, and outputs a revision", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { inputs, failures } = await plugin.check(TEMPLATE, {
    imageName: "ghcr.io/me/llama:1.4.0",
    env: { MODEL: "llama", HF_TOKEN: "token-value", PRIVATE: secret("private-value") },
    command: { cmd: ["serve"], entrypoint: ["/bin/llama"] },
    ports: ["8000/http", "22/tcp"],
  });
  expect(failures).toEqual([]);
  expect(inputs).toMatchObject({
    __automaticName: expect.stringMatching(/^one-[0-9a-f]{7}$/),
    env: { MODEL: "llama", HF_TOKEN: secret("token-value"), PRIVATE: secret("private-value") },
    dockerArgs: '{"cmd":["serve"],"entrypoint":["/bin/llama"]}',
    ports: ["22/tcp", "8000/http"],
    __secretInputs: "env.HF_TOKEN,env.PRIVATE",
  });
  expect(inputs).not.toHaveProperty("command");

  const preview = await plugin.create(TEMPLATE, inputs, { preview: true });
  // The run that creates it chooses new random digits.
  expect(preview.outputs).toMatchObject({ name: UNKNOWN, revision: UNKNOWN });
  const { id, outputs } = await plugin.create(TEMPLATE, inputs);
  expect(outputs).toMatchObject({ env: inputs.env, ports: inputs.ports, revision: 1 });

  const changed = { ...inputs, env: { MODEL: "mistral", HF_TOKEN: secret("token-value") } };
  expect((await plugin.diff(TEMPLATE, id, outputs, inputs, changed)).properties).toEqual({
    "env.MODEL": "update",
    "env.PRIVATE": "delete",
  });
  const previewed = await plugin.update(TEMPLATE, id, outputs, inputs, changed, { preview: true });
  expect(previewed).toMatchObject({ revision: UNKNOWN, env: changed.env });
  const readme = { ...inputs, readme: "For people" };
  expect(await plugin.update(TEMPLATE, id, outputs, inputs, readme, { preview: true })).toMatchObject({ revision: 1 });
  const updated = await plugin.update(TEMPLATE, id, outputs, inputs, changed);
  expect(updated).toMatchObject({ revision: 2, env: changed.env });
  await plugin.delete(TEMPLATE, id, updated);
});

test("a secret's value is secret, a new value changes the version, and valueEnv stores no value", async () => {
  await using plugin = await startPlugin({ ...emulator.env, MY_TOKEN: "canary-of-env" });
  const { inputs, failures } = await plugin.check(SECRET, { name: "hf", value: "canary-value" });
  expect(failures).toEqual([]);
  expect(inputs).toMatchObject({ name: "hf", value: secret("canary-value") });
  const { id, outputs } = await plugin.create(SECRET, inputs);
  expect(outputs).toMatchObject({ reference: "{{ RUNPOD_SECRET_hf }}", value: secret("canary-value") });

  const described = { ...inputs, description: "For downloads" };
  const preview = await plugin.update(SECRET, id, outputs, inputs, described, { preview: true });
  expect(preview.version).toBe(outputs.version);
  const rotated = { ...inputs, value: secret("canary-other") };
  expect(await plugin.update(SECRET, id, outputs, inputs, rotated, { preview: true })).toMatchObject({
    version: UNKNOWN,
  });
  const updated = await plugin.update(SECRET, id, outputs, inputs, rotated);
  expect(Number(updated.version)).toBeGreaterThan(Number(outputs.version));
  expect(emulator.secrets.matches(id, "canary-other")).toBe(true);

  const fromEnv = (await plugin.check(SECRET, { name: "hf", valueEnv: "MY_TOKEN", valueVersion: 1 })).inputs;
  const written = await plugin.update(SECRET, id, updated, rotated, fromEnv);
  expect(emulator.secrets.matches(id, "canary-of-env")).toBe(true);
  expect(JSON.stringify([fromEnv, written])).not.toContain("canary");
  await plugin.delete(SECRET, id, written);
  expect(emulator.secrets.list()).toEqual([]);
});

test.each([
  [{ name: "hf" }, "value: is required, or valueEnv with valueVersion"],
  [
    { name: "hf", value: "canary", valueEnv: "A", valueVersion: 1 },
    "valueEnv: cannot be combined with value: remove one of them",
  ],
  [{ name: "hf", valueEnv: "A" }, "valueEnv: needs valueVersion"],
  [{ name: "runpod_x", value: "canary" }, "name: must be a name"],
])("a secret with %j is refused: %s", async (given, message) => {
  await using plugin = await startPlugin(emulator.env);
  const { failures } = await plugin.check(SECRET, given);
  expect(JSON.stringify(failures)).toContain(message);
  expect(JSON.stringify(failures)).not.toContain("canary");
});

test.each([
  [{ command: { cmd: ["a"] }, dockerArgs: "b" }, "set either command or dockerArgs"],
  [{ command: { cmd: "a" } }, "command must be an object with the lists cmd and entrypoint"],
  [{ command: "a" }, "command must be an object with the lists cmd and entrypoint"],
])("a template with %j is refused", async (inputs, reason) => {
  await using plugin = await startPlugin(emulator.env);
  const { failures } = await plugin.check(TEMPLATE, { imageName: "a:1", ...inputs });
  expect(failures).toEqual([{ property: "", reason: `command: ${reason}` }]);
});

test("a name that pulumi:autonaming chooses is used unchanged or refused", async () => {
  await using plugin = await startPlugin(emulator.env);
  const verbatim: [string, number] = ["mine", 1];
  const { inputs } = await plugin.check(TEMPLATE, { imageName: "a:1" }, {}, verbatim);
  expect(inputs.name).toBe("mine");
  const { id } = await plugin.create(TEMPLATE, inputs);
  await expect(plugin.create(TEMPLATE, inputs)).rejects.toThrow(`already exists: ${id}`);
  const own = await plugin.check(TEMPLATE, { imageName: "a:1" });
  await plugin.create(TEMPLATE, own.inputs);
  // Our own digits are chosen again, as in a replacement.
  expect((await plugin.create(TEMPLATE, own.inputs)).outputs.name).toMatch(/^one-[0-9a-f]{7}$/);
  expect(emulator.templates.list()).toHaveLength(3);
});

test("a start command with parts that are not known yet is treated as unknown", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(TEMPLATE, { imageName: "a:1", command: { cmd: ["serve", UNKNOWN] } });
  expect(inputs.dockerArgs).toBe(UNKNOWN);
});

test("changing a volume's data center never replaces the volume, and a volume cannot shrink", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(VOLUME, { size: 50, dataCenterId: "EU-RO-1" });
  const { id, outputs } = await plugin.create(VOLUME, inputs);
  const moved = plugin.diff(VOLUME, id, outputs, inputs, { ...inputs, dataCenterId: "EU-CZ-1" });
  await expect(moved).rejects.toThrow(/dataCenterId: cannot be changed, .* declare another volume under a new name/);
  const smaller = await plugin.check(VOLUME, { size: 20, dataCenterId: "EU-RO-1" }, inputs);
  expect(smaller.failures).toEqual([
    { property: "", reason: expect.stringMatching(/^size: .*but the volume has 50 GB and cannot shrink/) },
  ]);
  await plugin.delete(VOLUME, id, outputs);
});

test("the user and password of a registry are always secret", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(AUTH, { username: "me", password: "the-password" });
  expect(inputs).toMatchObject({ username: secret("me"), password: secret("the-password") });
  const { id, outputs } = await plugin.create(AUTH, inputs);
  expect(outputs).toMatchObject({ username: secret("me"), password: secret("the-password") });
  // The service never shows them, so an import would have none.
  await expect(plugin.read(AUTH, id)).rejects.toThrow(/cannot be imported or read/);
  await plugin.delete(AUTH, id, outputs);
});

test("a problem does not show a secret input", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { failures } = await plugin.check(ENDPOINT, {
    gpuIds: [secret("ADA_42")],
    templateId: "a",
    workersMin: secret(-7),
  });
  expect(failures).toHaveLength(2);
  expect(JSON.stringify(failures)).not.toMatch(/ADA_42|-7/);
});

test("the warning about a new GPU pool does not show a secret input", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { failures } = await plugin.check(ENDPOINT, {
    gpuIds: [secret("SECRET_TIER")],
    templateId: "a",
    workersMax: 1,
  });
  expect(failures).toEqual([]);
  const logged = JSON.stringify(plugin.lines);
  expect(logged).toContain("a GPU pool that this version does not know");
  expect(logged).not.toContain("SECRET_TIER");
});

test("a smoke test runs its job once, and again after a change", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(ENDPOINT, { gpuIds: ["ADA_24"], templateId: "a" });
  const endpoint = await plugin.create(ENDPOINT, inputs);
  const args = { endpointId: endpoint.id, input: { prompt: "2 + 2 =" }, expectedOutput: { text: "4" } };
  const test = await plugin.check(TEST, args);
  expect(test).toEqual({ inputs: args, failures: [] });
  expect((await plugin.create(TEST, test.inputs, { preview: true })).outputs).toMatchObject({ jobId: UNKNOWN });
  const { id, outputs } = await plugin.create(TEST, test.inputs);
  expect(outputs).toMatchObject({ jobId: id, status: "COMPLETED" });
  expect(await plugin.diff(TEST, id, outputs, args, args)).toMatchObject({ changes: "none" });
  const changed = { ...args, triggers: ["2"] };
  expect(await plugin.diff(TEST, id, outputs, args, changed)).toMatchObject({
    changes: "some",
    properties: { triggers: "add" },
  });
  expect((await plugin.update(TEST, id, outputs, args, changed)).jobId).not.toBe(id);
  await expect(plugin.read(TEST, id)).rejects.toThrow(/cannot be imported/);
});

test("numbers and booleans in env become text, like unquoted values in YAML", async () => {
  await using plugin = await startPlugin(emulator.env);
  const env = { PORT: 8080, RATIO: 0.5, VERBOSE: true, MODEL: "llama-3" };
  const { inputs, failures } = await plugin.check({ kind: "ServerlessTemplate" }, { imageName: "app:1", env });
  expect(failures).toEqual([]);
  expect(inputs.env).toEqual({ PORT: "8080", RATIO: "0.5", VERBOSE: "true", MODEL: "llama-3" });
});
