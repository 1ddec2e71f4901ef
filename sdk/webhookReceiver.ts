import type { IncomingMessage, ServerResponse } from "node:http";
import { callUser } from "./events";
import { WebhookNotConfirmedError } from "./jobErrors";
import { isTerminal, type Job } from "./jobs";
import type { EndpointQueue } from "./queue";

/** What a webhook receiver is made of. */
export interface WebhookReceiverOptions {
  /** The queue of the endpoint whose jobs name this receiver in `webhook`. */
  readonly endpoint: Pick<EndpointQueue, "endpointId" | "status">;
  /** Called once for each end of a job, with the job as `/status` shows it. */
  readonly onJob: (job: Job) => unknown;
  /**
   * Called when a delivery could not be confirmed, or when `onJob` failed. The service will not deliver it again: look at
   * the job yourself. A `NotFoundError` or a `WebhookNotConfirmedError` may stand for a delivery that somebody made up.
   */
  readonly onError: (error: unknown, jobId: string) => unknown;
}

/** Takes the service's webhook calls, and believes only `/status`. */
export interface WebhookReceiver {
  /** For `http.createServer(receiver.node)`, or a route of a server that has not read the body. */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** For servers whose handlers take a `Request` and return a `Response`. */
  fetch(request: Request): Promise<Response>;
  /** Resolves when all deliveries so far were confirmed and handed on. To be awaited before a process ends. */
  idle(): Promise<void>;
}

/** A delivery holds the job's input and its output. */
const MAX_BODY_BYTES = 64_000_000;

/** Deliveries that may wait for their confirmation. The service tries again later what is refused. */
const MAX_UNDER_WAY = 1_000;

/** How many ends of jobs are remembered, so that a duplicate is known. */
const REMEMBERED = 10_000;

/**
 * Makes a receiver for the webhooks of one endpoint. A delivery is answered at once; then the job is read with `/status`,
 * because deliveries carry no signature and anybody can send one. Duplicates are dropped (contract, Events).
 * @example
 * const receiver = createWebhookReceiver({
 *   endpoint: client.endpoint("abc"),
 *   onJob: (job) => save(job.id, job.status, job.output),
 *   onError: (error, jobId) => console.error(jobId, error),
 * });
 * http.createServer(receiver.node).listen(8080);
 */
export function createWebhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const underWay = new Map<string, Promise<void>>();
  const handedOn = new Set<string>();

  async function confirm(jobId: string): Promise<void> {
    try {
      const job = await options.endpoint.status(jobId);
      if (!isTerminal(job.status)) throw notConfirmed(job, options.endpoint.endpointId);
      if (isNew(job)) await options.onJob(job);
    } catch (error) {
      callUser(() => options.onError(error, jobId));
    } finally {
      underWay.delete(jobId);
    }
  }

  /** A job that was retried ends again: only the same end of the same job is a duplicate. */
  function isNew({ id, status, delayTime, executionTime }: Job): boolean {
    const end = [id, status, delayTime, executionTime].join(" ");
    if (handedOn.has(end)) return false;
    handedOn.add(end);
    const [oldest] = handedOn;
    if (handedOn.size > REMEMBERED && oldest !== undefined) handedOn.delete(oldest);
    return true;
  }

  /** The status to answer a delivery with. */
  function receive(method: string | undefined, body: string | undefined): number {
    if (method !== "POST") return 405;
    if (body === undefined) return 413;
    const jobId = jobIdOf(body);
    if (jobId === undefined) return 400;
    if (underWay.has(jobId)) return 200;
    if (underWay.size >= MAX_UNDER_WAY) return 503;
    underWay.set(jobId, confirm(jobId));
    return 200;
  }

  return {
    async node(request, response) {
      const body = await readBody(request).catch(() => "");
      response.writeHead(receive(request.method, body), { "content-length": 0 }).end();
    },
    async fetch(request) {
      const body = await readBody(request.body ?? []).catch(() => "");
      return new Response(null, { status: receive(request.method, body) });
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

/** The whole body; nothing when it is too large. */
async function readBody(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string | undefined> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    read.push(chunk);
  }
  return Buffer.concat(read).toString("utf8");
}

/** All that is taken from a delivery. */
function jobIdOf(body: string): string | undefined {
  try {
    const { id } = JSON.parse(body) as { id?: unknown };
    return typeof id === "string" && id !== "" ? id : undefined;
  } catch {
    return undefined;
  }
}

function notConfirmed({ id, status }: Job, endpointId: string): WebhookNotConfirmedError {
  const message = `a webhook says that job ${id} at endpoint ${endpointId} has ended, but it is ${status}`;
  return new WebhookNotConfirmedError(`${message}. Somebody may have made it up; wait for the job if it is yours`, {
    id,
    status,
  });
}
