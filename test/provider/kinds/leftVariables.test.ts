import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, startEmulator } from "../../../emulator";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";

const TEMPLATE = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").templateV1;';
const SECRET = "left-canary-77f1";
const folder = mkdtempSync(path.join(tmpdir(), "left-variables-"));

let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});

afterAll(async () => {
  await emulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

const program = (env: Properties, changes: Properties = {}) => ({
  __provider: TEMPLATE,
  automaticName: "llama",
  imageName: "app:1",
  env,
  ...changes,
});

/** The provider on a machine: each has its own records. */
function onMachine(machine: string, api: string) {
  const env = { ...emulator.env, SERVERLESS_GPU_API: api, XDG_CACHE_HOME: path.join(folder, machine) };
  return startDynamicProvider(env);
}

async function checked(provider: Awaited<ReturnType<typeof onMachine>>, news: Properties, olds: Properties = {}) {
  const { inputs, failures } = await provider.check(olds, news);
  expect(failures).toEqual([]);
  return inputs;
}

function variables(id: string): string[] {
  return (emulator.templates.get(id)?.env ?? []).map(({ key }) => key).sort();
}

function addForeign(id: string, key: string): void {
  emulator.templates.change(id, {
    env: [...(emulator.templates.get(id)?.env ?? []), { key, value: "theirs" }],
  });
}

function records(machine: string): string[] {
  const kept = path.join(folder, machine, "pulumi-serverless-gpu/records");
  return readdirSync(kept).map((file) => readFileSync(path.join(kept, file), "utf8"));
}

describe.each(["graphql", "v2"])("over %s", (api) => {
  const machine = `one-${api}`;

  test("a variable that a killed up added is removed by the next up on the same machine if the program no longer sets it", async () => {
    await using provider = await onMachine(machine, api);
    const before = await checked(provider, program({ MODE: "fast" }));
    const { id, outputs } = await provider.create(before);
    addForeign(id, "THEIRS");
    // Killed before the engine records the result.
    const added = await checked(provider, program({ MODE: "fast", LEFT_TOKEN: SECRET }), before);
    await provider.update(id, outputs, added);
    expect(variables(id)).toEqual(["LEFT_TOKEN", "MODE", "THEIRS"]);
    expect(records(machine).join()).not.toContain(SECRET);

    await using later = await onMachine(machine, api);
    const after = await checked(later, program({ MODE: "fast" }), before);
    const refreshed = await later.read(id, outputs);
    const requests = emulator.journal.requests().length;
    for (const known of [outputs, refreshed.outputs]) {
      expect(await later.diff(id, known, after)).toMatchObject({ changes: "some" });
    }
    expect(emulator.journal.requests()).toHaveLength(requests);
    const updated = await later.update(id, refreshed.outputs, after);
    expect(variables(id)).toEqual(["MODE", "THEIRS"]);
    // Workers need the change.
    expect(updated.revision).toBeGreaterThan(Number(refreshed.outputs.revision));
    expect(await later.diff(id, updated, after)).toMatchObject({ changes: "none" });
    expect(later.output()).toContain("restores env.LEFT_TOKEN, which an unfinished change left changed");
    expect(later.output()).toMatch(/warning: .* THEIRS\. .* removeUnknownEnv: true removes them/);
    expect(later.output()).not.toMatch(/neither the program nor state: .*LEFT_TOKEN/);
  });

  test("once a variable is in state, someone else's variable of the same name is not removed later", async () => {
    await using provider = await onMachine(machine, api);
    const before = await checked(provider, program({ MODE: "fast" }));
    const { id, outputs } = await provider.create(before);
    const both = await checked(provider, program({ MODE: "fast", EXTRA: "1" }), before);
    const recorded = await provider.update(id, outputs, both);
    expect(await provider.diff(id, recorded, both)).toMatchObject({ changes: "none" });
    // Another machine removes it; then somebody sets it at the service.
    await using other = await onMachine(`two-${api}`, api);
    const without = await checked(other, program({ MODE: "fast" }), both);
    const removed = await other.update(id, recorded, without);
    expect(variables(id)).toEqual(["MODE"]);
    addForeign(id, "EXTRA");
    expect(await provider.diff(id, removed, without)).toMatchObject({ changes: "none" });
    await provider.update(id, removed, await checked(provider, program({ MODE: "slow" }), without));
    expect(variables(id)).toEqual(["EXTRA", "MODE"]);
  });

  test("without a machine record, a refresh lists the names of unknown variables, and removeUnknownEnv removes them", async () => {
    await using provider = await onMachine(`three-${api}`, api);
    const before = await checked(provider, program({ MODE: "fast" }));
    const { id, outputs } = await provider.create(before);
    addForeign(id, "LEFT");
    const read = await provider.read(id, outputs);
    expect(provider.output()).toMatch(/are in neither the program nor state: LEFT\. /);
    expect(provider.output()).not.toContain("theirs");
    expect(await provider.diff(id, read.outputs, before)).toMatchObject({ changes: "none" });

    const asked = await checked(provider, program({ MODE: "fast" }, { removeUnknownEnv: true }), before);
    expect(await provider.diff(id, read.outputs, asked)).toMatchObject({ changes: "some" });
    const updated = await provider.update(id, read.outputs, asked);
    expect(variables(id)).toEqual(["MODE"]);
    expect(await provider.diff(id, updated, asked)).toMatchObject({ changes: "none" });

    addForeign(id, "LATER");
    const drifted = await provider.read(id, updated);
    expect(await provider.diff(id, drifted.outputs, asked)).toMatchObject({ changes: "some" });
    const repaired = await provider.update(id, drifted.outputs, asked);
    expect(variables(id)).toEqual(["MODE"]);
    expect(await provider.diff(id, repaired, asked)).toMatchObject({ changes: "none" });
    expect((await provider.read(id, repaired)).outputs.env).toEqual({ MODE: "fast" });
  });

  test("an adoption keeps variables that others have set unless removeUnknownEnv is set", async () => {
    await using provider = await onMachine(machine, api);
    const env = [{ key: "THEIRS", value: "1" }];
    for (const id of [`keep-${api}`, `clear-${api}`]) {
      emulator.templates.create({ id, name: id, imageName: "app:1", isServerless: true, env });
    }
    await provider.create(await checked(provider, program({ MODE: "a" }, { adoptId: `keep-${api}` })));
    expect(variables(`keep-${api}`)).toEqual(["MODE", "THEIRS"]);
    const clearing = program({ MODE: "a" }, { adoptId: `clear-${api}`, removeUnknownEnv: true });
    await provider.create(await checked(provider, clearing));
    expect(variables(`clear-${api}`)).toEqual(["MODE"]);
  });
});
