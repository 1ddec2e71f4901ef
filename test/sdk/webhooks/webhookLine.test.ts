import { manualClock } from "../../../emulator/time/virtualClock";
import { RateLimitError } from "../../../sdk/errors/errors";
import { createWebhookLine } from "../../../sdk/webhooks/webhookLine";

/** A queue with a quarter of the limit, for reads of a job that take `readMs` each. */
function startLine(readMs: number) {
  const clock = manualClock(0);
  const line = createWebhookLine(clock, 1 / 4);
  const startedAt: number[] = [];
  let underWay = 0;
  let most = 0;
  const enter = (jobId: string) =>
    line(jobId, async () => {
      startedAt.push(clock.now());
      most = Math.max(most, ++underWay);
      await new Promise<void>((resolve) => clock.schedule(readMs, resolve));
      underWay--;
      return jobId;
    });
  return { clock, enter, startedAt, most: () => most };
}

test("confirmations use a quarter of the limits of /status, both per ten seconds and in parallel", async () => {
  const { clock, enter, startedAt, most } = startLine(100);
  const all = Promise.all(Array.from({ length: 1_200 }, (_, n) => enter(`job-${n}`)));
  await clock.advance(9_000);
  expect(startedAt).toHaveLength(500);
  expect(most()).toBe(100);
  await clock.advance(25_000);
  expect(await all).toHaveLength(1_200);
  const inAnyWindow = startedAt.map((at) => startedAt.filter((each) => each >= at && each < at + 10_000).length);
  expect(Math.max(...inAnyWindow)).toBeLessThanOrEqual(500);
});

test("a confirmation that would have to wait for more than 30 s is abandoned", async () => {
  const { clock, enter } = startLine(600_000);
  const all = Array.from({ length: 101 }, (_, n) => enter(`job-${n}`));
  const last = all.at(-1)?.catch((error: unknown) => error);
  await clock.advance(30_000);
  expect(await last).toBeInstanceOf(RateLimitError);
  await clock.runUntilIdle();
  await Promise.all(all.slice(0, 100));
});
