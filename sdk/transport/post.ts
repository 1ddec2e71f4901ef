import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Attempt } from "./call";
import { refuseOtherHosts } from "./rehearsal";

/**
 * The maximum size of a response that the client reads, in bytes. It is several times the largest
 * response in the contract.
 */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/**
 * The slowest upload speed that the client allows for, in bytes per millisecond (half a megabit per
 * second).
 */
const SLOWEST_UPLOAD = 64;

type Headers = Dispatcher.ResponseData["headers"];

/** A response that includes its whole body. */
export interface CompleteResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** A response whose body has not been read yet. */
export interface BegunResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readable;
}

/** Thrown if no complete response arrived. */
export class BrokenExchange extends Error {
  /**
   * @param sent `true` if undici had begun to send the request. Error codes do not show this. For
   * example, a host that becomes unreachable causes the same code whether or not the connection
   * had been made
   */
  constructor(
    override readonly cause: unknown,
    readonly sent: boolean,
  ) {
    super("there is no complete response");
  }
}

/** The `cause` if a response is too large to read. */
export class TooLarge extends Error {
  constructor() {
    super(`the response is larger than ${MAX_RESPONSE_BYTES / 1024 / 1024} MB`);
  }
}

/** Collects the chunks of a response, up to the maximum size. */
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
 * Sends one request. Resolves when the response is complete or, if it is streamed, when it begins.
 * Uses `agent.dispatch` instead of `agent.request`, because only the callbacks of `dispatch` show
 * whether the request was sent and when data arrives. This also saves creating a stream for each
 * body.
 * @param isStreamed whether the body of a response with this status is streamed
 * @throws BrokenExchange, and ConfigurationError if the request would leave a rehearsal
 */
export function post(
  agent: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { signal, progress, onBegin, goesOn }: Attempt,
  isStreamed: (status: number) => boolean,
): Promise<CompleteResponse | BegunResponse> {
  refuseOtherHosts(options.origin);
  let resolve: (response: CompleteResponse | BegunResponse) => void = () => {};
  let reject: (error: BrokenExchange) => void = () => {};
  const response = new Promise<CompleteResponse | BegunResponse>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  const chunks = new Chunks();
  let running: Dispatcher.DispatchController | undefined;
  let head: Pick<CompleteResponse, "status" | "headers"> | undefined;
  let body: Readable | undefined;
  let endOfStream: (() => void) | undefined;
  const fail = (cause: unknown) => reject(new BrokenExchange(cause, running !== undefined));
  // This also works while there is no connection to abort yet.
  signal.once("abort", () => {
    running?.abort(signal.reason as Error);
    fail(signal.reason);
  });
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      // Don't send the request, because the caller has already been told that nothing was sent.
      if (signal.aborted) return controller.abort(signal.reason as Error);
      running = controller;
      onBegin?.();
      progress(uploadMs(options.body));
    },
    onResponseStart(controller, status, headers) {
      progress();
      // An interim response is followed by the actual response.
      if (status < 200) return;
      head = { status, headers };
      if (!isStreamed(status)) return;
      body = readableOf(controller);
      endOfStream = goesOn?.();
      resolve({ ...head, body });
    },
    onResponseData(controller, chunk) {
      progress();
      if (!body) chunks.add(chunk);
      else if (!body.push(chunk)) controller.pause();
    },
    onResponseEnd() {
      endOfStream?.();
      if (body) body.push(null);
      else if (head) resolve({ ...head, body: chunks.whole() });
    },
    onResponseError(_controller, error) {
      fail(error);
      endOfStream?.();
      body?.destroy(error);
    },
  };
  try {
    agent.dispatch(options, handler);
  } catch (error) {
    fail(error);
  }
  return response;
}

/**
 * Returns the time to allow for uploading a body. The time is estimated, because Node does not
 * report upload progress.
 */
function uploadMs(body: Dispatcher.DispatchOptions["body"]): number {
  const isWhole = typeof body === "string" || Buffer.isBuffer(body);
  return isWhole ? Math.floor(Buffer.byteLength(body) / SLOWEST_UPLOAD) : 0;
}

function readableOf(controller: Dispatcher.DispatchController): Readable {
  const stream = new Readable({
    read: () => controller.resume(),
    destroy(error, callback) {
      controller.abort(error ?? new Error("the reader stopped before the end of the response"));
      callback(error);
    },
  });
  // If there is a reader, it receives the error. If there is none, the error must not end the
  // program.
  return stream.on("error", () => {});
}
