import { setTimeout as sleep } from "node:timers/promises";
import type { Emulator, Handler } from "../../emulator";

/**
 * A job that runs until it is released. It keeps its worker after a scale-down, even on a slow
 * machine.
 */
export interface HeldJob {
  readonly handler: Handler;
  release(): void;
}

export function heldJob(): HeldJob {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { handler: () => released, release: () => release() };
}

/** Submits a job to an endpoint, and resolves when a worker runs it. */
export async function occupyWorker({ url, apiKey }: Emulator, endpointId: string): Promise<void> {
  const headers = { authorization: apiKey, "content-type": "application/json" };
  const submitted = await fetch(`${url}/v2/${endpointId}/run`, { method: "POST", headers, body: '{"input":{"n":1}}' });
  if (submitted.status !== 200) throw new Error(`/run returned ${submitted.status}`);
  const running = async () => {
    const health = await (await fetch(`${url}/v2/${endpointId}/health`, { headers })).json();
    return (health as { workers: { running: number } }).workers.running;
  };
  while ((await running()) === 0) await sleep(20);
}
