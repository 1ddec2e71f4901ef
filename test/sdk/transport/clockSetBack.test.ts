import { manualClock } from "../../../emulator/time/virtualClock";
import { createClient } from "../../../sdk/client/client";
import type { Clock } from "../../../sdk/contract/clock";
import { WaitTimeoutError } from "../../../sdk/jobs/jobHandle";
import { createGates } from "../../../sdk/transport/gate";
import { CANARY } from "../../support/emulated";
import { addressesOf, startScriptedServer } from "../../support/scriptedServer";

/**
 * Changes that an administrator or a time server makes to the machine's clock while a program runs.
 */
const CHANGES_MS = [-600_000, 600_000];

afterEach(() => jest.restoreAllMocks());

function setClockBy(changeMs: number): void {
  const now = Date.now;
  jest.spyOn(Date, "now").mockImplementation(() => now() + changeMs);
}

describe.each(CHANGES_MS)("when someone changes the machine's clock by %d ms", (changeMs) => {
  test("a wait ends after its own time limit", async () => {
    await using server = await startScriptedServer(() => ({ body: { id: "job-1", status: "IN_PROGRESS" } }));
    const client = createClient({ apiKey: CANARY, ...addressesOf(server) });
    const startedAt = performance.now();
    const waiting = client.endpoint("ep-1").job("job-1").wait({ timeoutMs: 800 });
    setTimeout(() => setClockBy(changeMs), 300);
    await expect(waiting).rejects.toThrow(WaitTimeoutError);
    const passedMs = performance.now() - startedAt;
    expect(passedMs).toBeGreaterThan(750);
    expect(passedMs).toBeLessThan(60_000);
    await client.close();
  });

  test("a call ends after its own time limit, and its event reports how long the request took", async () => {
    await using server = await startScriptedServer((_request, number) => {
      if (number === 1) setClockBy(changeMs);
      return { status: 503, body: {} };
    });
    const took: number[] = [];
    const client = createClient({
      apiKey: CANARY,
      ...addressesOf(server),
      retry: { maxElapsedMs: 1_500 },
      onRequest: ({ ms }) => took.push(ms),
    });
    const startedAt = performance.now();
    await expect(client.endpoints.list()).rejects.toThrow(/given up after [2-6] attempts in \d+ s/);
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    for (const ms of took) expect(ms).toBeLessThan(60_000);
    for (const ms of took) expect(ms).toBeGreaterThanOrEqual(0);
    await client.close();
  });

  test("a rate limit counts the seconds that have actually passed", async () => {
    const time = manualClock();
    let shiftMs = 0;
    const clock: Clock = { ...time, now: () => time.now() + shiftMs };
    const gate = createGates(clock).of("purge-queue");
    for (let request = 0; request < 2; request++) {
      expect(gate?.tryEnter()).toBe(true);
      gate?.leave(clock.monotonic(), false);
    }
    await time.advance(2_000);
    shiftMs = changeMs;
    expect(gate?.tryEnter()).toBe(false);
    let enteredAt: number | undefined;
    gate?.enter().then(() => {
      enteredAt = time.monotonic();
    });
    await time.advance(20_000);
    expect(enteredAt).toBe(10_000);
  });

  test("a new list is requested when the old one has expired", async () => {
    const endpoint = { id: "ep-1", name: "llama", gpuIds: "AMPERE_24", templateId: "t" };
    await using server = await startScriptedServer(() => ({ body: { data: { myself: { endpoints: [endpoint] } } } }));
    const time = manualClock();
    let shiftMs = 0;
    const clock: Clock = { ...time, now: () => time.now() + shiftMs };
    const client = createClient({ apiKey: CANARY, ...addressesOf(server), clock });
    await client.endpoints.find("ep-1");
    shiftMs = changeMs;
    await client.endpoints.find("ep-1", { maxAgeMs: 5_000 });
    expect(server.requests).toHaveLength(1);
    await time.advance(6_000);
    await client.endpoints.find("ep-1", { maxAgeMs: 5_000 });
    expect(server.requests).toHaveLength(2);
    await client.close();
  });
});
