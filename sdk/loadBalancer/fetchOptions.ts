import { Readable } from "node:stream";
import { LOAD_BALANCER_BODY_MAX_BYTES, LOAD_BALANCER_MS, WORKER_ID_HEADER } from "../contract/limits";
import { type InputProblem, InvalidInputError } from "../errors/errors";
import {
  anyValue,
  hasMethod,
  type OptionChecks,
  optionCheck,
  positiveMs,
  REQUEST_OPTIONS,
} from "../transport/callOptions";
import { CONNECTION_HEADERS, headerProblem, type RequestOptions } from "../transport/requestOptions";
import { ID_CHARACTERS, isPathSegment } from "../transport/urls";

/** The worker that a request should reach. */
export interface WorkerChoice {
  /** The id of the worker, as returned by `workerIdOf(response)`. */
  readonly id: string;
  /**
   * What to do if the worker is not available. `preferred`: any other worker may respond. `strict`:
   * the request waits for this worker, up to 5 minutes. `strict-resume`: like `strict`, and the
   * worker is started again if it was scaled down.
   * @default "preferred"
   */
  readonly mode?: "preferred" | "strict" | "strict-resume" | undefined;
}

/** A body that `fetch` can send. */
export type FetchBody =
  | string
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | FormData
  | URLSearchParams
  | AsyncIterable<Uint8Array>;

/** Options for `fetch`. */
export interface FetchOptions extends Omit<RequestOptions, "headers" | "timeoutMs"> {
  /** The HTTP method. @default "GET" */
  readonly method?: string | undefined;
  /**
   * The headers of the request. If they include `authorization`, its value is sent instead of the
   * client's key.
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>> | Headers | Iterable<readonly [string, string]> | undefined;
  /**
   * The body, at most 30 MB. A stream is sent while it is being read, so a request with a stream is
   * never sent again.
   * @default none
   */
  readonly body?: FetchBody | null | undefined;
  /** The worker that the request should reach. @default any */
  readonly worker?: WorkerChoice | undefined;
  /**
   * How long the request may go without data from RunPod, in milliseconds (> 0). While a worker
   * starts, RunPod holds a request for up to 2 minutes, or 5 minutes for a `strict` worker. After
   * that, the worker may take 5.5 minutes to respond.
   * @default 660,000 (11 minutes)
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * The longest times that the service allows, plus some time for the service's own error to arrive.
 */
export const FETCH_TIMEOUT_MS = LOAD_BALANCER_MS.strictHold + LOAD_BALANCER_MS.processing + 30_000;

const MODES = ["preferred", "strict", "strict-resume"];
const FORBIDDEN_METHODS = ["CONNECT", "TRACE", "TRACK"];

export const FETCH_OPTIONS: OptionChecks<FetchOptions> = {
  ...REQUEST_OPTIONS,
  timeoutMs: positiveMs,
  method: optionCheck(
    (value) =>
      typeof value === "string" && /^[A-Za-z]{1,20}$/.test(value) && !FORBIDDEN_METHODS.includes(value.toUpperCase()),
    "must be an HTTP method such as POST",
  ),
  headers: (value) => headersOf(value).problems,
  body: anyValue,
  worker: optionCheck(
    isWorkerChoice,
    `must be { id, mode } with an id of ${ID_CHARACTERS}, and a mode of ${MODES.join(", ")}`,
  ),
};

function isWorkerChoice(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { id, mode, ...others } = value as { id?: unknown; mode?: unknown };
  return (
    isPathSegment(id) && (mode === undefined || MODES.includes(mode as string)) && Object.keys(others).length === 0
  );
}

/** Returns the request's headers by lowercase name, and the problems found in them. */
function headersOf(given: unknown): { headers: Record<string, string>; problems: InputProblem[] } {
  if (typeof given !== "object" || given === null) {
    return { headers: {}, problems: [{ property: "headers", message: "must be an object of names and strings" }] };
  }
  const entries: unknown[] = Symbol.iterator in given ? [...(given as Iterable<unknown>)] : Object.entries(given);
  // Without a prototype, "constructor" and "__proto__" are ordinary names.
  const headers: Record<string, string> = Object.create(null);
  const problems: InputProblem[] = [];
  for (const entry of entries) {
    const [name, value]: unknown[] = Array.isArray(entry) ? entry : [];
    const message = headerProblem(String(name), value, CONNECTION_HEADERS);
    if (message !== undefined) problems.push({ property: `headers.${JSON.stringify(name)}`, message });
    const key = String(name).toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : String(value);
  }
  return { headers, problems };
}

/** The parts of a request that depend on its options. */
interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | Readable | undefined;
}

/**
 * Returns the request for options that were already checked.
 * @param authorization the header that contains the client's key
 * @throws InvalidInputError if the body is too large or of an unknown kind
 */
export async function fetchRequest(options: FetchOptions, authorization: string): Promise<FetchRequest> {
  const { worker } = options;
  const { headers } = headersOf(options.headers ?? {});
  const { body, contentType } = await bodyOf(options.body);
  return {
    method: (options.method ?? "GET").toUpperCase(),
    body,
    headers: {
      accept: "*/*",
      authorization,
      ...(contentType !== undefined && { "content-type": contentType }),
      ...headers,
      ...(worker && { [WORKER_ID_HEADER]: affinity(worker) }),
    },
  };
}

function affinity({ id, mode = "preferred" }: WorkerChoice): string {
  return mode === "preferred" ? id : `${mode} ${id}`;
}

interface Body {
  readonly body?: FetchRequest["body"];
  readonly contentType?: string | undefined;
}

async function bodyOf(given: unknown): Promise<Body> {
  if (given === undefined || given === null) return {};
  if (typeof given === "string") {
    assertSize(Buffer.byteLength(given));
    return { body: given, contentType: "text/plain;charset=UTF-8" };
  }
  if (given instanceof Blob) assertSize(given.size);
  if (given instanceof Blob || given instanceof FormData || given instanceof URLSearchParams) {
    const encoded = new Response(given);
    const body = Buffer.from(await encoded.arrayBuffer());
    assertSize(body.length);
    return { body, contentType: encoded.headers.get("content-type") ?? undefined };
  }
  const bytes = bytesOf(given);
  if (bytes) {
    assertSize(bytes.length);
    return { body: bytes };
  }
  if (typeof given === "object" && (Symbol.asyncIterator in given || hasMethod(given, "getReader"))) {
    refuseUsedStream(given);
    return { body: Readable.from(given as AsyncIterable<Uint8Array>, { objectMode: false }) };
  }
  throw refused(
    "must be a string, bytes, a Blob, FormData, URLSearchParams or a stream: write JSON with JSON.stringify",
  );
}

/** @throws InvalidInputError if something else is reading the stream, or has already read it */
function refuseUsedStream(given: object): void {
  const { locked, destroyed, readableEnded } = given as Partial<ReadableStream & Readable>;
  if (locked) throw refused("must not be locked: another reader has this stream. Release it, or pass its data");
  if (destroyed || readableEnded) throw refused("must be a stream that was not read or destroyed before");
}

/**
 * Returns the bytes of binary data, or `undefined` for anything else. Type tags are compared
 * because, under Jest, Node's own buffers come from a different realm.
 */
function bytesOf(given: unknown): Buffer | undefined {
  if (ArrayBuffer.isView(given)) return Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const isBuffer = Object.prototype.toString.call(given) === "[object ArrayBuffer]";
  return isBuffer ? Buffer.from(given as ArrayBuffer) : undefined;
}

function assertSize(bytes: number): void {
  if (bytes <= LOAD_BALANCER_BODY_MAX_BYTES) return;
  throw refused(
    `has ${bytes} bytes, and a load-balancing endpoint accepts at most ${LOAD_BALANCER_BODY_MAX_BYTES}: ` +
      "pass large data by a URL or a network volume",
  );
}

function refused(message: string): InvalidInputError {
  return new InvalidInputError("the request", [{ property: "body", message }]);
}
