import { type EmulatorOptions, manualClock, startEmulator } from "../../../emulator";
import { graphql } from "../../support/plainClient";
import { callV2 } from "../restV2/call";

const HOUR_MS = 3_600_000;
/** A Monday at noon. */
const START = Date.UTC(2026, 10, 2, 12);

/** Starts an emulator with an endpoint that keeps two workers on ADA_24 at $1.12 an hour. */
async function start(options: EmulatorOptions = {}) {
  const clock = manualClock(START);
  const emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, clock, ...options });
  emulator.endpoints.create({
    id: "llama",
    templateId: "t",
    name: "llama",
    gpuIds: "ADA_24",
    workersMin: 2,
    workersMax: 2,
  });
  return { emulator, clock };
}

type Record = { startTime: string; endTime: string; serverlessId: string; totalAmount: number };

async function bill({ emulator }: Awaited<ReturnType<typeof start>>, query = "bucketSize=hour") {
  const { status, body } = await callV2(emulator, "GET", `/billing/serverless?${query}`);
  const records: Record[] = body.records ?? [];
  return { status, body, records: records.map((each) => [each.startTime, Number(each.totalAmount.toFixed(4))]) };
}

test("[billing.late] [billing.workers] [billing.deleted] workers are billed from their start to their end, an hour at a time, and a charge is shown when its hour has ended", async () => {
  const running = await start();
  await using emulator = running.emulator;
  const { clock } = running;
  await clock.advance(0.5 * HOUR_MS);
  expect((await bill(running)).records).toEqual([]);
  await clock.advance(0.5 * HOUR_MS);
  expect((await bill(running)).records).toEqual([["2026-11-02T12:00:00.000Z", 2.24]]);
  await clock.advance(0.25 * HOUR_MS);
  emulator.endpoints.change("llama", { workersMin: 0, workersMax: 0 });
  await clock.advance(0.25 * HOUR_MS);
  emulator.endpoints.delete("llama");
  expect((await bill(running)).records).toHaveLength(1);
  await clock.advance(5 * HOUR_MS);
  expect((await bill(running)).records).toEqual([
    ["2026-11-02T12:00:00.000Z", 2.24],
    ["2026-11-02T13:00:00.000Z", 0.56],
  ]);
});

test("[billing.workers] a throttled worker costs nothing until it has a machine", async () => {
  const running = await start();
  await using emulator = running.emulator;
  emulator.faults.add({ match: { endpointId: "mistral" }, effect: { throttleWorkerMs: 3 * HOUR_MS } });
  emulator.endpoints.create({
    id: "mistral",
    templateId: "t",
    name: "mistral",
    gpuIds: "ADA_24",
    workersMin: 1,
    workersMax: 1,
  });
  await running.clock.advance(5 * HOUR_MS);
  const { records } = await bill(running, "bucketSize=hour&serverlessId=mistral");
  expect(records).toEqual([
    ["2026-11-02T15:00:00.000Z", 1.12],
    ["2026-11-02T16:00:00.000Z", 1.12],
  ]);
});

test("[billing.buckets] records are one per endpoint and bucket, and a window is widened to its buckets", async () => {
  const running = await start();
  await using emulator = running.emulator;
  emulator.endpoints.create({
    id: "mistral",
    templateId: "t",
    name: "mistral",
    gpuIds: "AMPERE_16",
    workersMin: 1,
    workersMax: 1,
  });
  await running.clock.advance(40 * HOUR_MS);
  const days = await bill(running, "");
  expect(days.records.filter(([, amount]) => Number(amount) > 20)).toEqual([
    ["2026-11-02T00:00:00.000Z", 26.88],
    ["2026-11-03T00:00:00.000Z", 53.76],
  ]);
  expect(days.body.metadata).toMatchObject({ recordCount: 6, uniqueServerlessCount: 2 });
  const window = "startTime=2026-11-02T13:10:00Z&endTime=2026-11-02T14:10:00Z&serverlessId=llama";
  expect((await bill(running, `${window}&bucketSize=hour`)).records).toEqual([
    ["2026-11-02T13:00:00.000Z", 2.24],
    ["2026-11-02T14:00:00.000Z", 2.24],
  ]);
  expect((await bill(running, `${window}&bucketSize=week`)).body.records).toMatchObject([
    { startTime: "2026-11-02T00:00:00.000Z", endTime: "2026-11-09T00:00:00.000Z" },
  ]);
  expect((await bill(running, `${window}&bucketSize=month`)).body.metadata.query).toEqual({
    startTime: "2026-11-01T00:00:00.000Z",
    endTime: "2026-12-01T00:00:00.000Z",
    bucketSize: "month",
  });
  expect((await bill(running, `${window}&bucketSize=year`)).records).toEqual([["2026-01-01T00:00:00.000Z", 89.6]]);
});

test("[billing.last-n] [billing.invalid] lastN ends with the current bucket, and invalid parameters are refused", async () => {
  const running = await start();
  await using _ = running.emulator;
  await running.clock.advance(3.5 * HOUR_MS);
  expect((await bill(running, "bucketSize=hour&lastN=2")).records).toEqual([["2026-11-02T14:00:00.000Z", 2.24]]);
  const refused = ["lastN=2&endTime=2026-11-02T14:10:00Z", "lastN=0", "bucketSize=minute", "startTime=yesterday"];
  const statuses = await Promise.all(refused.map(async (query) => (await bill(running, query)).status));
  expect(statuses).toEqual([400, 422, 422, 422]);
});

test("[billing.graphql] [billing.graphql-all] GraphQL shows all buckets with their seconds, in the observed profile only", async () => {
  const running = await start();
  await using emulator = running.emulator;
  await running.clock.advance(6 * 24 * HOUR_MS);
  const query = (granularity: string) =>
    `{ myself { billing(input: { granularity: ${granularity} }) { serverless(input: { groupBy: ENDPOINT }) { time amount timeBilledSeconds endpointId } } } }`;
  const { serverless } = (await graphql(emulator, query("DAILY"))).body.data.myself.billing;
  expect(serverless).toHaveLength(7);
  expect(serverless[1]).toEqual({
    time: "2026-11-03T00:00:00.000Z",
    amount: expect.closeTo(53.76),
    timeBilledSeconds: 172_800,
    endpointId: "llama",
  });
  expect((await graphql(emulator, query("HOURLY"))).body.data.myself.billing.serverless).toHaveLength(144);
  const contract = await start({ profile: "contract" });
  await using other = contract.emulator;
  expect((await graphql(other, query("DAILY"))).status).toBe(400);
});

test("a reset clears the bill", async () => {
  const running = await start();
  await using emulator = running.emulator;
  await running.clock.advance(2 * HOUR_MS);
  emulator.reset();
  expect((await bill(running)).records).toEqual([]);
});
