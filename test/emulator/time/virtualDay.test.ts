import type { HandlerContext, HandlerJob } from "../../../emulator";
import { startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const minute = 60_000;
const JOBS = 720;
const EVERY_MS = (24 * 60 * minute) / JOBS;

test("advancing the clock simulates a day with a job every two minutes", async () => {
  const worker = async ({ input }: HandlerJob, { sleep, random }: HandlerContext) => {
    await sleep(60_000 + random() * 240_000);
    if ((input.n as number) % 100 === 0) throw new Error("every hundredth fails");
    return input.n;
  };
  const endpoint = { workersMin: 0, workersMax: 5, scalerType: "QUEUE_DELAY", scalerValue: 30, idleTimeout: 60 };
  const queue = await startQueue(endpoint, { handlers: { worker }, coldStartMs: 45_000 });
  const startedAt = queue.clock.now();
  let [mostWorkers, longestDelay] = [0, 0];

  for (let n = 1; n <= JOBS; n += 1) {
    const id = await queue.run({ n });
    await queue.clock.advance(EVERY_MS);
    mostWorkers = Math.max(mostWorkers, queue.pods().length);
    const { delayTime } = await queue.job(id);
    longestDelay = Math.max(longestDelay, delayTime);
  }
  await queue.clock.runUntilIdle();

  expect(queue.clock.now() - startedAt).toBeGreaterThanOrEqual(JOBS * EVERY_MS);
  expect((await queue.health()).jobs).toEqual({
    completed: JOBS - Math.floor(JOBS / 100),
    failed: Math.floor(JOBS / 100),
    inProgress: 0,
    inQueue: 0,
    retried: 0,
  });
  expect(mostWorkers).toBeGreaterThan(1);
  expect(mostWorkers).toBeLessThanOrEqual(5);
  // The first job waits for a cold start; a scaled endpoint never lets one wait for much longer
  // than its scaler allows.
  expect(longestDelay).toBeGreaterThanOrEqual(45_000);
  expect(longestDelay).toBeLessThanOrEqual(30_000 + 45_000);
  // Only the jobs of the last half hour are still known.
  expect((await queue.get("requests")).body.requests.length).toBeLessThanOrEqual(20);

  await queue.clock.advance(3 * minute);
  expect(queue.pods()).toEqual([]);
});
