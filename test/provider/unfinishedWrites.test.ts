import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { type Remembered, refresh, up } from "../faults/engineMemory";
import { type Properties, startDynamicProvider } from "../support/dynamicProvider";

const CANARY = "unfinished-canary-90ab";

let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0 });
});

afterAll(() => emulator.stop());

const newMachine = () => mkdtempSync(path.join(tmpdir(), "unfinished-"));

/** The provider on a machine: each has its own notes. */
const onMachine = (machine: string, api: string) =>
  startDynamicProvider({
    ...emulator.env,
    SERVERLESS_GPU_API: api,
    SERVERLESS_GPU_SERVICE: "runpod",
    XDG_CACHE_HOME: machine,
    NEW_VALUE: `${CANARY}-new`,
  });

const code = (handlers: string) => `exports.handler = () => require("pulumi-serverless-gpu/handlers").${handlers};`;

/** A program before and after a change, and what the service has for it. */
interface Case {
  readonly title: string;
  readonly apis: readonly string[];
  readonly before: Properties;
  readonly after: Properties;
  readonly seen: (id: string) => unknown;
}

const endpoint = { automaticName: "llama", gpuIds: ["ADA_24"] };
const template = { __provider: code("templateV1"), automaticName: "tuned" };
const secret = { __provider: code("secretV1"), automaticName: "token" };
const credential = { __provider: code("registryAuthV1"), automaticName: "ghcr", username: "me" };
const volume = { __provider: code("networkVolumeV1"), automaticName: "models", dataCenterId: "EU-RO-1", size: 10 };

const containerOf = (id: string) => {
  const { templateId, container } = emulator.endpoints.get(id) ?? {};
  const own = container ?? emulator.templates.list().find((each) => each.id === templateId);
  const env = own && (Array.isArray(own.env) ? own.env.map(({ key, value }) => [key, value]) : Object.entries(own.env));
  return { image: own?.imageName, env: Object.fromEntries(env ?? []) };
};
const BOTH = ["graphql", "v2"];

const CASES: Case[] = [
  {
    title: "an endpoint's image and variables",
    apis: BOTH,
    before: { ...endpoint, imageName: "me/llama:1", env: { MODE: "a" } },
    after: { ...endpoint, imageName: "me/llama:2", env: { MODE: "b", LEFT: CANARY } },
    seen: containerOf,
  },
  {
    title: "a field of an endpoint that the program leaves out",
    apis: BOTH,
    before: { ...endpoint, imageName: "me/llama:1" },
    after: { ...endpoint, imageName: "me/llama:1", idleTimeout: 77 },
    seen: (id) => emulator.endpoints.get(id)?.idleTimeout,
  },
  {
    title: "a template's image",
    apis: BOTH,
    before: { ...template, imageName: "app:1", env: { MODE: "a" } },
    after: { ...template, imageName: "app:2", env: { MODE: "b" } },
    seen: (id) => [emulator.templates.get(id)?.imageName, emulator.templates.get(id)?.env],
  },
  {
    title: "a secret's value",
    apis: BOTH,
    before: { ...secret, value: `${CANARY}-1` },
    after: { ...secret, value: `${CANARY}-2` },
    seen: (id) => emulator.secrets.matches(id, `${CANARY}-1`),
  },
  {
    title: "a credential's password",
    apis: ["graphql"],
    before: { ...credential, password: `${CANARY}-1` },
    after: { ...credential, password: `${CANARY}-2` },
    seen: (id) => emulator.registryAuths.matches(id, "me", `${CANARY}-1`),
  },
  {
    title: "a volume's name",
    apis: BOTH,
    before: { ...volume, name: "models-1" },
    after: { ...volume, name: "models-2" },
    seen: (id) => emulator.volumes.get(id)?.name,
  },
  {
    title: "an endpoint's template in place of its container",
    apis: ["v2"],
    before: { ...endpoint, imageName: "me/llama:1", env: { MODE: "a" } },
    after: { ...endpoint, templateId: "shared" },
    seen: containerOf,
  },
  {
    title: "an endpoint's container in place of its template",
    apis: ["v2"],
    before: { ...endpoint, templateId: "shared" },
    after: { ...endpoint, imageName: "me/llama:2", env: { MODE: "b" } },
    seen: containerOf,
  },
];

beforeEach(() => {
  emulator.reset();
  const env = [{ key: "SHARED", value: "1" }];
  emulator.templates.create({ id: "shared", name: "shared", imageName: "shared:1", isServerless: true, env });
});

describe.each(BOTH)("over %s", (api) => {
  test("after writes whose end no state has, the program goes back, and the next up on that machine restores its values", async () => {
    const machine = newMachine();
    await using provider = await onMachine(machine, api);
    const cases = CASES.filter(({ apis }) => apis.includes(api)).map((each, at) => {
      const named = (program: Properties) => ({ ...program, automaticName: `${program.automaticName}-${at}` });
      return { ...each, before: named(each.before), after: named(each.after) };
    });
    const runs = [];
    for (const each of cases) {
      const first = await up(provider, each.before, undefined);
      const wanted = each.seen(first.id);
      // The engine is killed before it records the result.
      await up(provider, each.after, first);
      expect([each.title, each.seen(first.id)]).not.toEqual([each.title, wanted]);
      runs.push({ ...each, first, wanted });
    }

    await using next = await onMachine(machine, api);
    for (const { title, before, seen, first, wanted } of runs) {
      const refreshed = (await refresh(next, first)) as Remembered;
      const requests = emulator.journal.requests().length;
      // A program that agrees with state, refreshed or not.
      for (const { id, outputs } of [first, refreshed]) {
        const { changes } = await next.diff(id, outputs, first.inputs);
        expect([title, changes]).not.toEqual([title, "none"]);
      }
      expect([title, emulator.journal.requests().length]).toEqual([title, requests]);
      const second = await up(next, before, first);
      expect([title, seen(first.id)]).toEqual([title, wanted]);
      const { changes } = await next.diff(second.id, second.outputs, second.inputs);
      expect([title, changes]).toEqual([title, "none"]);
    }
    expect(next.output()).not.toContain(CANARY);
    const folder = path.join(machine, "pulumi-serverless-gpu/records");
    const records = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), "utf8"));
    expect(records.join()).not.toContain(CANARY);
  });

  const before = { ...template, imageName: "app:1" };
  const after = { ...template, imageName: "app:2" };

  test("a refresh does not invalidate the note of a write", async () => {
    const machine = newMachine();
    await using provider = await onMachine(machine, api);
    const first = await up(provider, before, undefined);
    await up(provider, after, first);
    const refreshed = (await refresh(provider, first)) as Remembered;
    const second = await up(provider, before, { ...refreshed, inputs: first.inputs });
    expect(emulator.templates.get(first.id)).toMatchObject({ imageName: "app:1" });
    expect(await provider.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
  });

  test("the note of a write is invalid once state records a later write, even from another machine", async () => {
    const machine = newMachine();
    await using provider = await onMachine(machine, api);
    const first = await up(provider, before, undefined);
    await up(provider, after, first);
    await using other = await onMachine(newMachine(), api);
    const accepted = await up(other, after, first);
    expect(await provider.diff(accepted.id, accepted.outputs, accepted.inputs)).toMatchObject({ changes: "none" });
    expect(provider.output()).not.toContain("may not have completed");
  });

  test("the client detects without a save that a write never arrived", async () => {
    const machine = newMachine();
    const provider = await onMachine(machine, api);
    const first = await up(provider, before, undefined);
    const operation = api === "v2" ? "updateTemplate" : "saveTemplate";
    emulator.faults.add({ match: { operation }, effect: { hang: true } });
    const running = up(provider, after, first).catch(() => undefined);
    while (!emulator.journal.requests({ outcome: "pending" }).some(({ fault }) => fault?.includes("hang")))
      await new Promise((resolve) => setTimeout(resolve, 20));
    await provider.stop();
    await running;
    emulator.faults.clear();
    await using next = await onMachine(machine, api);
    const saves = emulator.journal.requests({ operation }).length;
    const second = await up(next, before, first);
    expect(next.output()).toContain(
      `may not have completed a change of template ${first.id}, which sent imageName: up verifies it`,
    );
    expect(emulator.journal.requests({ operation })).toHaveLength(saves);
    expect(second.outputs.revision).toEqual(first.outputs.revision);
    expect(await next.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
  });
});

test.each(BOTH)("over %s, a secret taken from an environment variable is written again", async (api) => {
  const machine = newMachine();
  await using provider = await onMachine(machine, api);
  const program = { ...secret, valueEnv: "NEW_VALUE", valueVersion: 1 };
  const first = await up(provider, program, undefined);
  await up(provider, { ...program, description: "rotated" }, first);
  emulator.secrets.change(first.id, { value: `${CANARY}-other` });
  const second = await up(provider, program, first);
  expect(emulator.secrets.matches(first.id, `${CANARY}-new`)).toBe(true);
  expect(second.outputs.version).toBeGreaterThan(Number(first.outputs.version));
  expect(await provider.diff(second.id, second.outputs, second.inputs)).toMatchObject({ changes: "none" });
});
