import type { FaultEffect } from "../../../emulator/server/faultRule";
import { ConnectionError, CreateUncertainError, UnexpectedResponseError } from "../../../sdk/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: ["AMPERE_24", "-B", "-A"], templateId: "abc123" } as const;

function onSave({ emulator }: Emulated, effect: FaultEffect, times = 1): void {
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect, times });
}

const saves = (emulated: Emulated) => emulated.emulator.journal.operations({ operation: "saveEndpoint" }).length;
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
    await using emulated = await startEmulated();
    onSave(emulated, { ...effect, when: "after" });
    const created = await emulated.run(emulated.client.endpoints.create(INPUT));
    expect(created).toMatchObject(sameAsInput);
    expect(emulated.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(emulated.calls()).toEqual(["myself", "saveEndpoint", "myself"]);
  });

  test("is sent again when it had none: one endpoint", async () => {
    await using emulated = await startEmulated();
    onSave(emulated, effect);
    const created = await emulated.run(emulated.client.endpoints.create(INPUT));
    expect(emulated.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(emulated.calls()).toEqual(["myself", "saveEndpoint", "myself", "myself", "saveEndpoint"]);
  });
});

describe("a create whose response breaks off", () => {
  test.each<[string, FaultEffect]>([
    ["is truncated", { truncated: true }],
    ["breaks midway", { reset: "midway" }],
  ])("because it %s is found: one save, one endpoint", async (_what, effect) => {
    await using emulated = await startEmulated();
    onSave(emulated, effect);
    const created = await emulated.run(emulated.client.endpoints.create(INPUT));
    expect(emulated.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(saves(emulated)).toBe(1);
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
    await using emulated = await startEmulated();
    onSave(emulated, { status: 200, body, when: "after" });
    const created = await emulated.run(emulated.client.endpoints.create(INPUT));
    expect(emulated.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);

    onSave(emulated, { status: 200, body });
    expect(await emulated.failure(emulated.client.endpoints.create(INPUT))).toBeInstanceOf(UnexpectedResponseError);
    expect(saves(emulated)).toBe(2);
  });
});

describe("the look after a lost response", () => {
  test("comes once the list's lag has passed", async () => {
    await using emulated = await startEmulated();
    onSave(emulated, { reset: true, when: "after" });
    emulated.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
    await emulated.run(emulated.client.endpoints.create(INPUT));
    const [, save, look] = emulated.emulator.journal.requests();
    expect((look?.at ?? 0) - (save?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
    expect(emulated.emulator.endpoints.list()).toHaveLength(1);
    expect(saves(emulated)).toBe(1);
  });

  test("takes nothing that was there before, nor anything of another name, template or tiers", async () => {
    await using emulated = await startEmulated();
    const others = [
      sameAsInput,
      { ...sameAsInput, name: "other" },
      { ...sameAsInput, templateId: "other" },
      { ...sameAsInput, gpuIds: "ADA_24" },
    ];
    emulated.emulator.endpoints.create(others[0] as typeof sameAsInput);
    onSave(emulated, { reset: true });
    const creating = emulated.client.endpoints.create(INPUT);
    await emulated.clock.advance(1_000);
    for (const other of others.slice(1)) emulated.emulator.endpoints.create(other);
    const created = await emulated.run(creating);
    expect(saves(emulated)).toBe(2);
    expect(emulated.emulator.endpoints.list()).toHaveLength(5);
    expect(emulated.emulator.endpoints.list().at(-1)?.id).toBe(created.id);
  });

  test("fails with their ids when several could be the one, and creates nothing more", async () => {
    await using emulated = await startEmulated();
    onSave(emulated, { reset: true, when: "after" });
    const creating = emulated.failure(emulated.client.endpoints.create(INPUT));
    await emulated.clock.advance(1_000);
    emulated.emulator.endpoints.create(sameAsInput);
    const error = await creating;
    const ids = emulated.emulator.endpoints.list().map(({ id }) => id);
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error).toMatchObject({ code: "CREATE_UNCERTAIN", endpointIds: ids, disposition: "stop" });
    expect(error.message).toContain(`${ids.join(", ")}. Keep one of them and delete the others`);
    expect(ids).toHaveLength(2);
    expect(saves(emulated)).toBe(1);
  });

  test("that breaks as well ends in an error that says that the endpoint may exist", async () => {
    await using emulated = await startEmulated();
    onSave(emulated, { reset: true, when: "after" });
    emulated.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { status: 401 } });
    const error = await emulated.failure(emulated.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error).toMatchObject({ endpointIds: [], cause: { code: "AUTHENTICATION" } });
    expect(error.message).toMatch(/saveEndpoint \(create\) of "llama".*may exist\. Check before you create it again/);
    expect(error.message).toMatch(/cannot be read: the list of endpoints: the service responded with 401/);
    expect(saves(emulated)).toBe(1);
  });

  test("is made after every attempt, and the attempts are at most six", async () => {
    await using emulated = await startEmulated();
    onSave(emulated, { reset: true }, 99);
    const error = await emulated.failure(emulated.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/given up after 6 attempts in [0-9]+ s/);
    const lost = Array.from({ length: 6 }, () => ["saveEndpoint", "myself", "myself"]).flat();
    expect(emulated.calls()).toEqual(["myself", ...lost]);
    expect(emulated.emulator.endpoints.list()).toEqual([]);
  });

  test("finds what the last attempt did", async () => {
    await using emulated = await startEmulated({ client: { retry: { maxAttempts: 2 } } });
    onSave(emulated, { reset: true });
    onSave(emulated, { reset: true, when: "after" });
    const created = await emulated.run(emulated.client.endpoints.create(INPUT));
    expect(emulated.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(saves(emulated)).toBe(2);
  });

  test("counts into the time for the call", async () => {
    await using emulated = await startEmulated({ client: { retry: { maxElapsedMs: 4_000 } } });
    onSave(emulated, { status: 500 }, 99);
    await emulated.failure(emulated.client.endpoints.create(INPUT));
    expect(emulated.calls()).toEqual(["myself", "saveEndpoint", "myself", "myself"]);
  });
});

describe("a create that was refused", () => {
  test("by 429 is sent again without a search", async () => {
    await using emulated = await startEmulated();
    onSave(emulated, { status: 429 }, 3);
    await emulated.run(emulated.client.endpoints.create(INPUT));
    expect(emulated.calls()).toEqual(["myself", ...Array.from({ length: 4 }, () => "saveEndpoint")]);
    expect(emulated.emulator.endpoints.list()).toHaveLength(1);
  });

  test("by a rule is not sent again, and not looked for", async () => {
    await using emulated = await startEmulated({ emulator: { templates: ["only-this"] } });
    const error = await emulated.failure(emulated.client.endpoints.create(INPUT));
    expect(error.message).toMatch(/saveEndpoint \(create\) of "llama": the service says/);
    expect(emulated.calls()).toEqual(["myself", "saveEndpoint"]);
  });

  test("is not even sent when the list before it fails", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: { operation: "myself" }, effect: { nullAccount: true } });
    await emulated.failure(emulated.client.endpoints.create(INPUT));
    expect(emulated.calls()).toEqual(["myself"]);
  });
});

test("ten creates at once, every second response lost, make ten endpoints", async () => {
  await using emulated = await startEmulated({ emulator: { randomSeed: 7 } });
  emulated.emulator.faults.add({
    match: { operation: "saveEndpoint", probability: 0.5 },
    effect: { reset: true, when: "after" },
  });
  const names = Array.from({ length: 10 }, (_, index) => `llama-${index}`);
  const created = await emulated.run(
    Promise.all(names.map((name) => emulated.client.endpoints.create({ ...INPUT, name }))),
  );
  expect(created.map(({ name }) => name)).toEqual(names);
  const existing = emulated.emulator.endpoints.list();
  expect(existing.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort());
});
