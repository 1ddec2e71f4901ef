import { type Emulator, startEmulator } from "../../emulator";
import { UNKNOWN } from "../../provider/engine/properties";
import type { Properties } from "../support/dynamicProvider";
import { startPlugin, urnOf } from "../support/plugin";

const ONE = { kind: "ServerlessEndpoint" };
const INPUTS = { gpuIds: ["AMPERE_24", "AMPERE_16"], templateId: "template" };

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 500 });
});

afterEach(() => emulator.stop());

async function checked(plugin: Awaited<ReturnType<typeof startPlugin>>, news: Properties, olds: Properties = {}) {
  const { inputs, failures } = await plugin.check(ONE, news, olds);
  expect(failures).toEqual([]);
  return inputs;
}

test("an endpoint is created with one save, shows each changed field, is updated in place, reads drift and is deleted", async () => {
  await using plugin = await startPlugin(emulator.env);
  const inputs = await checked(plugin, { ...INPUTS, locations: ["RO", "CZ", "RO"], workersMax: 2 });
  expect(inputs).toEqual({
    ...INPUTS,
    locations: ["CZ", "RO"],
    workersMax: 2,
    name: expect.stringMatching(/^one-[0-9a-f]{7}$/),
    __automaticName: true,
  });
  const { id, outputs } = await plugin.create(ONE, inputs);
  expect(emulator.journal.operations()).toEqual(["myself", "saveEndpoint", "myself"]);
  expect(outputs).toMatchObject({ ...INPUTS, locations: ["CZ", "RO"], workersMax: 2, idleTimeout: 10 });
  expect(outputs.queueUrl).toBe(`${emulator.url}/v2/${id}`);

  const news = await checked(plugin, { ...INPUTS, gpuIds: ["AMPERE_24", "ADA_24"], idleTimeout: 20 }, inputs);
  expect(await plugin.diff(ONE, id, outputs, inputs, inputs)).toMatchObject({ changes: "none", properties: {} });
  expect(await plugin.diff(ONE, id, outputs, inputs, news)).toMatchObject({
    changes: "some",
    replaces: [],
    // A field that the program removes returns to its default.
    properties: {
      "gpuIds[1]": "update",
      idleTimeout: "add",
      "locations[0]": "delete",
      "locations[1]": "delete",
      workersMax: "update",
    },
  });

  emulator.journal.clear();
  const updated = await plugin.update(ONE, id, outputs, inputs, news);
  expect(updated).toMatchObject({ gpuIds: ["AMPERE_24", "ADA_24"], locations: [], idleTimeout: 20, workersMax: 3 });
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toHaveLength(1);

  emulator.endpoints.change(id, { gpuIds: "AMPERE_80", workersMin: 1 });
  const read = await plugin.read(ONE, id, updated, news);
  expect(read.inputs).toEqual({ ...news, gpuIds: ["AMPERE_80"] });
  // The stamp is new, because a note about the earlier values says nothing about these.
  expect(read.outputs).toEqual({ ...updated, gpuIds: ["AMPERE_80"], workersMin: 1, __stamp: expect.any(String) });
  expect(read.outputs.__stamp).not.toBe(updated.__stamp);

  // An empty list would prove nothing.
  emulator.endpoints.create({ name: "neighbour", gpuIds: "ADA_24", templateId: "template" });
  await plugin.delete(ONE, id, read.outputs);
  expect(emulator.endpoints.list()).toMatchObject([{ name: "neighbour" }]);
  expect(await plugin.read(ONE, id, read.outputs, read.inputs)).toEqual({ id: "", outputs: {}, inputs: {} });
});

test("an automatic name is the same in every process, differs by URN, and follows pulumi:autonaming", async () => {
  await using plugin = await startPlugin(emulator.env);
  await using other = await startPlugin(emulator.env);
  const [first, again] = [await checked(plugin, INPUTS), await checked(other, INPUTS)];
  expect(again.name).toBe(first.name);
  const second = await plugin.check({ ...ONE, name: "two" }, INPUTS);
  expect(second.inputs.name).not.toBe(String(first.name).replace("one", "two"));

  const [propose, enforce, disable] = [0, 1, 2];
  expect((await plugin.check(ONE, INPUTS, {}, ["mine-4711", propose as number])).inputs.name).toBe("mine-4711");
  expect((await plugin.check(ONE, INPUTS, {}, ["one", enforce as number])).inputs.name).toBe("one");
  expect((await plugin.check(ONE, INPUTS, {}, ["", disable as number])).failures).toEqual([
    { property: "", reason: "name: is required" },
  ]);
  // A resource keeps the name that it has.
  expect((await plugin.check(ONE, INPUTS, first, ["mine-4711", propose as number])).inputs.name).toBe(first.name);
});

test("a load-balancing endpoint outputs a url, and a queue endpoint does not", async () => {
  await using observed = await startEmulator({ profile: "observed" });
  await using plugin = await startPlugin({ ...observed.env, SERVERLESS_GPU_SERVICE: "runpod" });
  const server = { ...INPUTS, type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT" };
  const inputs = await checked(plugin, server);
  expect((await plugin.create(ONE, inputs, { preview: true })).outputs).toMatchObject({ url: UNKNOWN });
  const { id, outputs } = await plugin.create(ONE, inputs);
  expect(outputs.url).toBe(`${observed.url}/lb/${id}`);
  expect((await plugin.read(ONE, id, outputs, inputs)).outputs).toEqual(outputs);
  const other = { ...ONE, name: "queue" };
  expect((await plugin.create(other, (await plugin.check(other, INPUTS)).inputs)).outputs).not.toHaveProperty("url");
});

test("a create that gets no response finds the endpoint that it created, and does not create a second one", async () => {
  await using plugin = await startPlugin(emulator.env);
  const inputs = await checked(plugin, INPUTS);
  const { id } = await plugin.create(ONE, inputs);
  await using next = await startPlugin(emulator.env);
  await expect(next.create(ONE, await checked(next, INPUTS))).rejects.toThrow(`already exists: ${id}`);
  expect(emulator.endpoints.list()).toHaveLength(1);
});

test("a preview shows the values that the program and state contain, and sends no requests", async () => {
  await using plugin = await startPlugin(emulator.env);
  const inputs = await checked(plugin, { ...INPUTS, templateId: UNKNOWN, gpuIds: ["AMPERE_24", UNKNOWN] });
  const created = await plugin.create(ONE, inputs, { preview: true });
  expect(created.id).toBe("");
  expect(created.outputs).toMatchObject({
    name: inputs.name,
    templateId: UNKNOWN,
    gpuIds: UNKNOWN,
    queueUrl: UNKNOWN,
    workersMax: UNKNOWN,
  });
  expect(emulator.journal.requests()).toEqual([]);

  const known = await checked(plugin, INPUTS);
  const { id, outputs } = await plugin.create(ONE, known);
  emulator.journal.clear();
  const news = await checked(plugin, { ...INPUTS, workersMax: 1 }, known);
  const updated = await plugin.update(ONE, id, outputs, known, news, { preview: true });
  expect(updated).toMatchObject({ workersMax: 1, queueUrl: outputs.queueUrl, gpuIds: INPUTS.gpuIds });
  expect(emulator.journal.requests()).toEqual([]);
});

test("an import reads every field that differs from its default, and a program with these fields shows no change", async () => {
  await using plugin = await startPlugin(emulator.env);
  const id = "abc123elsewhere";
  emulator.seed({
    endpoints: [{ id, name: "made-elsewhere", gpuIds: "ADA_24", templateId: "abc", workersMax: 5 }],
  });
  const { inputs, outputs } = await plugin.read(ONE, id);
  const fields = { name: "made-elsewhere", gpuIds: ["ADA_24"], templateId: "abc", workersMax: 5 };
  expect(inputs).toEqual({ ...fields, __imported: true });
  expect(outputs).toMatchObject({ workersMin: 0, queueUrl: `${emulator.url}/v2/${id}` });
  // As the program gives them.
  const news = await checked(plugin, fields, inputs);
  expect(news).toEqual(fields);
  expect(await plugin.diff(ONE, id, outputs, inputs, news)).toMatchObject({ changes: "none" });

  emulator.endpoints.change(id, { workersMax: 4, idleTimeout: 99 });
  // Two resources must not import the same endpoint: removing one would delete that of both.
  const twin = await plugin.read({ ...ONE, name: "twin" }, id);
  await plugin.check({ ...ONE, name: "twin" }, twin.inputs, twin.inputs);
  await expect(plugin.diff({ ...ONE, name: "twin" }, id, twin.outputs, twin.inputs, twin.inputs)).rejects.toThrow(
    // This advice is safe: a run with targets cannot know which other resource has the endpoint.
    `two resources in this program manage endpoint ${id}. Keep only one of them in the program, and run pulumi up without --target`,
  );

  // Another run, because the resources of one run share a list.
  await using next = await startPlugin(emulator.env);
  const refreshed = await next.read(ONE, id, outputs, news);
  expect(refreshed.inputs).toEqual({ ...fields, workersMax: 4 });
  expect(refreshed.outputs).toMatchObject({ workersMax: 4, idleTimeout: 99 });
  await expect(plugin.read(ONE, "no-such-id")).rejects.toThrow(/no-such-id/);
});

test("customTimeouts limit the drain and do not appear in the outputs", async () => {
  await using slow = await startEmulator({ profile: "contract", drainMs: 60_000 });
  await using plugin = await startPlugin(slow.env);
  const inputs = await checked(plugin, { ...INPUTS, awaitReady: true, workersMin: 1 });
  const { id, outputs } = await plugin.create(ONE, inputs, { timeout: 30 });
  expect(outputs).not.toHaveProperty("awaitReadyTimeout");
  expect(outputs).not.toHaveProperty("drainTimeout");
  await expect(plugin.delete(ONE, id, outputs, { timeout: 1 })).rejects.toThrow("was not deleted within 1 s");
});

test("log lines are attributed to the resource", async () => {
  await using plugin = await startPlugin(emulator.env);
  const { inputs } = await plugin.check(ONE, { ...INPUTS, workersMin: 1 });
  const { id, outputs } = await plugin.create(ONE, inputs);
  await plugin.delete(ONE, id, outputs);
  expect(plugin.lines).toContainEqual({
    severity: 1,
    message: expect.stringMatching(/^waiting for 1 worker to stop before deleting the endpoint/),
    urn: urnOf(ONE),
  });
});
