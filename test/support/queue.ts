import type { Handler } from "../../emulator/workers/jobHandlers";
import type { EndpointQueue } from "../../sdk/client/queue";
import { type Emulated, type EmulatedOptions, startEmulated } from "./emulated";

/** An emulator with one endpoint, and its queue as the client sees it. */
export interface EmulatedQueue extends Emulated {
  readonly endpointId: string;
  readonly queue: EndpointQueue;
}

export interface QueueOptions extends EmulatedOptions {
  /**
   * The handler of the endpoint's workers.
   * @default one that echoes the input
   */
  readonly handler?: Handler;
  /** The number of workers that always run. @default 1 */
  readonly workers?: number;
}

/** An endpoint whose workers are ready immediately. */
export async function startQueue({ handler, workers = 1, ...options }: QueueOptions = {}): Promise<EmulatedQueue> {
  const emulated = await startEmulated({
    ...options,
    emulator: { coldStartMs: 0, ...(handler && { handlers: { worker: handler } }), ...options.emulator },
  });
  const endpoint = { name: "worker", gpuIds: "AMPERE_16", templateId: "template-1" };
  const { id } = emulated.emulator.endpoints.create({
    ...endpoint,
    workersMin: workers,
    workersMax: Math.max(1, workers),
  });
  await emulated.clock.advance(0);
  return { ...emulated, endpointId: id, queue: emulated.client.endpoint(id) };
}

/** Runs for the `ms` of its input. */
export const sleeper: Handler = async ({ input }, { sleep }) => {
  await sleep((input as { ms: number }).ms);
  return { slept: (input as { ms: number }).ms };
};
