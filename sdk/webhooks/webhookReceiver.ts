import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { systemClock } from "../contract/clock";
import { SecretText } from "../errors/secretText";
import { WebhookNotConfirmedError } from "../jobs/jobErrors";
import { isRetryable, isTerminal, type Job } from "../jobs/jobRecord";
import { createJobRecorder } from "../recording/jobRecorder";
import { aFunction, checkCallOptions, type OptionChecks, optionCheck } from "../transport/callOptions";
import { callUser } from "../transport/observers";
import { isPathSegment } from "../transport/urls";
import { createSenders } from "./webhookBody";
import { createWebhookLine } from "./webhookLine";

/** The part of an endpoint's queue that confirms deliveries. */
export interface ConfirmingQueue {
  /** The id of the endpoint that runs the jobs. */
  readonly endpointId: string;
  /** Reads a job. */
  status(jobId: string): Promise<Job>;
}

/** The information in the URL of a delivery. */
export interface WebhookDelivery {
  /**
   * The query parameter `key` of the webhook's URL, which is the key of a batch's input. It may be
   * forged: anyone who knows the token can send a different key.
   */
  readonly key: string | undefined;
}

/** Options of a webhook receiver. */
export interface WebhookReceiverOptions {
  /** The queue of the endpoint whose jobs name this receiver in `webhook`. */
  readonly endpoint: ConfirmingQueue;
  /**
   * Called each time a job ends, with the job from `/status`, before the response to the delivery
   * is sent. Only store the job here, and do long work later. If the function fails, the service
   * delivers the webhook again, and `onJob` is called again. `onJob` may also be called twice for
   * the same end of a job: after a restart, after 10,000 other ends, or if the service does not
   * report the times of a failed job.
   */
  readonly onJob: (job: Job, delivery: WebhookDelivery) => unknown;
  /**
   * Called when a delivery could not be confirmed, or when `onJob` failed. The service then
   * delivers the webhook again, at most twice. If `onJob` is still not called, read the job
   * yourself. A `NotFoundError` or a `WebhookNotConfirmedError` may mean that the delivery was
   * forged.
   */
  readonly onError: (error: unknown, jobId: string) => unknown;
  /**
   * A secret of at least 16 characters that only the service receives, as `token` in the URL's
   * query: `webhook: "https://example.com/hook?token=…"`. Deliveries without the token get the
   * response 401 and are ignored. Set a token whenever strangers can reach the receiver. Without a
   * token, strangers can keep the receiver so busy that it rejects deliveries of the service.
   * @default none: every delivery is confirmed. All confirmations together, including those of
   * forged deliveries, use at most a quarter of the limit of `/status`
   */
  readonly token?: string | undefined;
  /**
   * The folder in which to record jobs that have ended, one line per job, with status, delay and
   * run time but without input and output. Any number of processes may share the folder, including
   * `serverless-gpu metrics --record`. If the folder cannot be written to, `onError` is called once
   * with an empty job id, and jobs are not affected.
   * @default none
   */
  readonly record?: string | undefined;
}

/** Receives the service's webhook calls, and confirms them with `/status`. */
export interface WebhookReceiver {
  /**
   * Handles a request, as a handler for `http.createServer(receiver.node)` or for a route in a
   * server that has not read the body.
   */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Handles a request, for servers whose handlers take a `Request` and return a `Response`. */
  fetch(request: Request): Promise<Response>;
  /**
   * Resolves when all deliveries received so far are handled. Await this before the process ends.
   */
  idle(): Promise<void>;
}

/**
 * The maximum number of deliveries that are read or confirmed at the same time. When it is reached,
 * a new delivery takes the place of the slowest sender, or is rejected. The service delivers a
 * rejected webhook again.
 */
const MAX_UNDER_WAY = 500;

/** The number of job ends that are remembered in order to detect duplicates. */
const REMEMBERED = 10_000;

const SHORTEST_TOKEN = 16;

const RECEIVER_OPTIONS: OptionChecks<WebhookReceiverOptions> = {
  endpoint: optionCheck(
    (value) => typeof value === "object" && value !== null && "status" in value && typeof value.status === "function",
    'must be the queue of an endpoint, such as client.endpoint("id")',
  ),
  onJob: aFunction,
  onError: aFunction,
  token: optionCheck(
    (value) => typeof value === "string" && value.length >= SHORTEST_TOKEN,
    `must have at least ${SHORTEST_TOKEN} characters`,
  ),
  record: optionCheck((value) => typeof value === "string" && value !== "", "must be the path of a folder"),
};

/**
 * Creates a receiver for the webhooks of one endpoint. Deliveries have no signature, so anyone can
 * send one. The receiver therefore reads the job with `/status` and passes it to `onJob`. Only then
 * does it respond with 200. After a failure, the response is 503, so that the service delivers the
 * webhook again. Duplicates are dropped (contract, Events).
 * @throws InvalidInputError if an option is missing or invalid, or the token is too short
 * @example
 * const receiver = createWebhookReceiver({
 *   endpoint: client.endpoint("abc"),
 *   token: process.env.WEBHOOK_TOKEN,
 *   onJob: (job) => save(job.id, job.status, job.output),
 *   onError: (error, jobId) => console.error(jobId, error),
 * });
 * http.createServer(receiver.node).listen(8080);
 */
export function createWebhookReceiver(options: WebhookReceiverOptions): WebhookReceiver {
  const { endpoint = null, onJob = null, onError = null } = options ?? {};
  checkCallOptions<object>({ ...options, endpoint, onJob, onError }, RECEIVER_OPTIONS, "the webhook receiver");
  const isAllowed = tokenCheck(options.token);
  const confirmed = createWebhookLine(systemClock, options.token === undefined ? 1 / 4 : 3 / 4);
  const senders = createSenders();
  const reading = new Set<Promise<number>>();
  const confirming = new Map<string, Promise<number>>();
  const delivered = createMemory(REMEMBERED);
  const recordEnd =
    options.record === undefined
      ? undefined
      : createJobRecorder(options.record, "webhook", systemClock.now, (error) =>
          callUser(() => options.onError(error, "")),
        );

  async function confirm(jobId: string, delivery: WebhookDelivery): Promise<number> {
    try {
      const job = await confirmed(jobId, () => options.endpoint.status(jobId));
      if (!isTerminal(job.status)) throw notConfirmed(job, options.endpoint.endpointId);
      const end = endOf(job);
      if (end !== undefined && delivered.has(end)) return 200;
      await options.onJob(job, delivery);
      if (end !== undefined) delivered.add(end);
      recordEnd?.({ endpointId: options.endpoint.endpointId, job });
      return 200;
    } catch (error) {
      callUser(() => options.onError(error, jobId));
      return 503;
    } finally {
      confirming.delete(jobId);
    }
  }

  /** Handles a delivery. Returns the status of the response. */
  async function handle(body: AsyncIterator<Uint8Array>, delivery: WebhookDelivery): Promise<number> {
    const { jobId, status } = await senders.read(body);
    if (status !== undefined) return status;
    if (!isPathSegment(jobId)) return 400;
    const confirmation = confirming.get(jobId) ?? confirm(jobId, delivery);
    confirming.set(jobId, confirmation);
    return confirmation;
  }

  async function receive(
    method: string | undefined,
    url: string | undefined,
    body: () => AsyncIterator<Uint8Array>,
  ): Promise<number> {
    if (method !== "POST") return 405;
    if (!isAllowed(url)) return 401;
    if (reading.size >= MAX_UNDER_WAY && !senders.endSlowest()) return 503;
    const handling = handle(body(), { key: parameter(url, "key") ?? undefined });
    reading.add(handling);
    try {
      return await handling;
    } finally {
      reading.delete(handling);
    }
  }

  return {
    async node(request, response) {
      const status = await receive(request.method, request.url, () => request[Symbol.asyncIterator]());
      // Close the connection, because Node would otherwise read the rest of the body.
      const headers = { "content-length": 0, ...(status !== 200 && { connection: "close" }) };
      response.writeHead(status, headers).end();
    },
    async fetch(request) {
      const body = chunksOf(request.body);
      const status = await receive(request.method, request.url, () => body);
      if (status !== 200) body.return(undefined).catch(() => {});
      return new Response(null, { status });
    },
    async idle() {
      while (reading.size > 0) await Promise.all(reading);
    },
  };
}

async function* chunksOf(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body) yield* body;
}

/** Returns a function that checks the token in constant time, regardless of its length. */
function tokenCheck(token: string | undefined): (url: string | undefined) => boolean {
  if (token === undefined) return () => true;
  // From now on, the token is redacted everywhere.
  new SecretText(token);
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (url) => timingSafeEqual(digest(parameter(url, "token") ?? ""), expected);
}

/** Returns a parameter of a URL's query. */
function parameter(url = "", name: string): string | null {
  const base = "http://receiver";
  return URL.canParse(url, base) ? new URL(url, base).searchParams.get(name) : null;
}

/**
 * Identifies an end of a job. A job that was retried ends again, and its second end is not a
 * duplicate. Returns `undefined` if the ends cannot be distinguished, because delivering a
 * duplicate is less harmful than missing an end.
 */
function endOf({ id, status, delayTime, executionTime }: Job): string | undefined {
  if (isRetryable(status) && delayTime == null && executionTime == null) return undefined;
  return [id, status, delayTime, executionTime].join(" ");
}

/** Creates a set that keeps only the newest strings. */
function createMemory(size: number) {
  const strings = new Set<string>();
  return {
    has: (text: string) => strings.has(text),
    add(text: string): void {
      strings.add(text);
      const [oldest] = strings;
      if (strings.size > size && oldest !== undefined) strings.delete(oldest);
    },
  };
}

function notConfirmed({ id, status }: Job, endpointId: string): WebhookNotConfirmedError {
  const message = `a webhook says that job ${id} at endpoint ${endpointId} has ended, but it is ${status}`;
  return new WebhookNotConfirmedError(`${message}. The delivery may be forged. If the job is yours, wait for it`, {
    id,
    status,
  });
}
