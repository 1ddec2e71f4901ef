import type { Client } from "../../sdk/client/client";
import { ServerlessGpuError } from "../../sdk/errors/errors";

/** Make a single attempt: someone is waiting, and an unreadable queue is an answer, too. */
const ONCE = { timeoutMs: 10_000, maxRetries: 0 };

/**
 * Returns why someone may still use an endpoint; `undefined` if it has never run a job. The service
 * counts jobs and does not say when they ran, so an old job cannot be told from a recent one.
 */
export async function useOf(client: Client, id: string): Promise<string | undefined> {
  const health = await client
    .endpoint(id)
    .health(ONCE)
    .catch((error: unknown) => {
      if (error instanceof ServerlessGpuError) return error;
      throw error;
    });
  if (health instanceof Error) return `it cannot be read whether endpoint ${id} runs jobs: ${health.message}`;
  const { completed, failed, retried, inProgress, inQueue } = health.jobs;
  if (inProgress + inQueue > 0) return `endpoint ${id} has jobs: ${inProgress} in progress and ${inQueue} in its queue`;
  const ran = completed + failed + retried;
  if (ran === 0) return undefined;
  return `endpoint ${id} has run jobs, possibly in the last hour: ${completed} completed, ${failed} failed, ${retried} retried`;
}
