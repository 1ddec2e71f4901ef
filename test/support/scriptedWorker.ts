import type { HandlerContext, HandlerJob } from "../../emulator";

/**
 * A worker that sleeps as long as its input says, then returns, fails or never ends, as it says.
 */
export const scripted = async ({ input }: HandlerJob, context: HandlerContext) => {
  if (input.progress !== undefined) context.progress(input.progress);
  if (typeof input.sleep === "number") await context.sleep(input.sleep);
  if (input.throw !== undefined) throw new Error(String(input.throw));
  if (input.crash) context.crash();
  if (input.timeOut) context.timeOut();
  if (input.hang) await new Promise(() => {});
  return input.output ?? input;
};

export const handlers = { worker: scripted };
