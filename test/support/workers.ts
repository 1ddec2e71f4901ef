import type { HandlerContext, HandlerJob } from "../../emulator";
import type { QueueTest } from "./queueClient";

export const second = 1000;
export const day = 24 * 60 * 60 * second;

/** A worker that sleeps as long as its input says; 10 s by default. */
export const handlers = {
  worker: async ({ input }: HandlerJob, { sleep }: HandlerContext) => {
    await sleep((input.sleep as number) ?? 10 * second);
  },
};
export const submit = async (queue: QueueTest, count: number, more?: object) => {
  for (let n = 0; n < count; n += 1) await queue.run({ n }, more);
};
export const podCount = (queue: QueueTest) => queue.pods().length;
export const onDemand = { workersMin: 0, workersMax: 10, idleTimeout: 5 };
