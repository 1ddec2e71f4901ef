import { request } from "undici";
import { systemClock, timeLimit } from "../../sdk/contract/clock";
import { WEBHOOK } from "../../sdk/contract/limits";
import { isLoopback } from "../../sdk/contract/loopback";
import type { Profile } from "../model/fidelity";
import type { EmulatorClock } from "../time/virtualClock";
import { type Job, jobRecord } from "./jobStates";

/** Delivers the webhooks of jobs that have ended. */
export interface Webhooks {
  /** Starts delivery for a job that has ended. Does nothing if the job has no webhook. */
  deliver(job: Job): void;
  /** Cancels all deliveries. */
  dispose(): void;
}

/** The parts of the emulator that webhook delivery uses. */
export interface WebhookContext {
  readonly clock: EmulatorClock;
  readonly profile: Profile;
  /** `true` to also send webhooks to other machines. @default false */
  readonly remoteWebhooks?: boolean | undefined;
  /**
   * Returns `true` if a fault rule drops the next delivery of a webhook. Must be called before each
   * attempt.
   */
  readonly dropsWebhook: (endpointId: string) => boolean;
}

/** Pauses before the second and third attempt, in milliseconds. */
const PAUSES = { contract: Array(WEBHOOK.tries - 1).fill(WEBHOOK.pauseMs) as number[], observed: [5_000, 15_000] };

/** How long a receiver may take to respond, in real milliseconds (assumed). */
const RESPONSE_TIMEOUT_MS = 10_000;

export function createWebhooks(endpointId: string, context: WebhookContext): Webhooks {
  const { clock, profile } = context;
  const stopped = new AbortController();
  const cancelPauses = new Set<() => void>();

  function attempt(url: string, body: string, pauses: readonly number[]): void {
    const sent = context.dropsWebhook(endpointId) ? Promise.resolve(false) : post(url, body);
    const work = sent.then((accepted) => {
      const [pauseMs, ...rest] = pauses;
      if (accepted || pauseMs === undefined || stopped.signal.aborted) return;
      const cancel = clock.schedule(pauseMs, () => {
        cancelPauses.delete(cancel);
        attempt(url, body, rest);
      });
      cancelPauses.add(cancel);
    });
    clock.hold?.(work);
  }

  async function post(url: string, body: string): Promise<boolean> {
    const limit = timeLimit(systemClock, RESPONSE_TIMEOUT_MS, () => new Error("no response in time"), stopped.signal);
    try {
      const headers = { "content-type": "application/json" };
      const response = await request(url, { method: "POST", headers, body, signal: limit.signal });
      await response.body.dump();
      return isAccepted(response.statusCode, profile);
    } catch {
      return false;
    } finally {
      limit.release();
    }
  }

  return {
    deliver(job) {
      const { webhook, input } = job.request;
      if (webhook === undefined || !(context.remoteWebhooks || isLoopback(webhook))) return;
      const record = { ...jobRecord(job, clock.now(), profile), input, webhook };
      attempt(webhook, JSON.stringify(record), PAUSES[profile]);
    },
    dispose() {
      stopped.abort();
      for (const cancel of cancelPauses) cancel();
      cancelPauses.clear();
    },
  };
}

/** In the contract, only 200 counts (contract, Events). The observed service accepts any 2xx. */
function isAccepted(status: number, profile: Profile): boolean {
  return profile === "contract" ? status === WEBHOOK.successStatus : status >= 200 && status < 300;
}
