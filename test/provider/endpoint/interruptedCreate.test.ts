import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, startEmulator } from "../../../emulator";
import { startDynamicProvider } from "../../support/dynamicProvider";

const folder = mkdtempSync(path.join(tmpdir(), "interrupted-create-"));
let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0 });
  emulator.seed({ templates: [{ id: "shared", name: "shared", imageName: "me/shared:1" }] });
});
afterAll(async () => {
  await emulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A provider's process on a machine: each machine has its own records. */
const onMachine = (machine: string, within: readonly string[] = []) =>
  startDynamicProvider(
    { ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", XDG_CACHE_HOME: path.join(folder, machine) },
    {},
    within,
  );

/** A process namespace of its own, as a container has it. */
const CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const hasContainers = spawnSync("unshare", [...CONTAINER.slice(1), "true"]).status === 0;

type Provider = Awaited<ReturnType<typeof onMachine>>;

const program = (name: string) => ({ name, gpuIds: "ADA_24", imageName: "me/app:1", env: { A: "1", B: "2" } });

async function create(provider: Provider, args: Readonly<Record<string, unknown>>) {
  const { inputs, failures } = await provider.check({}, args);
  expect(failures).toEqual([]);
  return provider.create(inputs);
}

/** Kills a provider's process when the service has created the endpoint. Returns its id. */
async function killedCreate(name: string): Promise<string | undefined> {
  const match = { operation: "saveEndpoint" };
  emulator.faults.add({ match, effect: { hang: true, when: "after" }, times: 1 });
  await using provider = await onMachine("first");
  const creating = create(provider, program(name)).catch(() => undefined);
  const made = () => emulator.endpoints.list().find((each) => each.name === name)?.id;
  while (made() === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  await provider.stop();
  await creating;
  return made();
}

const TAKEN = /already exists/;

test("the next run on the same machine adopts the endpoint of a killed create, and updates it to match the program", async () => {
  const made = await killedCreate("one");
  await using provider = await onMachine("first");
  const { id } = await create(provider, { ...program("one"), imageName: "me/app:2", env: { A: "1" } });
  expect(id).toBe(made);
  const template = emulator.templates.list().find(({ boundEndpointId }) => boundEndpointId === id);
  expect(template).toMatchObject({ imageName: "me/app:2", env: [{ key: "A", value: "1" }] });
  // It has an owner now.
  await expect(create(provider, program("one"))).rejects.toThrow(TAKEN);
  await using later = await onMachine("first");
  await expect(create(later, program("one"))).rejects.toThrow(TAKEN);
});

test("a name that a killed create has used is refused on another machine and for a program with a template", async () => {
  const made = await killedCreate("two");
  await using other = await onMachine("second");
  await expect(create(other, program("two"))).rejects.toThrow(TAKEN);
  await using same = await onMachine("first");
  const { imageName: _, env: __, ...others } = program("two");
  await expect(create(same, { ...others, templateId: "shared" })).rejects.toThrow(TAKEN);
  expect((await create(same, program("two"))).id).toBe(made);
});

test("two resources with the same name never get the same endpoint", async () => {
  await using provider = await onMachine("first");
  await using neighbour = await onMachine("first");
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { latencyMs: 500, when: "after" }, times: 1 });
  const all = [provider, provider, neighbour].map((each) => create(each, program("three")));
  const results = await Promise.allSettled(all);
  const ids = results.flatMap((each) => (each.status === "fulfilled" ? [each.value.id] : []));
  expect(new Set(ids).size).toBe(ids.length);
});

/** Returns once the service has the endpoint whose create does not return. */
async function creatingIn(provider: Provider, name: string): Promise<string> {
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true, when: "after" }, times: 1 });
  create(provider, program(name)).catch(() => undefined);
  for (;;) {
    const made = emulator.endpoints.list().find((each) => each.name === name)?.id;
    if (made !== undefined) return made;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

(hasContainers ? test : test.skip)(
  "a container does not adopt the endpoint that another container with the same cache is creating",
  async () => {
    await using first = await onMachine("shared", CONTAINER);
    const made = await creatingIn(first, "four");
    await using second = await onMachine("shared", CONTAINER);
    await expect(create(second, program("four"))).rejects.toThrow(TAKEN);
    await using host = await onMachine("shared");
    await expect(create(host, program("four"))).rejects.toThrow(TAKEN);
    expect(emulator.endpoints.list().filter(({ name }) => name === "four")).toMatchObject([{ id: made }]);
  },
);

(hasContainers ? test : test.skip)(
  "a container does not adopt the template that another container with the same cache is creating",
  async () => {
    const handlers = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").templateV1;';
    const args = { __provider: handlers, automaticName: "drawn-1a2b3c4", imageName: "me/app:1" };
    const hang = { match: { operation: "saveTemplate" }, effect: { hang: true, when: "after" }, times: 1 } as const;
    const made = () => emulator.templates.list().filter(({ name }) => name.startsWith("drawn-"));
    await using first = await onMachine("drawn", CONTAINER);
    emulator.faults.add(hang);
    create(first, args).catch(() => undefined);
    while (made().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await using second = await onMachine("drawn");
    const { id } = await create(second, args);
    expect(made().map((each) => each.id)).toEqual([expect.not.stringMatching(id), id]);
  },
);
