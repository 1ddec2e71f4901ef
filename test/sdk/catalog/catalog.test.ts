import type { ManagementApi } from "../../../sdk/contract/limits";
import { startEmulated } from "../../support/emulated";

const start = (api: ManagementApi, more: object = {}) =>
  startEmulated({ emulator: { profile: "observed", workerQuota: 10, spendLimit: 80, ...more }, client: { api } });

describe.each<ManagementApi>(["graphql", "v2"])("over %s", (api) => {
  test("the catalog lists GPU types with stock and locations, data centers, CPUs and pools, each in one request", async () => {
    await using emulated = await start(api, { volumeDataCenters: ["EU-RO-1"] });
    const { client, run, calls, emulator } = emulated;
    emulator.faults.add({ match: { pool: "ADA_24", dataCenterId: "EU-RO-1" }, effect: { stock: "Low" } });
    emulator.faults.add({ match: { pool: "ADA_24", dataCenterId: "EU-CZ-1" }, effect: { soldOut: true } });
    emulator.faults.add({ match: { pool: "ADA_24", dataCenterId: "US-KS-2" }, effect: { stock: "Absent" } });
    const gpus = await run(client.catalog.gpus({ gpuCount: 2, maxRetries: 0, timeoutMs: 1000 }));
    const gpu = gpus.find(({ id }) => id === "NVIDIA GeForce RTX 4090");
    expect(gpu).toMatchObject({ memoryInGb: 24, stock: "High", cudaVersions: expect.any(Array) });
    expect(gpu?.pool).toBe("ADA_24");
    expect(gpu?.serverlessPrice).toBe(api === "v2" ? 1.12 : undefined);
    const stockIn = (place: string) => gpu?.dataCenters.find(({ id }) => id === place)?.stock;
    expect(["AP-JP-1", "EU-RO-1", "EU-CZ-1", "US-KS-2"].map(stockIn)).toEqual(["High", "Low", "None", undefined]);
    const dataCenters = await run(client.catalog.dataCenters());
    const kansas = dataCenters.find(({ id }) => id === "US-KS-2");
    expect(kansas).toMatchObject({ isListed: true, volumeTypes: [] });
    expect(kansas?.gpus.map(({ id }) => id)).not.toContain("NVIDIA GeForce RTX 4090");
    expect(await run(client.catalog.cpus())).toContainEqual(
      expect.objectContaining({ id: "cpu3g", minVcpus: 2, maxVcpus: 8, memoryPerVcpu: 4 }),
    );
    expect(await run(client.catalog.pools())).toContainEqual({ id: "ADA_24", gpuTypeIds: ["NVIDIA GeForce RTX 4090"] });
    expect(calls()).toHaveLength(4);
  });

  test("the limits of the account are read and include the service's raw response", async () => {
    await using emulated = await start(api);
    const limits = await emulated.run(emulated.client.account.limits());
    expect(limits).toMatchObject({ workerQuota: 10, spendLimit: 80, currentSpend: 0, raw: expect.any(Object) });
    expect([limits.balance, limits.isUnderBalance]).toEqual(api === "v2" ? [null, null] : [100, false]);
  });

  test("a failed catalog request is not repeated if the caller asks for that", async () => {
    await using emulated = await start(api);
    emulated.emulator.faults.add({ effect: { status: 503 } });
    await emulated.failure(emulated.client.catalog.gpus({ maxRetries: 0 }));
    expect(emulated.calls()).toHaveLength(1);
  });
});

test("GraphQL returns stock without authentication, so the key is not sent", async () => {
  await using emulated = await startEmulated({
    emulator: { profile: "observed", apiKey: "right" },
    client: { api: "graphql" },
  });
  const { client, run } = emulated;
  expect((await run(client.catalog.gpus())).length).toBeGreaterThan(10);
  expect((await run(client.catalog.dataCenters())).length).toBeGreaterThan(10);
  await emulated.failure(client.catalog.pools());
});

test.each([
  ["names that are clear", { spendRate: { limit: 50, current: 3 }, serverlessWorkers: { quota: 7 } }, [7, 50, 3]],
  [
    "two numbers that could be the limit",
    { spendRate: {}, serverlessWorkers: { limit: 7, max: 9 } },
    [null, null, null],
  ],
  [
    "other names, whatever they contain",
    { spendRate: { currentLimit: 5, maxRate: 2 }, serverlessWorkers: { maxInUse: 12, allowed: 30 } },
    [null, null, null],
  ],
  ["other types", { spendRate: "none", serverlessWorkers: { limit: "7" } }, [null, null, null]],
  ["nothing", {}, [null, null, null]],
])("limits over REST v2 with %s cause no error", async (_, body, wanted) => {
  await using emulated = await start("v2");
  emulated.emulator.faults.add({ effect: { status: 200, body } });
  const { workerQuota, spendLimit, currentSpend } = await emulated.run(emulated.client.account.limits());
  expect([workerQuota, spendLimit, currentSpend]).toEqual(wanted);
});

test("nested fields of an unexpected type are omitted, and a GPU type without an id is an error", async () => {
  await using emulated = await start("v2");
  const gpus = [{ id: "A", memory: "24", pool: 5, price: "dear", availability: "PLENTY", dataCenters: null }];
  emulated.emulator.faults.add({ effect: { status: 200, body: { gpus } }, times: 1 });
  expect(await emulated.run(emulated.client.catalog.gpus())).toEqual([
    expect.objectContaining({ id: "A", memoryInGb: 24, pool: undefined, stock: "Unknown", dataCenters: [] }),
  ]);
  emulated.emulator.faults.add({ effect: { status: 200, body: { gpus: [{ name: "A" }] } } });
  expect(String(await emulated.failure(emulated.client.catalog.gpus()))).toContain("gpus.0.id");
});
