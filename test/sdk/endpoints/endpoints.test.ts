import { NotFoundError } from "../../../sdk/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" } as const;

/** The input of the last `saveEndpoint`. */
function lastSave({ emulator }: Emulated): Record<string, unknown> {
  const saves = emulator.journal.requests({ operation: "saveEndpoint" });
  return saves.at(-1)?.arguments.input as Record<string, unknown>;
}

/** An endpoint that holds something in every field, made without a request. */
function full({ emulator }: Emulated) {
  return emulator.endpoints.create({
    ...INPUT,
    idleTimeout: 60,
    locations: "CZ,US",
    flashBootType: "FLASHBOOT",
    scalerType: "REQUEST_COUNT",
    scalerValue: 7,
    workersMin: 0,
    workersMax: 5,
    networkVolumeId: "vol-1",
  });
}

describe("create", () => {
  test("sends one list and one save, and returns the endpoint in normal form [contract.create-endpoint] [contract.endpoint-id]", async () => {
    await using it = await startEmulated();
    const created = await it.run(it.client.endpoints.create({ ...INPUT, locations: ["US", "CZ"] }));
    expect(it.calls()).toEqual(["myself", "saveEndpoint"]);
    expect(created).toMatchObject({
      ...INPUT,
      idleTimeout: 10,
      locations: "CZ,US",
      flashBootType: "OFF",
      scalerType: "QUEUE_DELAY",
      scalerValue: 4,
      workersMin: 0,
      workersMax: 3,
      networkVolumeId: "",
    });
    expect(it.emulator.endpoints.get(created.id)).toMatchObject({ ...INPUT, locations: "CZ,US" });
  });

  test("takes every field [contract.endpoint-fields]", async () => {
    await using it = await startEmulated();
    const input = {
      ...INPUT,
      idleTimeout: 0,
      flashBootType: "FLASHBOOT",
      scalerType: "REQUEST_COUNT",
      scalerValue: 1,
    } as const;
    const more = { workersMin: 1, workersMax: 1, networkVolumeId: "vol-1", locations: "EU-RO-1" };
    const created = await it.run(it.client.endpoints.create({ ...input, ...more }));
    expect(created).toMatchObject({ ...input, ...more });
    const { pods } = await it.run(it.client.endpoints.get(created.id));
    expect(pods).toMatchObject([{ desiredStatus: "RUNNING" }]);
  });

  test("takes two endpoints of one name for two endpoints", async () => {
    await using it = await startEmulated();
    const first = await it.run(it.client.endpoints.create(INPUT));
    const second = await it.run(it.client.endpoints.create(INPUT));
    expect(second.id).not.toBe(first.id);
    expect(it.emulator.endpoints.list()).toHaveLength(2);
  });
});

describe("update", () => {
  test("reads, overlays and sends every field, so that none is reset [contract.modify-endpoint]", async () => {
    await using it = await startEmulated();
    const { id } = full(it);
    const updated = await it.run(it.client.endpoints.update(id, { templateId: "other" }));
    expect(it.calls()).toEqual(["myself", "saveEndpoint"]);
    expect(lastSave(it)).toEqual({
      id,
      name: "llama",
      gpuIds: "AMPERE_24",
      templateId: "other",
      idleTimeout: 60,
      locations: "CZ,US",
      flashBootType: "FLASHBOOT",
      scalerType: "REQUEST_COUNT",
      scalerValue: 7,
      workersMin: 0,
      workersMax: 5,
      networkVolumeId: "vol-1",
    });
    expect(updated).toMatchObject({ id, templateId: "other", idleTimeout: 60, workersMax: 5, scalerValue: 7 });
  });

  test("asks before a rename to a name that others have, with a list of its own, and for no other change", async () => {
    await using it = await startEmulated();
    const { id } = full(it);
    const other = it.emulator.endpoints.create({ ...INPUT, name: "taken" });
    const asked: string[][] = [];
    const onNameTaken = (others: readonly { readonly id: string }[]) => {
      asked.push(others.map((each) => each.id));
      throw new Error("refused by the caller");
    };
    await it.run(it.client.endpoints.update(id, { name: "llama", workersMax: 1 }, { onNameTaken }));
    expect(it.calls()).toEqual(["myself", "saveEndpoint"]);
    const refused = await it.failure(it.client.endpoints.update(id, { name: "taken" }, { onNameTaken }));
    expect(refused.message).toBe("refused by the caller");
    expect(asked).toEqual([[other.id]]);
    expect(it.emulator.endpoints.get(id)?.name).toBe("llama");
    await it.run(it.client.endpoints.update(id, { name: "free" }, { onNameTaken }));
    await it.run(it.client.endpoints.update(id, { name: "taken" }));
    expect(it.emulator.endpoints.get(id)?.name).toBe("taken");
  });

  test("sets the four fields with defaults to them for null, and never sends null for them", async () => {
    await using it = await startEmulated();
    const { id } = full(it);
    const cleared = { idleTimeout: null, scalerValue: null, workersMin: null, workersMax: null };
    await it.run(it.client.endpoints.update(id, cleared));
    expect(lastSave(it)).toMatchObject({ idleTimeout: 10, scalerValue: 4, workersMin: 0, workersMax: 3 });
  });

  test.each([null, ""])("clears locations and the network volume with %j", async (nothing) => {
    await using it = await startEmulated();
    const { id } = full(it);
    const updated = await it.run(it.client.endpoints.update(id, { locations: nothing, networkVolumeId: nothing }));
    expect(updated).toMatchObject({ locations: "", networkVolumeId: "", flashBootType: "FLASHBOOT" });
    expect(it.emulator.endpoints.get(id)).toMatchObject({ locations: "", networkVolumeId: null });
  });

  test.each([
    null,
    "OFF",
  ] as const)("clears FLASHBOOT given as %j with null, as the contract has no other way", async (off) => {
    await using it = await startEmulated();
    const { id } = full(it);
    expect(await it.run(it.client.endpoints.update(id, { flashBootType: off }))).toMatchObject({
      flashBootType: "OFF",
    });
    expect(lastSave(it)).toMatchObject({ flashBootType: null });
    expect(it.emulator.endpoints.get(id)?.flashBootType).toBeNull();
  });

  test("finds without a pause what it, or somebody else, made after the list that others share", async () => {
    await using it = await startEmulated();
    const mine = await it.run(it.client.endpoints.create(INPUT));
    const theirs = it.emulator.endpoints.create({ id: "theirs", ...INPUT });
    const before = it.clock.now();
    await it.run(it.client.endpoints.update(mine.id, { workersMax: 1 }));
    await it.run(it.client.endpoints.update(theirs.id, { workersMax: 1 }));
    expect(it.clock.now() - before).toBeLessThan(1_000);
  });

  test("of an endpoint that does not exist looks until lists no longer lag, and says so", async () => {
    await using it = await startEmulated();
    const error = await it.failure(it.client.endpoints.update("nowhere", { workersMax: 1 }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.message).toMatch(/endpoint nowhere does not exist in this account/);
    expect(it.calls()).toEqual(["myself", "myself", "myself", "myself"]);
  });
});

describe("at the named service", () => {
  test("FLASHBOOT is cleared with OFF, and the suffix it leaves at the name is never seen nor written", async () => {
    await using it = await startEmulated({ emulator: { profile: "observed" }, client: { service: "runpod" } });
    const { id } = full(it);
    expect((await it.run(it.client.endpoints.get(id))).name).toBe("llama");
    const renamed = await it.run(it.client.endpoints.update(id, { workersMax: 2 }));
    expect(renamed).toMatchObject({ name: "llama", flashBootType: "FLASHBOOT" });
    expect(lastSave(it).name).toBe("llama");
    const off = await it.run(it.client.endpoints.update(id, { flashBootType: null }));
    expect(off.flashBootType).toBe("OFF");
    expect(lastSave(it).flashBootType).toBe("OFF");
    expect(it.emulator.endpoints.get(id)?.flashBootType).toBeNull();
  });
});

describe("looking", () => {
  test("list shows all endpoints in normal form; none is an empty list [contract.list-endpoints]", async () => {
    await using it = await startEmulated();
    expect(await it.run(it.client.endpoints.list())).toEqual([]);
    const { id } = it.emulator.endpoints.create({ ...INPUT, gpuIds: " AMPERE_24 , ADA_24,-B,-A", locations: "US, CZ" });
    const list = await it.run(it.client.endpoints.list());
    expect(list).toMatchObject([{ id, gpuIds: "AMPERE_24,ADA_24,-A,-B", locations: "CZ,US" }]);
  });

  test("a list belongs to its caller", async () => {
    await using it = await startEmulated();
    full(it);
    const [mine, yours] = await it.run(Promise.all([it.client.endpoints.list(), it.client.endpoints.list()]));
    mine.pop();
    expect(yours).toHaveLength(1);
    expect(it.calls()).toEqual(["myself"]);
  });

  test("get and find show one endpoint with one list", async () => {
    await using it = await startEmulated();
    const { id } = full(it);
    expect(await it.run(it.client.endpoints.get(id))).toMatchObject({ id, name: "llama" });
    expect(await it.run(it.client.endpoints.find(id))).toMatchObject({ id, name: "llama" });
    expect(it.calls()).toEqual(["myself", "myself"]);
  });

  test("creates and updates that follow each other share a list, which shows all that concerns them", async () => {
    await using it = await startEmulated();
    const created = [];
    for (const name of ["one", "two", "three"])
      created.push(await it.run(it.client.endpoints.create({ ...INPUT, name })));
    expect(it.calls()).toEqual(["myself", "saveEndpoint", "saveEndpoint", "saveEndpoint"]);

    it.emulator.journal.clear();
    const [one] = created;
    await it.run(it.client.endpoints.update(one?.id ?? "", { workersMax: 1 }));
    const taken = await it.run(
      it.client.endpoints.create({ ...INPUT, name: "two" }, { onNameTaken: ([first]) => first }),
    );
    expect(taken.id).toBe(created[1]?.id);
    expect(it.emulator.journal.requests({ operation: "saveEndpoint" })).toHaveLength(1);
  });

  test("a name is free again for a create as soon as its endpoint was deleted", async () => {
    await using it = await startEmulated();
    const { id } = await it.run(it.client.endpoints.create(INPUT));
    await it.run(it.client.endpoints.delete(id));
    const onNameTaken = () => {
      throw new Error("the name is not taken any more");
    };
    expect((await it.run(it.client.endpoints.create(INPUT, { onNameTaken }))).id).not.toBe(id);
  });

  test("a thousand that are missing need one attempt at a single read and three lists, not a thousand", async () => {
    await using it = await startEmulated();
    const ids = Array.from({ length: 1000 }, (_, index) => `missing-${index}`);
    const found = it.run(Promise.all(ids.map((id) => it.client.endpoints.find(id, { maxAgeMs: 30_000 }))));
    expect(new Set(await found)).toEqual(new Set([undefined]));
    expect(it.calls()).toEqual(["myself", "myself", "myself", "myself"]);
  });

  test("find looks again once the list's lag has passed", async () => {
    await using it = await startEmulated();
    const { id } = full(it);
    it.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
    expect(await it.run(it.client.endpoints.find(id))).toMatchObject({ id });
    const [first, refused, second] = it.emulator.journal.requests();
    expect(refused?.status).toBe(400);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(5_000);
  });

  test("find finds nothing, and get fails, only after three lists", async () => {
    await using it = await startEmulated();
    expect(await it.run(it.client.endpoints.find("nowhere"))).toBeUndefined();
    expect(await it.failure(it.client.endpoints.get("nowhere"))).toBeInstanceOf(NotFoundError);
    expect(it.calls()).toEqual(Array.from({ length: 1 + 3 + 3 }, () => "myself"));
  });

  test("a thousand finds at once need one list", async () => {
    await using it = await startEmulated();
    const { id } = full(it);
    await it.run(Promise.all(Array.from({ length: 1_000 }, () => it.client.endpoints.find(id))));
    expect(it.calls()).toEqual(["myself"]);
  });

  test("an older list is good enough for who allows it, until there was a write", async () => {
    await using it = await startEmulated();
    const { id } = full(it);
    await it.run(it.client.endpoints.find(id));
    await it.run(it.client.endpoints.find(id, { maxAgeMs: 30_000 }));
    expect(it.calls()).toEqual(["myself"]);
    await it.run(it.client.endpoints.update(id, { idleTimeout: 33 }));
    const found = await it.run(it.client.endpoints.find(id, { maxAgeMs: 30_000 }));
    expect(found?.idleTimeout).toBe(33);
    expect(it.calls()).toEqual(["myself", "saveEndpoint", "myself"]);
  });

  test("the discount is read with all its fields [contract.discount]", async () => {
    const serverlessDiscount = { discountFactor: 0.8, type: "committed", expirationDate: "2026-01-01T00:00:00Z" };
    await using it = await startEmulated({ emulator: { serverlessDiscount } });
    expect(await it.run(it.client.endpoints.getServerlessDiscount())).toEqual(serverlessDiscount);
  });
});

describe("scaleToZero", () => {
  test("sets both worker counts to 0 and leaves everything else as it is", async () => {
    await using it = await startEmulated();
    const before = full(it);
    const scaled = await it.run(it.client.endpoints.scaleToZero(before.id));
    expect(scaled).toMatchObject({ workersMin: 0, workersMax: 0, idleTimeout: 60, networkVolumeId: "vol-1" });
    const { version, pods, ...rest } = before;
    expect(it.emulator.endpoints.get(before.id)).toMatchObject({ ...rest, workersMin: 0, workersMax: 0 });
    expect(it.calls()).toEqual(["myself", "saveEndpoint"]);
  });
});

test("an update keeps what this client changed a moment ago, also if the list lags behind", async () => {
  await using it = await startEmulated();
  const { id } = full(it);
  await it.clock.advance(20_000);
  await it.run(it.client.endpoints.update(id, { idleTimeout: 77 }));
  await it.run(it.client.endpoints.update(id, { scalerValue: 9 }));
  it.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
  await it.run(it.client.endpoints.update(id, { workersMax: 4 }));
  expect(it.emulator.endpoints.get(id)).toMatchObject({ idleTimeout: 77, scalerValue: 9, workersMax: 4 });
});
