import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, type ManualClock, manualClock, startEmulator } from "../../../emulator";
import { createClient } from "../../../sdk";
import type { ManagementApi } from "../../../sdk/contract/limits";
import { startPlugin } from "../../support/plugin";

const HOUR_MS = 3_600_000;
const TICK_MS = HOUR_MS / 4;
/** The price of a worker on AMPERE_16, in US dollars an hour. */
const PRICE = 0.58;
const NOVEMBER = Date.UTC(2026, 10, 1);

let cache: string;
let clock: ManualClock;
let emulator: Emulator;
let printed: string[];

beforeAll(async () => {
  cache = await mkdtemp(path.join(tmpdir(), "spend-"));
  process.env.XDG_CACHE_HOME = cache;
});
afterAll(() => rm(cache, { recursive: true }));
beforeEach(async () => {
  printed = [];
  jest.spyOn(console, "log").mockImplementation((line: string) => void printed.push(line));
  clock = manualClock(NOVEMBER);
  const rateLimits = { management: "off", graphql: "off" } as const;
  emulator = await startEmulator({ profile: "observed", coldStartMs: 0, drainMs: 0, clock, rateLimits });
  emulator.endpoints.create({ id: "tiny", name: "tiny", gpuIds: "AMPERE_16", templateId: "t", workersMax: 2 });
});
afterEach(async () => {
  jest.restoreAllMocks();
  delete process.env.SERVERLESS_GPU_NOW;
  await emulator.stop();
});

/**
 * The settings of the emulator, which has no named service, so that no rate limit of it applies.
 */
function settings(api: ManagementApi) {
  const { url, apiKey } = emulator;
  return { apiKey, graphqlUrl: url, restUrl: url, queueUrl: url, api };
}

/** Returns `getSpend` as a program in a run of its own calls it, at the emulator's time. */
function getSpend(api: ManagementApi, more: Record<string, string> = {}) {
  const values: Record<string, string> = { ...settings(api), ...more };
  process.env.SERVERLESS_GPU_NOW = new Date(clock.now()).toISOString();
  const { contextFor } =
    require("../../../provider/functions/dataSource") as typeof import("../../../provider/functions/dataSource");
  const { findSpend } =
    require("../../../provider/functions/findSpend") as typeof import("../../../provider/functions/findSpend");
  const context = contextFor((name) => values[name]);
  return (args: Parameters<typeof findSpend>[1] = {}) => findSpend(context, args);
}

test.each<ManagementApi>([
  "graphql",
  "v2",
])("a budget over %s that is checked every 15 minutes ends the month within one bucket and one tick, and the next month begins anew", async (api) => {
  await using client = createClient({ ...settings(api), clock });
  const [LESS, NONE] = [400, 500];
  const changes: [hours: number, workers: number, seen: number][] = [];
  let workers = 0;
  for (let hours = 0; hours <= 30 * 24 + 1; hours += 0.25) {
    const { amount } = await getSpend(api)();
    const wanted = amount < LESS ? 2 : amount < NONE ? 1 : 0;
    if (wanted !== workers) {
      await client.endpoints.update("tiny", { workersMin: wanted, workersMax: wanted });
      workers = wanted;
      changes.push([hours, wanted, amount]);
    }
    // Without a job for a week, RunPod lowers workersMax.
    if (hours % 24 === 0 && workers > 0) await client.endpoint("tiny").run({ input: { hours } });
    await clock.advance(TICK_MS);
  }
  expect(changes.map(([, count]) => count)).toEqual([2, 1, 0, 2]);
  const [, less, none, again] = changes as [unknown, number[], number[], number[]];
  // The true amounts at both changes: what the workers have cost until then, billed or not.
  const atLess = (less[0] ?? 0) * 2 * PRICE;
  const atNone = atLess + ((none[0] ?? 0) - (less[0] ?? 0)) * PRICE;
  expect(less[2]).toBeGreaterThanOrEqual(LESS);
  expect(none[2]).toBeGreaterThanOrEqual(NONE);
  // One bucket of an hour and one tick of a quarter.
  expect(atLess - LESS).toBeLessThan(1.25 * 2 * PRICE);
  expect(atNone - NONE).toBeLessThan(1.25 * PRICE);
  expect(again).toEqual([30 * 24, 2, 0]);
  const october = { from: "2026-11-01", to: "2026-12-01" };
  expect((await getSpend(api)(october)).amount).toBeCloseTo(atNone, 4);
}, 300_000);

/** Calls `getSpend` of the plugin in a run of its own, at the emulator's time. */
async function runPlugin(args: Record<string, unknown>, more: Record<string, string> = {}) {
  const { SERVERLESS_GPU_SERVICE: _, ...env } = emulator.env;
  const now = new Date(clock.now()).toISOString();
  const own = { ...env, XDG_CACHE_HOME: cache, SERVERLESS_GPU_NOW: now, SERVERLESS_GPU_API: "v2", ...more };
  const plugin = await startPlugin(own);
  try {
    return { answer: await plugin.invoke("getSpend", args), lines: plugin.lines.map(({ message }) => message) };
  } finally {
    await plugin.stop();
  }
}

test("a missing answer is an error, or the last known amount with its age if the program asks for that", async () => {
  emulator.endpoints.change("tiny", { workersMin: 2 });
  await clock.advance(10 * HOUR_MS);
  const asked = { useLastKnown: true };
  const { answer } = await runPlugin(asked);
  expect(answer).toMatchObject({ amount: 11.6, isLastKnown: false, newestBucket: "2026-11-01T00:00:00.000Z" });
  // A service that asks for a longer wait than a call allows is not asked again.
  emulator.faults.add({ effect: { status: 503, headers: { "retry-after": "7200" } } });
  await clock.advance(2 * HOUR_MS);
  await expect(runPlugin({})).rejects.toThrow(/503/);
  const later = await runPlugin(asked);
  expect(later.answer).toEqual({ ...answer, isLastKnown: true, newestBucketAge: 12 * 3600 });
  expect(later.lines).toEqual([
    expect.stringContaining("getSpend: RunPod did not answer, so the last known amount is used: "),
    "getSpend: $11.60 from 2026-11-01T00:00:00.000Z (newest bucket 2026-11-01T00:00:00.000Z, 12 h old, last known at 2026-11-01T10:00:00.000Z)",
  ]);
  // Nothing is known about other arguments, other accounts and the next month.
  await expect(runPlugin({ ...asked, endpointId: "tiny" })).rejects.toThrow(/503/);
  await expect(runPlugin(asked, { SERVERLESS_GPU_API_KEY: "other" })).rejects.toThrow(/503/);
  await clock.advance(30 * 24 * HOUR_MS);
  await expect(runPlugin(asked)).rejects.toThrow(/503/);
});

test("a run for a later time leaves no last known amount for a month that has not begun", async () => {
  const asked = { useLastKnown: true };
  await clock.advance(60 * 24 * HOUR_MS);
  expect((await runPlugin(asked)).answer).toMatchObject({ amount: 0, isLastKnown: false });
  emulator.faults.add({ effect: { status: 503, headers: { "retry-after": "7200" } } });
  await expect(runPlugin(asked)).rejects.toThrow(/503/);
});

test.each<ManagementApi>([
  "graphql",
  "v2",
])("an endpoint that the account does not have is an error over %s, not an amount of 0", async (api) => {
  expect(await getSpend(api)({ endpointId: "tiny" })).toMatchObject({ amount: 0 });
  await expect(getSpend(api)({ endpointId: "tinny" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("in a program's process that serves for months, each call asks for the month of its own time", async () => {
  const later = () => Date.now() + 40 * 24 * HOUR_MS;
  const { monthStart } = require("../../../provider/dynamic/functions") as typeof import("../../../provider");
  const find = getSpend("v2");
  delete process.env.SERVERLESS_GPU_NOW;
  const begun = monthStart();
  const now = later();
  jest.spyOn(Date, "now").mockReturnValue(now);
  expect(monthStart() > begun).toBe(true);
  const { from, to } = await find();
  expect([from, Date.parse(to) > now]).toEqual([monthStart(), true]);
});

test("a refusal is an error even if a last known amount exists", async () => {
  const asked = { useLastKnown: true };
  await getSpend("v2")(asked);
  emulator.faults.add({ effect: { status: 403 } });
  await expect(getSpend("v2")(asked)).rejects.toMatchObject({ code: "AUTHENTICATION" });
});

test.each([
  ["yesterday"],
  ["2026-11-01T08:00"],
  ["2026-13-01"],
  ["2026-02-30"],
])("the time %s is refused before any request", async (from) => {
  await expect(getSpend("v2")({ from })).rejects.toThrow(/getSpend is not valid: from: must be a date/);
  expect(emulator.journal.requests()).toEqual([]);
});
