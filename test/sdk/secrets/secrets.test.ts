import type { FaultEffect } from "../../../emulator";
import { InUseError, InvalidInputError, NameTakenError, NotFoundError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const VALUE = "value-canary-1";
const INPUT = { name: "hf_token", value: VALUE, description: "Hugging Face" };

const INTERFACES = [
  ["graphql", { create: "secretCreate", write: "secretValueUpdate" }],
  ["v2", { create: "createSecret", write: "updateSecret" }],
] as const;

/** What may happen to a request: before or after its effect. */
const LOSSES: [string, FaultEffect][] = (["before", "after"] as const).flatMap((when) => [
  [`a reset ${when} the effect`, { reset: true, when }],
  [`a 500 ${when} the effect`, { status: 500, when }],
  [`a hang ${when} the effect`, { hang: true, when }],
]);

describe.each(INTERFACES)("over %s", (api, operations) => {
  let site: Emulated;
  beforeEach(async () => {
    site = await startEmulated({ client: { api } });
  });
  afterEach(() => site[Symbol.asyncDispose]());

  test("a secret is created, changed and deleted, and no response contains its value", async () => {
    const { client, run, emulator, clock } = site;
    const created = await run(client.secrets.create(INPUT));
    expect(created).toEqual({
      id: expect.any(String),
      name: "hf_token",
      description: "Hugging Face",
      createdAt: expect.stringMatching(/Z$/),
      valueLastUpdatedAt: created.createdAt,
    });
    const { id } = created;
    expect(emulator.secrets.matches(id, VALUE)).toBe(true);
    clock.advance(60_000);
    const described = await run(client.secrets.update(id, { description: null }));
    expect(described).toEqual({ ...created, description: "" });
    const written = await run(client.secrets.update(id, { value: "value-canary-2" }));
    expect(Date.parse(written.valueLastUpdatedAt)).toBeGreaterThan(Date.parse(created.valueLastUpdatedAt));
    expect(emulator.secrets.matches(id, "value-canary-2")).toBe(true);
    expect(await run(client.secrets.get(id))).toEqual(written);
    await run(client.secrets.delete(id));
    expect(await run(client.secrets.list())).toEqual([]);
    emulator.secrets.create({ name: "another", value: "some-value" });
    expect(await site.failure(client.secrets.update(id, { value: "x" }))).toBeInstanceOf(NotFoundError);
    expect(JSON.stringify(emulator.journal.requests())).not.toContain("canary-");
  });

  test.each(LOSSES)("a create that encounters %s creates one secret with its value", async (_what, effect) => {
    const { client, run, emulator } = site;
    emulator.faults.add({ match: { operation: operations.create }, effect, times: 1 });
    const { id } = await run(client.secrets.create(INPUT));
    expect(emulator.secrets.list()).toMatchObject([{ id, name: "hf_token", description: "Hugging Face" }]);
    expect(emulator.secrets.matches(id, VALUE)).toBe(true);
  });

  test.each(LOSSES)("a change that encounters %s writes the value", async (_what, effect) => {
    const { client, run, emulator } = site;
    const { id } = await run(client.secrets.create(INPUT));
    emulator.faults.add({ match: { operation: operations.write }, effect, times: 1 });
    const written = await run(client.secrets.update(id, { value: "value-canary-2", description: "new" }));
    expect(emulator.secrets.matches(id, "value-canary-2")).toBe(true);
    expect(written).toMatchObject({ id, description: "new" });
  });

  test("a record that a create with a lost response left without a value gets its value", async () => {
    const { client, run, emulator } = site;
    emulator.faults.add({ match: { operation: operations.create }, effect: { hang: true, when: "after" }, times: 1 });
    const creating = run(client.secrets.create(INPUT));
    while (emulator.secrets.list().length === 0) await new Promise(setImmediate);
    emulator.secrets.change(emulator.secrets.list()[0]?.id ?? "", { value: "half" });
    const { id } = await creating;
    expect(emulator.secrets.matches(id, VALUE)).toBe(true);
  });

  test("a name that is taken, in upper or lower case, is refused with the id, and the existing value is kept", async () => {
    const { client, run, emulator } = site;
    const { id } = await run(client.secrets.create(INPUT));
    for (const name of ["hf_token", "HF_Token"]) {
      const failure = await site.failure(client.secrets.create({ name, value: "value-canary-2" }));
      expect(failure).toBeInstanceOf(NameTakenError);
      expect(failure).toMatchObject({ ids: [id] });
    }
    expect(emulator.secrets.matches(id, VALUE)).toBe(true);
    expect(site.calls().filter((each) => each === operations.create)).toHaveLength(1);
  });

  test("a secret that someone else created in the meantime is not overwritten", async () => {
    const { client, emulator } = site;
    emulator.faults.add({ match: { operation: operations.create }, effect: { reset: true }, times: 1 });
    const creating = site.failure(client.secrets.create(INPUT));
    while (emulator.journal.operations({ operation: operations.create }).length === 0) {
      await new Promise(setImmediate);
    }
    const { id } = emulator.secrets.create({ name: "HF_TOKEN", value: "theirs" });
    const failure = await creating;
    expect(failure).toBeInstanceOf(NameTakenError);
    expect(failure).toMatchObject({ ids: [id] });
    expect(emulator.secrets.matches(id, "theirs")).toBe(true);
  });

  test("a secret that a template references is not deleted", async () => {
    const { client, run, emulator } = site;
    const { id } = await run(client.secrets.create(INPUT));
    emulator.templates.create({
      id: "t1",
      name: "llama",
      imageName: "app:1",
      isServerless: true,
      env: [{ key: "AUTH", value: "Bearer {{RUNPOD_SECRET_hf_token}}" }],
    });
    const failure = await site.failure(client.secrets.delete(id));
    expect(failure).toBeInstanceOf(InUseError);
    expect(failure.message).toContain('template "llama" (t1)');
    emulator.templates.delete("t1");
    await run(client.secrets.delete(id));
    expect(emulator.secrets.list()).toEqual([]);
  });

  test("no message shows the value", async () => {
    const { client, emulator } = site;
    const text = `cannot store "${VALUE}" (${encodeURIComponent(VALUE)})`;
    const body = { title: "Bad Request", status: 400, detail: text, errors: [{ message: text }] };
    emulator.faults.add({ match: { operation: operations.create }, effect: { status: 400, body } });
    const { message } = await site.failure(client.secrets.create(INPUT));
    expect(message).toContain("[redacted]");
    expect(message).not.toContain("canary-1");
  });
});

test.each([
  ["name", { name: "1st" }],
  ["name", { name: "runpod_key" }],
  ["name", { name: "hf token" }],
  ["name", { name: "x".repeat(192) }],
  ["value", { value: "" }],
  ["value", { value: "x".repeat(16 * 1024 * 1024) }],
  ["description", { description: "ä".repeat(32_768) }],
])("an invalid %s is refused before anything is sent", async (property, wrong) => {
  await using service = await startEmulated();
  const failure = await service.failure(service.client.secrets.create({ ...INPUT, ...wrong }));
  expect(failure).toBeInstanceOf(InvalidInputError);
  expect(failure).toMatchObject({ problems: [{ property }] });
  expect(service.calls()).toEqual([]);
});

test("a change requires a value or a description", async () => {
  await using service = await startEmulated();
  await expect(service.run(service.client.secrets.update("s1", {}))).rejects.toThrow(
    "value: is required, or description",
  );
});
