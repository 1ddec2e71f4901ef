import { type EmulatorOptions, manualClock, startEmulator } from "../../../emulator";
import { send } from "../../support/plainClient";
import { callV2 } from "../restV2/call";

const start = (options: EmulatorOptions = {}) =>
  startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, clock: manualClock(), ...options });

type Running = Awaited<ReturnType<typeof start>>;

/** Sends a GraphQL query with this key, or without one. */
const ask = ({ url }: Running, query: string, key?: string) =>
  send(`${url}/graphql${key === undefined ? "" : `?api_key=${key}`}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });

const STOCK = `stockStatus gpuTypeDatacenters { dataCenterId supportNetworkVolumes availability }
  gpuTypeCudaVersions { cudaVersion availability }`;
const stockQuery = (input: string) =>
  `{ gpuTypes(input: { id: "NVIDIA L4" }) { id memoryInGb lowestPrice(input: { ${input} }) { ${STOCK} } } }`;

/** Returns what both interfaces say about the L4. */
async function l4(emulator: Running, input = "gpuCount: 1", query = "count=1") {
  const { data } = (await ask(emulator, stockQuery(input))).body;
  const listed = await callV2(emulator, "GET", `/catalog/gpus?include=AVAILABILITY&product=SERVERLESS&${query}`);
  const v2 = listed.body.gpus.find(({ id }: { id: string }) => id === "NVIDIA L4");
  const { stockStatus, gpuTypeDatacenters, gpuTypeCudaVersions } = data.gpuTypes[0].lowestPrice;
  return {
    levels: [stockStatus, v2.availability],
    places: [gpuTypeDatacenters.length, v2.dataCenters?.length ?? 0],
    versions: [gpuTypeCudaVersions.length, v2.cudaVersions.length],
  };
}

test("[catalog.public] [catalog.pools-key] everything except the pools can be read without a key in the observed profile", async () => {
  await using emulator = await start();
  const query = "{ gpuTypes { id } dataCenters { id listed location } cpuFlavors { id specifics { slsPrice } } }";
  const { data } = (await ask(emulator, query)).body;
  expect(data.gpuTypes).toContainEqual({ id: "NVIDIA L4" });
  expect(data.dataCenters).toContainEqual({ id: "EU-RO-1", listed: true, location: "RO" });
  expect(data.cpuFlavors).toContainEqual({ id: "cpu3g", specifics: { slsPrice: 0.04 } });
  expect((await ask(emulator, "{ serverlessGpuPools { id } }")).body).toEqual({ data: { myself: null } });
  expect((await ask(emulator, "{ gpuTypes { id } myself { id } }")).body).toEqual({ data: { myself: null } });
  expect((await ask(emulator, "{ gpuTypes { id } }", "wrong")).status).toBe(401);
  await using contract = await start({ profile: "contract" });
  expect((await ask(contract, "{ gpuTypes { id } }", contract.apiKey)).status).toBe(400);
});

test("[catalog.pools] [catalog.v2-price] both APIs return the pools, and REST v2 also returns their prices", async () => {
  await using emulator = await start();
  const { serverlessGpuPools } = (await ask(emulator, "{ serverlessGpuPools { id gpuTypeIds } }", emulator.apiKey)).body
    .data;
  expect(serverlessGpuPools).toContainEqual({ id: "ADA_24", gpuTypeIds: ["NVIDIA GeForce RTX 4090"] });
  const { gpus } = (await callV2(emulator, "GET", "/catalog/gpus")).body;
  const ada = (id: string) => gpus.find((gpu: { id: string }) => gpu.id === id);
  expect(ada("NVIDIA GeForce RTX 4090")).toMatchObject({ pool: "ADA_24", memory: 24, price: { serverless: 1.12 } });
  const { pool, price } = ada("NVIDIA RTX PRO 4500 Blackwell");
  expect([pool, Object.keys(price)]).toEqual([null, ["secure", "community"]]);
  expect((await callV2(emulator, "GET", "/catalog/gpus/NVIDIA%20L4")).body).toMatchObject({ pool: "AMPERE_24" });
  expect((await callV2(emulator, "GET", "/catalog/gpus/nothing")).status).toBe(404);
});

test("[catalog.default] [catalog.stock] [catalog.best] [catalog.absent] a stock rule changes only the stock that it matches", async () => {
  await using emulator = await start();
  const everywhere = { places: [16, 16], versions: [10, 10] };
  expect(await l4(emulator)).toEqual({ levels: ["High", "HIGH"], ...everywhere });
  expect(await l4(emulator, "gpuCount: 9", "count=9")).toMatchObject({ levels: [null, "NONE"] });
  const low = emulator.faults.add({ match: { pool: "AMPERE_24" }, effect: { stock: "Low" } });
  expect(await l4(emulator)).toEqual({ levels: ["Low", "LOW"], ...everywhere });
  emulator.faults.remove(low.id);
  emulator.faults.add({ match: { gpuTypeId: "NVIDIA L4", dataCenterId: "EU-RO-1" }, effect: { stock: "Absent" } });
  emulator.faults.add({ match: { cudaVersion: "12.8" }, effect: { stock: "Absent" } });
  emulator.faults.add({ match: { pool: "AMPERE_24" }, effect: { soldOut: true } });
  expect(await l4(emulator)).toEqual({ levels: [null, "NONE"], places: [15, 15], versions: [9, 9] });
  expect(await l4(emulator, 'gpuCount: 1, minCudaVersion: "12.8"', "minCudaVersion=12.8")).toEqual({
    levels: [null, "NONE"],
    places: [0, 0],
    versions: [0, 0],
  });
});

test("[catalog.sold-out] jobs wait while their GPUs are sold out, and run as soon as the GPUs are available again", async () => {
  const clock = manualClock();
  await using emulator = await start({
    clock,
    seed: { endpoints: [{ id: "e", name: "e", gpuIds: "ADA_24", templateId: "t", locations: "RO" }] },
  });
  const rule = emulator.faults.add({ match: { pool: "ADA_24" }, effect: { soldOut: true } });
  const { id } = (await callV2(emulator, "POST", "/e/run", { input: { n: 1 } })).body;
  await clock.advance(600_000);
  const status = async () => (await callV2(emulator, "GET", `/e/status/${id}`)).body.status;
  expect(await status()).toBe("IN_QUEUE");
  emulator.faults.remove(rule.id);
  await clock.advance(1000);
  expect(await status()).toBe("COMPLETED");
});

test("[account.limits] [account.limits-v2] [account.spend-limit] no worker starts above the spend limit until the limit is raised", async () => {
  const clock = manualClock();
  const endpoint = { gpuIds: "ADA_24", templateId: "t", workersMin: 1, workersMax: 2 };
  await using emulator = await start({
    clock,
    workerQuota: 10,
    spendLimit: 2,
    seed: {
      endpoints: [
        { id: "a", name: "a", ...endpoint },
        { id: "b", name: "b", ...endpoint },
      ],
    },
  });
  const workers = () => ["a", "b"].map((id) => emulator.endpoints.get(id)?.pods.length);
  expect(workers()).toEqual([1, 0]);
  const query = "{ myself { maxServerlessConcurrency spendLimit currentSpendPerHr underBalance } }";
  expect((await ask(emulator, query, emulator.apiKey)).body.data.myself).toEqual({
    maxServerlessConcurrency: 10,
    spendLimit: 2,
    currentSpendPerHr: 1.12,
    underBalance: false,
  });
  expect((await callV2(emulator, "GET", "/account/limits")).body).toEqual({
    spendRate: { limit: 2, current: 1.12 },
    serverlessWorkers: { limit: 10, current: 4 },
  });
  emulator.endpoints.delete("a");
  await clock.advance(1000);
  expect(workers()).toEqual([undefined, 1]);
  emulator.setSpendLimit(10);
  expect(() => emulator.setSpendLimit(-1)).toThrow("The spend limit -1 is not a number of 0 or more");
});

test("[catalog.v2-parameters] [catalog.v2-volumes] invalid parameters are refused, and data centers list their volume types", async () => {
  await using emulator = await start({ volumeDataCenters: ["EU-RO-1"] });
  const status = async (path: string) => (await callV2(emulator, "GET", `/catalog/${path}`)).status;
  expect(await status("gpus?include=AVAILABILITY")).toBe(400);
  expect(await status("gpus?count=2")).toBe(400);
  expect(await status("gpus?include=AVAILABILITY&product=NOTHING")).toBe(422);
  expect(await status("gpus?include=AVAILABILITY&product=SERVERLESS&cudaVersions=12.4&minCudaVersion=12.4")).toBe(400);
  const { dataCenters } = (await callV2(emulator, "GET", "/catalog/datacenters?include=GPU_AVAILABILITY")).body;
  const place = (id: string) => dataCenters.find((each: { id: string }) => each.id === id);
  expect(place("EU-RO-1").networkVolumeTypes).toEqual(["STANDARD", "HIGH_PERFORMANCE"]);
  expect(place("US-KS-2")).toMatchObject({ region: "US", networkVolumeTypes: [] });
  expect(place("US-KS-2").gpuAvailability).toContainEqual({
    id: "NVIDIA L4",
    name: "NVIDIA L4",
    availability: "HIGH",
  });
});

test("a stock rule that contains request fields is refused, and so is a request rule that contains stock fields", async () => {
  await using emulator = await start();
  expect(() => emulator.faults.add({ match: { endpointId: "e" }, effect: { soldOut: true } })).toThrow(
    'The rule is about stock: leave endpointId out of "match".',
  );
  expect(() => emulator.faults.add({ match: { pool: "ADA_24" }, effect: { hang: true } })).toThrow(
    'The rule is about requests: leave pool out of "match".',
  );
  expect(() => emulator.faults.add({ effect: { soldOut: true }, times: 1 })).toThrow('leave out "times"');
});
