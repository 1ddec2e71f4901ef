import { manualClock } from "../../../emulator/time/virtualClock";
import { type Client, createClient } from "../../../sdk/client/client";
import { Gate } from "../../../sdk/transport/gate";
import { createLimiter } from "../../../sdk/transport/limiter";
import { startEmulated } from "../../support/emulated";

const MINUTE_MS = 60_000;
const REPORT_MS = 10_000;

/** A client of the named service over GraphQL, which reads pods over REST v2. */
const start = () =>
  startEmulated({
    client: { service: "runpod" },
    emulator: { profile: "observed", rateLimits: { graphql: { perMinute: 10_000 } } },
  });

describe("each interface has its own limit", () => {
  test("a rejection over REST v2 does not slow down GraphQL", async () => {
    await using site = await start();
    const { client, emulator, run, clock } = site;
    emulator.faults.add({ match: { operation: "getPod" }, effect: { status: 429 }, times: 1 });
    await run(client.pods.get("unknown").catch(() => {}));
    const startedAt = clock.monotonic();
    const names = Array.from({ length: 300 }, (_, i) => `t${i}`);
    await run(Promise.all(names.map((name) => client.templates.create({ name, imageName: "me/t:1" }))));
    expect(clock.monotonic() - startedAt).toBeLessThan(MINUTE_MS / 2);
  });

  test("reads over REST v2 respect its limit, regardless of the other APIs", async () => {
    await using site = await start();
    const { client, emulator, run } = site;
    await run(Promise.allSettled(Array.from({ length: 100 }, (_, i) => client.pods.get(`pod${i}`))));
    const reads = emulator.journal.requests().filter(({ path }) => path.includes("/pods/"));
    expect(reads).toHaveLength(100);
    expect(reads.filter(({ status }) => status === 429)).toEqual([]);
  });

  test("waiting is reported at most every ten seconds, even if requests are admitted more often", async () => {
    const clock = manualClock(0);
    const reportedAt: number[] = [];
    const limiter = createLimiter({ perWindow: 100, windowMs: MINUTE_MS, concurrent: Number.POSITIVE_INFINITY });
    const gate = new Gate(clock, limiter, () => reportedAt.push(clock.monotonic()));
    // They start one after another, so they also leave the window one after another.
    for (let i = 0; i < 1000; i++) {
      clock.schedule(i * 300, () => void gate.enter().then(() => gate.leave(clock.monotonic(), false)));
    }
    await clock.advance(5 * MINUTE_MS);
    expect(reportedAt.length).toBeGreaterThan(10);
    const gaps = reportedAt.slice(1).map((at, i) => at - (reportedAt[i] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(REPORT_MS);
  });
});

describe("one account in several processes", () => {
  const calls = (client: Client, count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => client.account.limits()));

  test("all 1,200 calls of eight clients succeed, in little more time than the quota requires", async () => {
    await using site = await startEmulated({
      client: { service: "runpod" },
      emulator: { profile: "observed", rateLimits: { graphql: "real" } },
    });
    const { emulator, run, clock } = site;
    const { url, apiKey } = emulator;
    const clients = Array.from({ length: 8 }, () =>
      createClient({ apiKey, service: "runpod", graphqlUrl: url, restUrl: url, queueUrl: url, clock }),
    );
    const startedAt = clock.monotonic();
    const results = (await run(Promise.all(clients.map((client) => calls(client, 150))))).flat();
    expect(results.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []))).toEqual([]);
    // 1,200 requests at 180 a minute need six whole windows.
    expect(clock.monotonic() - startedAt).toBeLessThan(1.15 * 7 * MINUTE_MS);
    const refused = emulator.journal.requests().filter(({ status }) => status === 429).length;
    // The first burst, and then at most a few of each client in a window.
    expect(refused).toBeLessThan(1_020 + 1_000);
    await Promise.all(clients.map((client) => client.close()));
  }, 300_000);

  test("a single unexpected refusal does not bind a client to the announced quota permanently", async () => {
    await using site = await start();
    const { client, emulator, run, clock } = site;
    emulator.faults.add({ match: { operation: "myself" }, effect: { status: 429 }, times: 1 });
    await run(calls(client, 1));
    await clock.advance(6 * MINUTE_MS);
    const startedAt = clock.monotonic();
    await run(calls(client, 1_000));
    // At 180 a minute, they would take more than five.
    expect(clock.monotonic() - startedAt).toBeLessThan(2 * MINUTE_MS);
  });
});
