import { requireAddress, serviceName } from "../connection/settings";
import type { JobQueue, JobQueueParts } from "../jobs/jobQueue";
import type { QueueContext } from "../jobs/queueTransport";
import { createLoadBalancer, type LoadBalancer } from "../loadBalancer/loadBalancer";
import type { Connected } from "./connected";

/** Creates the queue of an endpoint. */
export type CreateQueue<Queue extends JobQueue> = (
  context: QueueContext,
  endpointId: string,
) => JobQueueParts & { readonly queue: Queue };

/**
 * Returns a function that provides access to an endpoint's queue and workers. It keeps one access
 * object per endpoint, so that all callers share the endpoint's queue.
 */
export function accessOver<Queue extends JobQueue>(
  connected: Connected,
  createQueue: CreateQueue<Queue>,
  hooks: Pick<QueueContext, "diagnose" | "onEnded"> = {},
): (endpointId: string) => Queue & LoadBalancer {
  const { options, calls, http, apiKey, log } = connected;
  const known = new Map<string, Queue & LoadBalancer>();
  return (endpointId) => {
    const existing = known.get(endpointId);
    if (existing) return existing;
    const queueUrl = requireAddress(options, "queueUrl");
    const holdsReads = serviceName(options) === "runpod";
    const { rateLimits } = options;
    const context = { ...calls, ...hooks, http, apiKey, log, queueUrl, rateLimits, holdsReads };
    const { queue, close } = createQueue(context, endpointId);
    const access = Object.assign(createLoadBalancer(context, endpointId), queue);
    connected.onClose(close);
    known.set(endpointId, access);
    return access;
  };
}
