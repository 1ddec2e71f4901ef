import { Readable } from "node:stream";
import { LOAD_BALANCER_BODY_MAX_BYTES, LOAD_BALANCER_MS, WORKER_ID_HEADER } from "../../sdk/contract/limits";
import type { HttpResponse } from "../io/http";
import type { EmulatorClock } from "../time/virtualClock";
import * as answers from "./answers";
import { type HttpServer, hasBody, type PassedRequest } from "./httpServer";

/** A request that a worker is processing. */
export interface OpenRequest {
  /** Resolves with the response to send. Never rejects. */
  readonly response: Promise<HttpResponse>;
  /** Breaks the connection to the worker, as if the worker had died. */
  lose(): void;
}

/** Reasons why a connection to a worker ends early. */
const LATE = new Error("the processing time limit was exceeded");
const LOST = new Error("the worker was lost");
const TOO_LARGE = new Error("the request is too large");

/**
 * Forwards a request to a worker.
 * @param client aborts if the client closes its connection
 * @param onEnd called once, when the response is complete or the connection has ended
 */
export function openRequest(
  clock: EmulatorClock,
  server: HttpServer | undefined,
  workerId: string,
  request: PassedRequest,
  client: AbortSignal,
  onEnd: () => void,
): OpenRequest {
  const controller = new AbortController();
  const cancelLimit = clock.schedule(LOAD_BALANCER_MS.processing, () => end(LATE), true);
  const abort = () => end(client.reason);
  let isOver = false;

  function end(reason?: unknown): void {
    if (isOver) return;
    isOver = true;
    cancelLimit();
    client.removeEventListener("abort", abort);
    controller.abort(reason);
    onEnd();
  }

  // Use a microtask, because the caller has not received this call's result yet.
  if (client.aborted) queueMicrotask(abort);
  else client.addEventListener("abort", abort, { once: true });

  async function respond(): Promise<HttpResponse> {
    try {
      if (!server) throw LOST;
      const passed = hasBody(request) ? { ...request, body: limitedBody(request.body, () => end(TOO_LARGE)) } : request;
      const response = await settled(server.respond(passed, controller.signal), controller.signal);
      const headers = { ...response.headers, [WORKER_ID_HEADER]: workerId };
      return { ...response, headers, body: limited(response.body, controller.signal, end) };
    } catch {
      const { reason } = controller.signal;
      end();
      if (reason === TOO_LARGE) return answers.tooLarge();
      return reason === LATE ? answers.processingTimeout() : answers.unreachable();
    }
  }

  return { response: respond(), lose: () => controller.abort(LOST) };
}

/**
 * Returns a request body that fails above the service's size limit, because a chunked body does not
 * declare its size. The rest is discarded, so that the client can read the response.
 */
function limitedBody(body: Readable, onTooLarge: () => void): Readable {
  async function* chunks() {
    let size = 0;
    try {
      for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > LOAD_BALANCER_BODY_MAX_BYTES) {
          onTooLarge();
          throw TOO_LARGE;
        }
        yield chunk;
      }
    } finally {
      body.resume();
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}

/** Stops waiting when the signal aborts. The function itself may keep running. */
function settled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", fail));
  });
}

/** Yields the chunks of a body up to the service's limit, and cuts off the rest. */
async function* limited(
  body: HttpResponse["body"],
  signal: AbortSignal,
  onEnd: () => void,
): AsyncGenerator<string | Uint8Array> {
  const chunks = typeof body === "string" ? [body].values() : body[Symbol.asyncIterator]();
  let size = 0;
  try {
    for (;;) {
      const next = await settled(Promise.resolve(chunks.next()), signal);
      if (next.done) return;
      size += Buffer.byteLength(next.value);
      if (size > LOAD_BALANCER_BODY_MAX_BYTES) throw new Error("the response is too large");
      yield next.value;
    }
  } finally {
    // Don't await this: a hanging worker never settles it.
    void Promise.resolve(chunks.return?.()).catch(() => {});
    onEnd();
  }
}
