import type { FaultEffect } from "../../../emulator/server/faultRule";
import { ConnectionError, CreateUncertainError, UnexpectedResponseError } from "../../../sdk/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: ["AMPERE_24", "-B", "-A"], templateId: "abc123" } as const;

function onSave({ emulator }: Emulated, effect: FaultEffect, times = 1): void {
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect, times });
}

const saves = (it: Emulated) => it.emulator.journal.operations({ operation: "saveEndpoint" }).length;
const sameAsInput = { name: "llama", gpuIds: "AMPERE_24,-A,-B", templateId: "abc123" };

/** Ways in which a response is lost, after which it is unknown whether the endpoint was created. */
const LOSSES: [string, FaultEffect][] = [
  ["reset", { reset: true }],
  ["502 with HTML", { html: true }],
  ["500", { status: 500 }],
  ["503 with Retry-After", { status: 503, headers: { "retry-after": "3" } }],
  ["server fault of GraphQL", { graphqlError: { message: "Something went wrong. Please try again later" } }],
  ["hang", { hang: true }],
  ["200 with HTML", { html: true, status: 200 }],
];

describe.each(LOSSES)("a create whose response is lost by %s", (_what, effect) => {
  test("is found when it had its effect: one save, one endpoint", async () => {
    await using it = await startEmulated();
    onSave(it, { ...effect, when: "after" });
    const created = await it.run(it.client.endpoints.create(INPUT));
    expect(created).toMatchObject(sameAsInput);
    expect(it.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(it.calls()).toEqual(["myself", "saveEndpoint", "myself"]);
  });

  test("is sent again when it had none: one endpoint", async () => {
    await using it = await startEmulated();
    onSave(it, effect);
    const created = await it.run(it.client.endpoints.create(INPUT));
    expect(it.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(it.calls()).toEqual(["myself", "saveEndpoint", "myself", "myself", "saveEndpoint"]);
  });
});

describe("a create whose response breaks off", () => {
  test.each<[string, FaultEffect]>([
    ["is truncated", { truncated: true }],
    ["breaks midway", { reset: "midway" }],
  ])("because it %s is found: one save, one endpoint", async (_what, effect) => {
    await using it = await startEmulated();
    onSave(it, effect);
    const created = await it.run(it.client.endpoints.create(INPUT));
    expect(it.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(saves(it)).toBe(1);
  });

  test.each<[string, unknown]>([
    ["has no id", { data: { saveEndpoint: { name: "llama" } } }],
    ["has an empty id", { data: { saveEndpoint: { id: "", name: "llama" } } }],
    ["has no result", { data: {} }],
    ["has a null result", { data: { saveEndpoint: null } }],
    ["is a list", [1, 2]],
    ["is null", null],
    ["is an empty object", {}],
  ])("because it %s: it is looked for, not sent again", async (_what, body) => {
    await using it = await startEmulated();
    onSave(it, { status: 200, body, when: "after" });
    const created = await it.run(it.client.endpoints.create(INPUT));
    expect(it.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);

    onSave(it, { status: 200, body });
    expect(await it.failure(it.client.endpoints.create(INPUT))).toBeInstanceOf(UnexpectedResponseError);
    expect(saves(it)).toBe(2);
  });
});

describe("the look after a lost response", () => {
  test("comes once the list's lag has passed", async () => {
    await using it = await startEmulated();
    onSave(it, { reset: true, when: "after" });
    it.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
    await it.run(it.client.endpoints.create(INPUT));
    const [, save, look] = it.emulator.journal.requests();
    expect((look?.at ?? 0) - (save?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
    expect(it.emulator.endpoints.list()).toHaveLength(1);
    expect(saves(it)).toBe(1);
  });

  test("takes nothing that was there before, nor anything of another name, template or tiers", async () => {
    await using it = await startEmulated();
    const others = [
      sameAsInput,
      { ...sameAsInput, name: "other" },
      { ...sameAsInput, templateId: "other" },
      { ...sameAsInput, gpuIds: "ADA_24" },
    ];
    it.emulator.endpoints.create(others[0] as typeof sameAsInput);
    onSave(it, { reset: true });
    const creating = it.client.endpoints.create(INPUT);
    await it.clock.advance(1_000);
    for (const other of others.slice(1)) it.emulator.endpoints.create(other);
    const created = await it.run(creating);
    expect(saves(it)).toBe(2);
    expect(it.emulator.endpoints.list()).toHaveLength(5);
    expect(it.emulator.endpoints.list().at(-1)?.id).toBe(created.id);
  });

  test("fails with their ids when several could be the one, and creates nothing more", async () => {
    await using it = await startEmulated();
    onSave(it, { reset: true, when: "after" });
    const creating = it.failure(it.client.endpoints.create(INPUT));
    await it.clock.advance(1_000);
    it.emulator.endpoints.create(sameAsInput);
    const error = await creating;
    const ids = it.emulator.endpoints.list().map(({ id }) => id);
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error).toMatchObject({ code: "CREATE_UNCERTAIN", ids: ids, disposition: "stop" });
    expect(error.message).toContain(`${ids.join(", ")}. Keep one of them and delete the others`);
    expect(ids).toHaveLength(2);
    expect(saves(it)).toBe(1);
  });

  test("that breaks as well ends in an error that says that the endpoint may exist", async () => {
    await using it = await startEmulated();
    onSave(it, { reset: true, when: "after" });
    it.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { status: 401 } });
    const error = await it.failure(it.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error).toMatchObject({ ids: [], cause: { code: "AUTHENTICATION" } });
    expect(error.message).toMatch(/saveEndpoint \(create\) of "llama".*may exist\. Check before you create it again/);
    expect(error.message).toMatch(/cannot be read: the list of endpoints: the service responded with 401/);
    expect(saves(it)).toBe(1);
  });

  test("is made after every attempt, and the attempts are at most six", async () => {
    await using it = await startEmulated();
    onSave(it, { reset: true }, 99);
    const error = await it.failure(it.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/given up after 6 attempts in [0-9]+ s/);
    const lost = Array.from({ length: 6 }, () => ["saveEndpoint", "myself", "myself"]).flat();
    expect(it.calls()).toEqual(["myself", ...lost]);
    expect(it.emulator.endpoints.list()).toEqual([]);
  });

  test("finds what the last attempt did", async () => {
    await using it = await startEmulated({ client: { retry: { maxAttempts: 2 } } });
    onSave(it, { reset: true });
    onSave(it, { reset: true, when: "after" });
    const created = await it.run(it.client.endpoints.create(INPUT));
    expect(it.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(saves(it)).toBe(2);
  });

  test("counts into the time for the call", async () => {
    await using it = await startEmulated({ client: { retry: { maxElapsedMs: 4_000 } } });
    onSave(it, { status: 500 }, 99);
    await it.failure(it.client.endpoints.create(INPUT));
    expect(it.calls()).toEqual(["myself", "saveEndpoint", "myself", "myself"]);
  });
});

describe("a create that was refused", () => {
  test("by 429 is sent again without a search", async () => {
    await using it = await startEmulated();
    onSave(it, { status: 429 }, 3);
    await it.run(it.client.endpoints.create(INPUT));
    expect(it.calls()).toEqual(["myself", ...Array.from({ length: 4 }, () => "saveEndpoint")]);
    expect(it.emulator.endpoints.list()).toHaveLength(1);
  });

  test("by a rule is not sent again, and not looked for", async () => {
    await using it = await startEmulated({ emulator: { templates: ["only-this"] } });
    const error = await it.failure(it.client.endpoints.create(INPUT));
    expect(error.message).toMatch(/saveEndpoint \(create\) of "llama": the service says/);
    expect(it.calls()).toEqual(["myself", "saveEndpoint"]);
  });

  test("is not even sent when the list before it fails", async () => {
    await using it = await startEmulated();
    it.emulator.faults.add({ match: { operation: "myself" }, effect: { nullAccount: true } });
    await it.failure(it.client.endpoints.create(INPUT));
    expect(it.calls()).toEqual(["myself"]);
  });
});

test("ten creates at once, every second response lost, make ten endpoints", async () => {
  await using it = await startEmulated({ emulator: { randomSeed: 7 } });
  it.emulator.faults.add({
    match: { operation: "saveEndpoint", probability: 0.5 },
    effect: { reset: true, when: "after" },
  });
  const names = Array.from({ length: 10 }, (_, index) => `llama-${index}`);
  const created = await it.run(Promise.all(names.map((name) => it.client.endpoints.create({ ...INPUT, name }))));
  expect(created.map(({ name }) => name)).toEqual(names);
  const existing = it.emulator.endpoints.list();
  expect(existing.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort());
});
