import { WORKER_ID_HEADER } from "../contract/limits";
import { type ServerlessGpuError, UnexpectedResponseError } from "../errors/errors";
import { redactBeginning } from "../errors/secretText";
import { errorFromStatus } from "../transport/responseErrors";
import type { StreamedResponse } from "../transport/send";
import {
  NoWorkerError,
  ProcessingTimeoutError,
  WorkerGoneError,
  WorkerTimeoutError,
  WorkerUnreachableError,
} from "./loadBalancerErrors";

/** An error response that contains no worker id. */
interface Unserved {
  readonly status: number;
  readonly headers: StreamedResponse["headers"];
  /** The body, or the beginning of it. */
  readonly body: string;
}

/**
 * A rejection by the service itself. It is recognized by its status and, if an app may use the same
 * status, also by its body.
 */
interface Rule {
  readonly statuses: readonly number[];
  readonly says?: RegExp;
  readonly error: (message: string) => ServerlessGpuError;
  readonly advice: string;
}

const RULES: readonly Rule[] = [
  {
    statuses: [404],
    says: /affinity_worker_gone/,
    error: (message) => new WorkerGoneError(message),
    advice: "The worker no longer exists. Omit the option worker, and continue with the worker that responds",
  },
  {
    statuses: [400],
    says: /worker_timeout/,
    error: (message) => new WorkerTimeoutError(message),
    advice: "The worker was not ready in time. Try again, or omit the option worker",
  },
  {
    statuses: [400, 503],
    says: /timed out waiting for worker|no workers available/i,
    error: (message) => new NoWorkerError(message),
    advice:
      "No worker was ready in time, so nothing was processed: try again. If it continues, look at the workers' logs, " +
      "at what /ping returns, and at workersMax",
  },
  {
    statuses: [502],
    error: (message) => new WorkerUnreachableError(message),
    advice:
      "The service cannot reach the worker's HTTP server: it must listen on the port in PORT, answer /ping on the one " +
      "in PORT_HEALTH, and the template's ports must have both, such as 80/http",
  },
  {
    statuses: [524],
    error: (message) => new ProcessingTimeoutError(message),
    advice: "A worker may take at most 5.5 minutes for one request: use a queue endpoint for longer work",
  },
];

/** Statuses that all calls of the client handle: a wrong key and too many requests. */
const KNOWN_STATUSES: readonly number[] = [401, 429];
const REFUSALS: readonly number[] = [...KNOWN_STATUSES, ...RULES.flatMap(({ statuses }) => statuses)];

/**
 * The maximum length of a body that may be a rejection by the service. A longer body comes from an
 * app.
 */
const LONGEST_REFUSAL = 4096;

/**
 * Returns the response unless the service itself rejected the request. A response that names a
 * worker always comes from the app. For any other response, the status decides and, for a 400, 404
 * or 503, the text of the body as well.
 * @throws the typed error for the rejection
 */
export async function assertServed(
  response: StreamedResponse,
  operation: string,
  now: number,
  onRefusal: (refusal: Unserved) => void,
): Promise<StreamedResponse> {
  const { status, headers } = response;
  if (headers[WORKER_ID_HEADER] !== undefined || !REFUSALS.includes(status)) return response;
  const { beginning, chunks } = await peek(response.chunks);
  const unserved = { status, headers, body: beginning };
  const error = errorOf(unserved, operation, now);
  if (!error) return { ...response, chunks };
  await chunks.return?.();
  onRefusal(unserved);
  throw error;
}

function errorOf(unserved: Unserved, operation: string, now: number): ServerlessGpuError | undefined {
  const { status, body } = unserved;
  if (KNOWN_STATUSES.includes(status)) return errorFromStatus(unserved, operation, now);
  const rule = RULES.find(({ statuses, says }) => statuses.includes(status) && (says?.test(body) ?? true));
  const said = redactBeginning(body, 200) || "no body";
  return rule?.error(`${operation}: the service responded with ${status} (${said}). ${rule.advice}`);
}

/** Reads the beginning of a body. The returned chunks include the part that was read. */
async function peek(chunks: StreamedResponse["chunks"]) {
  const read: Uint8Array[] = [];
  let length = 0;
  while (length <= LONGEST_REFUSAL) {
    const next = await chunks.next();
    if (next.done) break;
    read.push(next.value);
    length += next.value.length;
  }
  const beginning = Buffer.concat(read).toString();
  const again: StreamedResponse["chunks"] = {
    async next() {
      const first = read.shift();
      return first ? { done: false, value: first } : chunks.next();
    },
    async return() {
      read.length = 0;
      return (await chunks.return?.()) ?? { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return again;
    },
  };
  return { beginning, chunks: again };
}

const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/**
 * Returns the response as a web `Response` whose body is read as it arrives.
 * @throws UnexpectedResponseError if the status is not an HTTP status
 */
export async function webResponse(response: StreamedResponse, method: string, operation: string): Promise<Response> {
  const { status, chunks } = response;
  if (status > 599)
    throw new UnexpectedResponseError(`${operation}: ${status} is not an HTTP status. Check the worker program`);
  const hasBody = method !== "HEAD" && !WITHOUT_BODY.includes(status);
  // Reading the response to its end frees the connection.
  if (!hasBody) while (!(await chunks.next()).done);
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const each of [value ?? []].flat()) headers.append(name, each);
  }
  return new Response(hasBody ? streamOf(chunks) : null, { status, headers });
}

/** Reads a chunk only when the reader asks for it. */
function streamOf(chunks: StreamedResponse["chunks"]): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
