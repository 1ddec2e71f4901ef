import type { SpendOptions } from "../../../sdk";
import type { ManagementApi } from "../../../sdk/contract/limits";
import { startEmulated } from "../../support/emulated";

const HOUR_MS = 3_600_000;
/** Two and a half days before the end of a month. */
const START = Date.UTC(2026, 10, 28, 12);

/** Starts an emulator with two endpoints that keep workers at $1.12 and $0.58 an hour. */
async function start(api: ManagementApi) {
  const emulated = await startEmulated({
    startMs: START,
    emulator: { profile: "observed", coldStartMs: 0 },
    client: { api },
  });
  const { endpoints } = emulated.emulator;
  endpoints.create({ id: "llama", templateId: "t", name: "llama", gpuIds: "ADA_24", workersMin: 2, workersMax: 2 });
  endpoints.create({ id: "tiny", templateId: "t", name: "tiny", gpuIds: "AMPERE_16", workersMin: 1, workersMax: 1 });
  return emulated;
}

const answerOf = (api: ManagementApi, records: unknown) =>
  api === "v2" ? { records } : { data: { myself: { billing: { serverless: records } } } };

describe.each<ManagementApi>(["graphql", "v2"])("over %s", (api) => {
  test("the spend of the month is what the workers cost, with the newest bucket and its age", async () => {
    await using emulated = await start(api);
    const { client, run, clock } = emulated;
    const spend = async (options?: SpendOptions) => run(client.account.spend(options));
    await clock.advance(10 * 60_000);
    const none = await spend();
    expect(none).toMatchObject({ amount: 0, currency: "USD", from: "2026-11-01T00:00:00.000Z" });
    expect("newestBucket" in none).toBe(false);
    await clock.advance(30 * HOUR_MS);
    // 30 whole hours have been billed, and the current one has not.
    const month = await spend();
    expect(month.amount).toBeCloseTo(30 * (2 * 1.12 + 0.58), 2);
    expect(month.seconds).toBe(api === "graphql" ? 30 * 3 * 3600 : undefined);
    expect(month).toMatchObject({ to: "2026-11-30T00:00:00.000Z", newestBucket: "2026-11-29T00:00:00.000Z" });
    expect(month.newestBucketAge).toBeGreaterThanOrEqual(18 * 3600);
    const hours = await spend({ endpointId: "llama", groupBy: "hour", from: new Date(START + 28.5 * HOUR_MS) });
    expect(hours).toMatchObject({
      from: "2026-11-29T16:00:00.000Z",
      newestBucket: "2026-11-29T17:00:00.000Z",
      groups: [{ key: "2026-11-29T16:00:00.000Z" }, { key: "2026-11-29T17:00:00.000Z", amount: 2.24 }],
    });
    expect(hours.newestBucketAge).toBeLessThan(2 * 3600);
    const { groups } = await spend({ groupBy: "endpoint" });
    expect(groups?.map(({ key, amount }) => [key, Number(amount.toFixed(2))])).toEqual([
      ["llama", 67.2],
      ["tiny", 17.4],
    ]);
    await clock.advance(36 * HOUR_MS);
    // December has begun, and the charges of its first hours are the only ones that count.
    expect((await spend()).amount).toBeCloseTo(6 * (2 * 1.12 + 0.58), 2);
    expect((await spend({ to: new Date("2026-12-01T00:00:00Z") })).amount).toBeCloseTo(60 * (2 * 1.12 + 0.58), 2);
    expect((await spend({ groupBy: "day", from: new Date(START) })).groups).toHaveLength(4);
  });

  test("charges of other endpoints and times do not count, even if the service ignores its filters", async () => {
    await using emulated = await start(api);
    const record = (id: string, time: string, amount: unknown) =>
      api === "v2"
        ? { serverlessId: id, startTime: time, totalAmount: amount }
        : { endpointId: id, time, amount, timeBilledSeconds: 60 };
    const body = answerOf(api, [
      record("llama", "2026-11-05 00:00:00", "1.5"),
      record("llama", "2026-11-05T00:00:00+00:00", -0.25),
      record("tiny", "2026-11-05T00:00:00Z", 100),
      record("llama", "2026-10-31T00:00:00Z", 100),
    ]);
    emulated.emulator.faults.add({ effect: { status: 200, body } });
    const { amount, seconds } = await emulated.run(emulated.client.account.spend({ endpointId: "llama" }));
    expect([amount, seconds]).toEqual([1.25, api === "v2" ? undefined : 120]);
  });

  test("a charge that names no endpoint may be of any, so it is an error where one is asked for", async () => {
    await using emulated = await start(api);
    const time = "2026-11-05T00:00:00Z";
    const body = answerOf(api, [{ startTime: time, time, totalAmount: 3, amount: 3 }]);
    emulated.emulator.faults.add({ effect: { status: 200, body } });
    expect((await emulated.run(emulated.client.account.spend())).amount).toBe(3);
    const { message } = await emulated.failure(emulated.client.account.spend({ endpointId: "llama", maxRetries: 0 }));
    expect(message).toContain("the response has a charge that names no endpoint");
  });

  test.each([
    ["no records", undefined],
    ["null records", null],
    [
      "a record without an amount",
      [{ serverlessId: "a", endpointId: "a", startTime: "2026-11-05T00:00:00Z", time: "2026-11-05T00:00:00Z" }],
    ],
    [
      "an amount that is not a number",
      [{ startTime: "2026-11-05T00:00:00Z", time: "2026-11-05T00:00:00Z", totalAmount: "many", amount: "many" }],
    ],
    ["a time that is not a time", [{ startTime: "today", time: "today", totalAmount: 1, amount: 1 }]],
  ])("an answer with %s causes an error rather than an amount that is too small", async (_, records) => {
    await using emulated = await start(api);
    emulated.emulator.faults.add({ effect: { status: 200, body: answerOf(api, records) } });
    const error = await emulated.failure(emulated.client.account.spend({ maxRetries: 0 }));
    expect(error).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("the bill of the account"),
    });
  });

  test("an answer that is late is read again, and a service that stays away is an error", async () => {
    await using emulated = await start(api);
    await emulated.clock.advance(2 * HOUR_MS);
    emulated.emulator.faults.add({ effect: { status: 503 }, times: 2 });
    expect((await emulated.run(emulated.client.account.spend())).amount).toBeCloseTo(2 * (2 * 1.12 + 0.58), 2);
    emulated.emulator.faults.add({ effect: { status: 503 } });
    expect(await emulated.failure(emulated.client.account.spend())).toMatchObject({ status: 503 });
  });
});

test("an answer over REST v2 with fewer records than it counts is an error", async () => {
  await using emulated = await start("v2");
  const body = { records: [], metadata: { recordCount: 1200 } };
  emulated.emulator.faults.add({ effect: { status: 200, body } });
  const { message } = await emulated.failure(emulated.client.account.spend({ maxRetries: 0 }));
  expect(message).toContain("the response has 0 of 1200 records");
});

test.each<[SpendOptions, RegExp]>([
  [{ from: new Date("2026-12-01"), to: new Date("2026-11-01") }, /from: must be before to/],
  [{ groupBy: "gpu" }, /groupBy: must be "endpoint" or "day" or "hour"/],
  [{ from: "2026-11-01" as unknown as Date }, /from: must be a valid Date/],
])("the options %j are refused without a request", async (options, message) => {
  await using emulated = await start("v2");
  expect((await emulated.failure(emulated.client.account.spend(options))).message).toMatch(message);
  expect(emulated.calls()).toEqual([]);
});
