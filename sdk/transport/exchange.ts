import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Attempt } from "./retryingCall";

/** The largest response that is read, in bytes: several times the largest that the contract knows. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** How fast the slowest line is that a request is sent over, in bytes per millisecond (half a megabit per second). */
const SLOWEST_UPLOAD = 64;

type Headers = Dispatcher.ResponseData["headers"];

/** A response whose body has come. */
export interface CompleteResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** A response whose body is still to be read. */
export interface BegunResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readable;
}

/** Thrown when there is no complete response. */
export class BrokenExchange extends Error {
  /**
   * @param sent whether undici had begun to send the request. Nothing else tells that: after a connection was made, the
   * system reports an unreachable host, for instance, with the same code as before
   */
  constructor(
    override readonly cause: unknown,
    readonly sent: boolean,
  ) {
    super("there is no complete response");
  }
}

/** What `cause` is when a response is larger than any that the client reads. */
export class TooLarge extends Error {
  constructor() {
    super(`the response is larger than ${MAX_RESPONSE_BYTES / 1024 / 1024} MB`);
  }
}

/** Adds chunks up, as long as a response may be so large. */
export class Chunks {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** @throws TooLarge */
  add(chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length > MAX_RESPONSE_BYTES) throw new TooLarge();
    this.#chunks.push(chunk);
  }

  whole(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/**
 * Sends one request. With `streams`, a good response is handed over when it begins, any other when it is complete. It
 * does without the stream that undici's `request` makes of every body, which is a quarter of a short request's time.
 * @throws BrokenExchange
 */
export function exchange(
  agent: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { signal, progress, goesOn }: Attempt,
  streams: boolean,
): Promise<CompleteResponse | BegunResponse> {
  return new Promise((resolve, reject) => {
    const chunks = new Chunks();
    let status = 0;
    let headers: Headers = {};
    let stream: Readable | undefined;
    let endOfStream = () => {};
    let running: Dispatcher.DispatchController | undefined;
    const fail = (cause: unknown) => reject(new BrokenExchange(cause, running !== undefined));
    // Also while there is no connection yet, and nothing that could be ended.
    signal.once("abort", () => {
      running?.abort(signal.reason as Error);
      fail(signal.reason);
    });
    agent.dispatch(options, {
      onRequestStart(controller) {
        // Who was told that nothing was sent can rely on it.
        if (signal.aborted) return controller.abort(signal.reason as Error);
        running = controller;
        progress(uploadMs(options.body));
      },
      onResponseStart(controller, statusCode, received) {
        progress();
        // An interim response: the response itself is still to come.
        if (statusCode < 200) return;
        status = statusCode;
        headers = received;
        if (!streams || status >= 300) return;
        stream = readableOf(controller);
        endOfStream = goesOn?.() ?? endOfStream;
        resolve({ status, headers, body: stream });
      },
      onResponseData(controller, chunk) {
        progress();
        if (!stream) chunks.add(chunk);
        else if (!stream.push(chunk)) controller.pause();
      },
      onResponseEnd() {
        endOfStream();
        if (stream) stream.push(null);
        else resolve({ status, headers, body: chunks.whole() });
      },
      onResponseError(_controller, error) {
        fail(error);
        endOfStream();
        stream?.destroy(error);
      },
    });
  });
}

/** How long the upload of a body may take: nothing tells how much of it has left this machine. */
function uploadMs(body: Dispatcher.DispatchOptions["body"]): number {
  return typeof body === "string" ? Math.floor(Buffer.byteLength(body) / SLOWEST_UPLOAD) : 0;
}

function readableOf(controller: Dispatcher.DispatchController): Readable {
  const stream = new Readable({
    read: () => controller.resume(),
    destroy(error, callback) {
      controller.abort(error ?? new Error("the response was not wanted any more"));
      callback(error);
    },
  });
  // Whoever reads it is told; without a reader it must not end the program.
  return stream.on("error", () => {});
}
