import type { FaultEffect } from "../../../emulator/server/faultRule";
import { ConnectionError, CreateUncertainError, UnexpectedResponseError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: ["AMPERE_24", "-B", "-A"], templateId: "abc123" } as const;

function onSave({ emulator }: Emulated, effect: FaultEffect, times = 1): void {
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect, times });
}

const saves = (account: Emulated) => account.emulator.journal.operations({ operation: "saveEndpoint" }).length;
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
  test("a create whose response is lost is found if the create took effect, with one save and one endpoint", async () => {
    await using account = await startEmulated();
    onSave(account, { ...effect, when: "after" });
    const created = await account.run(account.client.endpoints.create(INPUT));
    expect(created).toMatchObject(sameAsInput);
    expect(account.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(account.calls()).toEqual(["myself", "saveEndpoint", "myself"]);
  });

  test("a create whose response is lost is sent again if the create had no effect, leaving one endpoint", async () => {
    await using account = await startEmulated();
    onSave(account, effect);
    const created = await account.run(account.client.endpoints.create(INPUT));
    expect(account.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(account.calls()).toEqual(["myself", "saveEndpoint", "myself", "myself", "saveEndpoint"]);
  });
});

describe("a create whose response breaks off", () => {
  test.each<[string, FaultEffect]>([
    ["is truncated", { truncated: true }],
    ["breaks midway", { reset: "midway" }],
  ])("a create whose response is lost because it %s is found, with one save and one endpoint", async (_what, effect) => {
    await using account = await startEmulated();
    onSave(account, effect);
    const created = await account.run(account.client.endpoints.create(INPUT));
    expect(account.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(saves(account)).toBe(1);
  });

  test.each<[string, unknown]>([
    ["has no id", { data: { saveEndpoint: { name: "llama" } } }],
    ["has an empty id", { data: { saveEndpoint: { id: "", name: "llama" } } }],
    ["has no result", { data: {} }],
    ["has a null result", { data: { saveEndpoint: null } }],
    ["is a list", [1, 2]],
    ["is null", null],
    ["is an empty object", {}],
  ])("a create whose response is lost because it %s is looked up and not sent again", async (_what, body) => {
    await using account = await startEmulated();
    onSave(account, { status: 200, body, when: "after" });
    const created = await account.run(account.client.endpoints.create(INPUT));
    expect(account.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);

    onSave(account, { status: 200, body });
    expect(await account.failure(account.client.endpoints.create(INPUT))).toBeInstanceOf(UnexpectedResponseError);
    expect(saves(account)).toBe(2);
  });
});

describe("the search after a lost response", () => {
  test("the search after a lost response starts after the lag of the list", async () => {
    await using account = await startEmulated();
    onSave(account, { reset: true, when: "after" });
    account.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
    await account.run(account.client.endpoints.create(INPUT));
    const [, save, look] = account.emulator.journal.requests();
    expect((look?.at ?? 0) - (save?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
    expect(account.emulator.endpoints.list()).toHaveLength(1);
    expect(saves(account)).toBe(1);
  });

  test("the search after a lost response ignores endpoints that already existed, and endpoints with another name, template or GPU pools", async () => {
    await using account = await startEmulated();
    const others = [
      sameAsInput,
      { ...sameAsInput, name: "other" },
      { ...sameAsInput, templateId: "other" },
      { ...sameAsInput, gpuIds: "ADA_24" },
    ];
    account.emulator.endpoints.create(others[0] as typeof sameAsInput);
    onSave(account, { reset: true });
    const creating = account.client.endpoints.create(INPUT);
    await account.clock.advance(1_000);
    for (const other of others.slice(1)) account.emulator.endpoints.create(other);
    const created = await account.run(creating);
    expect(saves(account)).toBe(2);
    expect(account.emulator.endpoints.list()).toHaveLength(5);
    expect(account.emulator.endpoints.list().at(-1)?.id).toBe(created.id);
  });

  test("the search after a lost response fails with the ids when several endpoints match, and creates nothing else", async () => {
    await using account = await startEmulated();
    onSave(account, { reset: true, when: "after" });
    const creating = account.failure(account.client.endpoints.create(INPUT));
    await account.clock.advance(1_000);
    account.emulator.endpoints.create(sameAsInput);
    const error = await creating;
    const ids = account.emulator.endpoints.list().map(({ id }) => id);
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error).toMatchObject({ code: "CREATE_UNCERTAIN", ids: ids, disposition: "stop" });
    expect(error.message).toContain(`${ids.join(", ")}. Some of them may belong to other runs. Adopt`);
    expect(ids).toHaveLength(2);
    expect(saves(account)).toBe(1);
  });

  test("the search after a lost response ends with an error that says that the endpoint may exist if the lookup fails as well", async () => {
    await using account = await startEmulated();
    onSave(account, { reset: true, when: "after" });
    account.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { status: 401 } });
    const error = await account.failure(account.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error).toMatchObject({ ids: [], cause: { code: "AUTHENTICATION" } });
    expect(error.message).toMatch(
      /saveEndpoint \(create\) of "llama".*may exist\. Look for it in the service's console before you create it again/,
    );
    expect(error.message).toMatch(/cannot be read: the list of endpoints: the service responded with 401/);
    expect(saves(account)).toBe(1);
  });

  test("the search after a lost response runs after each of at most six attempts", async () => {
    await using account = await startEmulated();
    onSave(account, { reset: true }, 99);
    const error = await account.failure(account.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.message).toMatch(/given up after 6 attempts in [0-9]+ s/);
    const lost = Array.from({ length: 6 }, () => ["saveEndpoint", "myself", "myself"]).flat();
    expect(account.calls()).toEqual(["myself", ...lost]);
    expect(account.emulator.endpoints.list()).toEqual([]);
  });

  test("the search after a lost response finds the endpoint that the last attempt created", async () => {
    await using account = await startEmulated({ client: { retry: { maxAttempts: 2 } } });
    onSave(account, { reset: true });
    onSave(account, { reset: true, when: "after" });
    const created = await account.run(account.client.endpoints.create(INPUT));
    expect(account.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(saves(account)).toBe(2);
  });
});

describe("a create in a short time", () => {
  const short = () => startEmulated({ client: { retry: { maxElapsedMs: 2_500 } } });

  test.each<[string, FaultEffect]>([
    ["that the service lost", { reset: true }],
    ["that the service carried out, in a list that lags", { reset: true, when: "after" }],
    ["that the service does not respond to", { hang: true }],
    ["that the service responds to with 500", { status: 500 }],
  ])("%s ends in time as uncertain and is not sent again", async (_what, effect) => {
    await using account = await short();
    onSave(account, effect, 99);
    account.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { listLagMs: 4_900 } });
    const startedAt = account.clock.monotonic();
    const error = await account.failure(account.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(CreateUncertainError);
    expect(error.message).toMatch(
      /an endpoint named "llama" may exist, or appear later\. The create was not repeated\./,
    );
    expect(error.message).toMatch(
      /Wait 15 s, then look for "llama" in the list of endpoints or in the service's console/,
    );
    expect(account.clock.monotonic() - startedAt).toBeLessThanOrEqual(2_600);
    expect(saves(account)).toBe(1);
  });

  test("a create in a short time returns the endpoint if a list already contains it", async () => {
    await using account = await short();
    onSave(account, { reset: true, when: "after" });
    const created = await account.run(account.client.endpoints.create(INPUT));
    expect(account.emulator.endpoints.list().map(({ id }) => id)).toEqual([created.id]);
    expect(saves(account)).toBe(1);
  });

  test("a create in a short time ends as uncertain if the list after it hangs", async () => {
    await using account = await short();
    onSave(account, { reset: true, when: "after" });
    account.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { hang: true } });
    const startedAt = account.clock.monotonic();
    const error = await account.failure(account.client.endpoints.create(INPUT));
    expect(error).toMatchObject({ code: "CREATE_UNCERTAIN", cause: { code: "REQUEST_TIMEOUT" } });
    expect(account.clock.monotonic() - startedAt).toBeLessThanOrEqual(2_600);
  });

  test("a create in a short time is not sent if the list before it uses up all the time", async () => {
    await using account = await short();
    account.emulator.faults.add({ match: { operation: "myself" }, effect: { hang: true } });
    const error = await account.failure(account.client.endpoints.create(INPUT));
    expect(error).toMatchObject({ code: "REQUEST_TIMEOUT" });
    expect(saves(account)).toBe(0);
  });

  test("an update also ends in time and reports the uncertainty", async () => {
    await using account = await short();
    const { templates } = account.client;
    const { id } = await account.run(templates.create({ name: "llama", imageName: "me/t:1" }));
    await account.clock.advance(60_000);
    const startedAt = account.clock.monotonic();
    // The list may not show somebody else's change yet, and there is no time to wait for that.
    const error = await account.failure(templates.update(id, { name: "llama" }));
    expect(error).toMatchObject({ code: "REQUEST_TIMEOUT" });
    expect(error.message).toMatch(
      /^the change of template \S+: not complete within 2\.5 s, the time for all its requests/,
    );
    expect(account.clock.monotonic() - startedAt).toBeLessThanOrEqual(2_600);
    expect(account.calls().filter((name) => name === "saveTemplate")).toHaveLength(1);
  });

  test("time spent waiting for a rate limit does not count", async () => {
    await using account = await startEmulated({
      client: { service: "runpod", retry: { maxElapsedMs: 2_500 } },
      emulator: { profile: "observed", rateLimits: { graphql: { perMinute: 10_000 } } },
    });
    account.emulator.faults.add({ match: { operation: "saveTemplate" }, effect: { status: 429 }, times: 1 });
    const names = Array.from({ length: 400 }, (_, n) => `t${n}`);
    await account.run(Promise.all(names.map((name) => account.client.templates.create({ name, imageName: "me/t:1" }))));
    expect(account.emulator.templates.list()).toHaveLength(400);
  });
});

describe("a create that was refused", () => {
  test("with 429 is sent again without a search", async () => {
    await using account = await startEmulated();
    onSave(account, { status: 429 }, 3);
    await account.run(account.client.endpoints.create(INPUT));
    expect(account.calls()).toEqual(["myself", ...Array.from({ length: 4 }, () => "saveEndpoint")]);
    expect(account.emulator.endpoints.list()).toHaveLength(1);
  });

  test("by a rule is neither sent again nor looked up", async () => {
    await using account = await startEmulated({ emulator: { templates: ["only-this"] } });
    const error = await account.failure(account.client.endpoints.create(INPUT));
    expect(error.message).toMatch(/saveEndpoint \(create\) of "llama": the service says/);
    expect(account.calls()).toEqual(["myself", "saveEndpoint"]);
  });

  test("a create that was refused is not sent at all if the list before it fails", async () => {
    await using account = await startEmulated();
    account.emulator.faults.add({ match: { operation: "myself" }, effect: { nullAccount: true } });
    await account.failure(account.client.endpoints.create(INPUT));
    expect(account.calls()).toEqual(["myself"]);
  });
});

test("ten concurrent creates create ten endpoints even if every second response is lost", async () => {
  await using account = await startEmulated({ emulator: { randomSeed: 7 } });
  account.emulator.faults.add({
    match: { operation: "saveEndpoint", probability: 0.5 },
    effect: { reset: true, when: "after" },
  });
  const names = Array.from({ length: 10 }, (_, index) => `llama-${index}`);
  const created = await account.run(
    Promise.all(names.map((name) => account.client.endpoints.create({ ...INPUT, name }))),
  );
  expect(created.map(({ name }) => name)).toEqual(names);
  const existing = account.emulator.endpoints.list();
  expect(existing.map(({ id }) => id).sort()).toEqual(created.map(({ id }) => id).sort());
});
