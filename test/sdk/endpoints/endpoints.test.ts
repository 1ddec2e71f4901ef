import { NotFoundError } from "../../../sdk/errors/errors";
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
  test("create sends one list request and one save, and returns the endpoint in normal form [contract.create-endpoint] [contract.endpoint-id]", async () => {
    await using service = await startEmulated();
    const created = await service.run(service.client.endpoints.create({ ...INPUT, locations: ["US", "CZ"] }));
    expect(service.calls()).toEqual(["myself", "saveEndpoint"]);
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
    expect(service.emulator.endpoints.get(created.id)).toMatchObject({ ...INPUT, locations: "CZ,US" });
  });

  test("create accepts every field [contract.endpoint-fields]", async () => {
    await using service = await startEmulated();
    const input = {
      ...INPUT,
      idleTimeout: 0,
      flashBootType: "FLASHBOOT",
      scalerType: "REQUEST_COUNT",
      scalerValue: 1,
    } as const;
    const more = { workersMin: 1, workersMax: 1, networkVolumeId: "vol-1", locations: "EU-RO-1" };
    const created = await service.run(service.client.endpoints.create({ ...input, ...more }));
    expect(created).toMatchObject({ ...input, ...more });
    const { pods } = await service.run(service.client.endpoints.get(created.id));
    expect(pods).toMatchObject([{ desiredStatus: "RUNNING" }]);
  });

  test("create treats two endpoints with the same name as different endpoints", async () => {
    await using service = await startEmulated();
    const first = await service.run(service.client.endpoints.create(INPUT));
    const second = await service.run(service.client.endpoints.create(INPUT));
    expect(second.id).not.toBe(first.id);
    expect(service.emulator.endpoints.list()).toHaveLength(2);
  });
});

describe("update", () => {
  test("update reads every field, applies the changes and sends all fields, so that the service resets none [contract.modify-endpoint]", async () => {
    await using service = await startEmulated();
    const { id } = full(service);
    const updated = await service.run(service.client.endpoints.update(id, { templateId: "other" }));
    expect(service.calls()).toEqual(["myself", "saveEndpoint"]);
    expect(lastSave(service)).toEqual({
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

  test("update calls onNameTaken, based on its own list, before a rename to a name in use, but before no other change", async () => {
    await using service = await startEmulated();
    const { id } = full(service);
    const other = service.emulator.endpoints.create({ ...INPUT, name: "taken" });
    const asked: string[][] = [];
    const onNameTaken = (others: readonly { readonly id: string }[]) => {
      asked.push(others.map((each) => each.id));
      throw new Error("refused by the caller");
    };
    await service.run(service.client.endpoints.update(id, { name: "llama", workersMax: 1 }, { onNameTaken }));
    expect(service.calls()).toEqual(["myself", "saveEndpoint"]);
    const refused = await service.failure(service.client.endpoints.update(id, { name: "taken" }, { onNameTaken }));
    expect(refused.message).toBe("refused by the caller");
    expect(asked).toEqual([[other.id]]);
    expect(service.emulator.endpoints.get(id)?.name).toBe("llama");
    await service.run(service.client.endpoints.update(id, { name: "free" }, { onNameTaken }));
    await service.run(service.client.endpoints.update(id, { name: "taken" }));
    expect(service.emulator.endpoints.get(id)?.name).toBe("taken");
  });

  test("update sends the defaults of four fields when they are set to null, and never sends null", async () => {
    await using service = await startEmulated();
    const { id } = full(service);
    const cleared = { idleTimeout: null, scalerValue: null, workersMin: null, workersMax: null };
    await service.run(service.client.endpoints.update(id, cleared));
    expect(lastSave(service)).toMatchObject({ idleTimeout: 10, scalerValue: 4, workersMin: 0, workersMax: 3 });
  });

  test.each([null, ""])("update clears locations and the network volume with %j", async (nothing) => {
    await using service = await startEmulated();
    const { id } = full(service);
    const updated = await service.run(
      service.client.endpoints.update(id, { locations: nothing, networkVolumeId: nothing }),
    );
    expect(updated).toMatchObject({ locations: "", networkVolumeId: "", flashBootType: "FLASHBOOT" });
    expect(service.emulator.endpoints.get(id)).toMatchObject({ locations: "", networkVolumeId: null });
  });

  test.each([
    null,
    "OFF",
  ] as const)("update sends null to clear FLASHBOOT given as %j, because the contract supports no other value", async (off) => {
    await using service = await startEmulated();
    const { id } = full(service);
    expect(await service.run(service.client.endpoints.update(id, { flashBootType: off }))).toMatchObject({
      flashBootType: "OFF",
    });
    expect(lastSave(service)).toMatchObject({ flashBootType: null });
    expect(service.emulator.endpoints.get(id)?.flashBootType).toBeNull();
  });

  test("immediately finds an endpoint that was created after the shared list, by this client or by someone else", async () => {
    await using service = await startEmulated();
    const mine = await service.run(service.client.endpoints.create(INPUT));
    const theirs = service.emulator.endpoints.create({ id: "theirs", ...INPUT });
    const before = service.clock.now();
    await service.run(service.client.endpoints.update(mine.id, { workersMax: 1 }));
    await service.run(service.client.endpoints.update(theirs.id, { workersMax: 1 }));
    expect(service.clock.now() - before).toBeLessThan(1_000);
  });

  test("a change to an endpoint that does not exist keeps looking until lists can no longer lag, and then fails as not found", async () => {
    await using service = await startEmulated();
    full(service);
    const error = await service.failure(service.client.endpoints.update("nowhere", { workersMax: 1 }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.message).toMatch(/endpoint nowhere does not exist in this account/);
    expect(service.calls()).toEqual(["myself", "myself", "myself"]);
  });
});

describe("at the named service", () => {
  test("FLASHBOOT is cleared with OFF, and the suffix that it adds to the name is neither shown nor written", async () => {
    await using service = await startEmulated({ emulator: { profile: "observed" }, client: { service: "runpod" } });
    const { id } = full(service);
    expect((await service.run(service.client.endpoints.get(id))).name).toBe("llama");
    const renamed = await service.run(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(renamed).toMatchObject({ name: "llama", flashBootType: "FLASHBOOT" });
    expect(lastSave(service).name).toBe("llama");
    const off = await service.run(service.client.endpoints.update(id, { flashBootType: null }));
    expect(off.flashBootType).toBe("OFF");
    expect(lastSave(service).flashBootType).toBe("OFF");
    expect(service.emulator.endpoints.get(id)?.flashBootType).toBeNull();
  });
});

describe("looking", () => {
  test("list returns all endpoints in normal form, or an empty list [contract.list-endpoints]", async () => {
    await using service = await startEmulated();
    expect(await service.run(service.client.endpoints.list())).toEqual([]);
    const { id } = service.emulator.endpoints.create({
      ...INPUT,
      gpuIds: " AMPERE_24 , ADA_24,-B,-A",
      locations: "US, CZ",
    });
    const list = await service.run(service.client.endpoints.list());
    expect(list).toMatchObject([{ id, gpuIds: "AMPERE_24,ADA_24,-A,-B", locations: "CZ,US" }]);
  });

  test("each caller gets its own copy of a list", async () => {
    await using service = await startEmulated();
    full(service);
    const [mine, yours] = await service.run(
      Promise.all([service.client.endpoints.list(), service.client.endpoints.list()]),
    );
    mine.pop();
    expect(yours).toHaveLength(1);
    expect(service.calls()).toEqual(["myself"]);
  });

  test("get and find return one endpoint with one list request", async () => {
    await using service = await startEmulated();
    const { id } = full(service);
    expect(await service.run(service.client.endpoints.get(id))).toMatchObject({ id, name: "llama" });
    expect(await service.run(service.client.endpoints.find(id))).toMatchObject({ id, name: "llama" });
    expect(service.calls()).toEqual(["myself", "myself"]);
  });

  test("consecutive creates and updates share a list if it contains everything they need", async () => {
    await using service = await startEmulated();
    const created = [];
    for (const name of ["one", "two", "three"])
      created.push(await service.run(service.client.endpoints.create({ ...INPUT, name })));
    expect(service.calls()).toEqual(["myself", "saveEndpoint", "saveEndpoint", "saveEndpoint"]);

    service.emulator.journal.clear();
    const [one] = created;
    await service.run(service.client.endpoints.update(one?.id ?? "", { workersMax: 1 }));
    const taken = await service.run(
      service.client.endpoints.create({ ...INPUT, name: "two" }, { onNameTaken: ([first]) => first }),
    );
    expect(taken.id).toBe(created[1]?.id);
    expect(service.emulator.journal.requests({ operation: "saveEndpoint" })).toHaveLength(1);
  });

  test("a name can be used for a create as soon as its endpoint has been deleted", async () => {
    await using service = await startEmulated();
    const { id } = await service.run(service.client.endpoints.create(INPUT));
    await service.run(service.client.endpoints.delete(id));
    const onNameTaken = () => {
      throw new Error("the name is not taken any more");
    };
    expect((await service.run(service.client.endpoints.create(INPUT, { onNameTaken }))).id).not.toBe(id);
  });

  test("looking up a thousand missing endpoints takes one attempt at a single read and two lists", async () => {
    await using service = await startEmulated();
    full(service);
    const ids = Array.from({ length: 1000 }, (_, index) => `missing-${index}`);
    const found = service.run(Promise.all(ids.map((id) => service.client.endpoints.find(id, { maxAgeMs: 30_000 }))));
    expect(new Set(await found)).toEqual(new Set([undefined]));
    expect(service.calls()).toEqual(["myself", "myself", "myself"]);
  });

  test("find reads the list again once the lag of the lists has passed", async () => {
    await using service = await startEmulated();
    const { id } = full(service);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
    expect(await service.run(service.client.endpoints.find(id))).toMatchObject({ id });
    const [first, refused, second] = service.emulator.journal.requests();
    expect(refused?.status).toBe(400);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(15_000);
  });

  test("find returns undefined and get fails only after two lists without the endpoint", async () => {
    await using service = await startEmulated();
    full(service);
    expect(await service.run(service.client.endpoints.find("nowhere"))).toBeUndefined();
    expect(await service.failure(service.client.endpoints.get("nowhere"))).toBeInstanceOf(NotFoundError);
    expect(service.calls()).toEqual(Array.from({ length: 1 + 2 + 2 }, () => "myself"));
  });

  test("a thousand concurrent finds share one list", async () => {
    await using service = await startEmulated();
    const { id } = full(service);
    await service.run(Promise.all(Array.from({ length: 1_000 }, () => service.client.endpoints.find(id))));
    expect(service.calls()).toEqual(["myself"]);
  });

  test("a caller may accept an older list, but only until the next write", async () => {
    await using service = await startEmulated();
    const { id } = full(service);
    await service.run(service.client.endpoints.find(id));
    await service.run(service.client.endpoints.find(id, { maxAgeMs: 30_000 }));
    expect(service.calls()).toEqual(["myself"]);
    await service.run(service.client.endpoints.update(id, { idleTimeout: 33 }));
    const found = await service.run(service.client.endpoints.find(id, { maxAgeMs: 30_000 }));
    expect(found?.idleTimeout).toBe(33);
    expect(service.calls()).toEqual(["myself", "saveEndpoint", "myself"]);
  });

  test("the discount is read with all its fields [contract.discount]", async () => {
    const serverlessDiscount = { discountFactor: 0.8, type: "committed", expirationDate: "2026-01-01T00:00:00Z" };
    await using service = await startEmulated({ emulator: { serverlessDiscount } });
    expect(await service.run(service.client.endpoints.getServerlessDiscount())).toEqual(serverlessDiscount);
  });
});

describe("scaleToZero", () => {
  test("scaleToZero sets both worker counts to 0 and leaves all other fields unchanged", async () => {
    await using service = await startEmulated();
    const before = full(service);
    const scaled = await service.run(service.client.endpoints.scaleToZero(before.id));
    expect(scaled).toMatchObject({ workersMin: 0, workersMax: 0, idleTimeout: 60, networkVolumeId: "vol-1" });
    const { version, pods, ...rest } = before;
    expect(service.emulator.endpoints.get(before.id)).toMatchObject({ ...rest, workersMin: 0, workersMax: 0 });
    expect(service.calls()).toEqual(["myself", "saveEndpoint"]);
  });
});

test("an update keeps this client's own recent changes, even if the list lags", async () => {
  await using service = await startEmulated();
  const { id } = full(service);
  await service.clock.advance(20_000);
  await service.run(service.client.endpoints.update(id, { idleTimeout: 77 }));
  await service.run(service.client.endpoints.update(id, { scalerValue: 9 }));
  service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
  await service.run(service.client.endpoints.update(id, { workersMax: 4 }));
  expect(service.emulator.endpoints.get(id)).toMatchObject({ idleTimeout: 77, scalerValue: 9, workersMax: 4 });
});
