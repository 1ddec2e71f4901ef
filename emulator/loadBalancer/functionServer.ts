import { Readable } from "node:stream";
import { sleep } from "../../sdk/contract/clock";
import type { HttpResponse } from "../io/http";
import { messageOf } from "../io/messageOf";
import type { RuntimeContext } from "../workers/context";
import type { HttpContext, HttpHandler } from "../workers/httpHandler";
import type { WorkerPod } from "../workers/worker";
import {
  HEALTH_PATH,
  type HttpServer,
  hasBody,
  type PassedRequest,
  requestHeaders,
  responseHeaders,
} from "./httpServer";

/** The host in the URLs that a handler receives. */
const ORIGIN = "http://localhost";

/**
 * Returns the HTTP server of a worker without a process. It looks up the handler for each request.
 */
export function functionServer(
  handlerOf: () => HttpHandler,
  pod: WorkerPod,
  { clock, random, environments }: RuntimeContext,
): HttpServer {
  const context: HttpContext = {
    workerId: pod.id,
    imageName: pod.container.imageName,
    // Secrets are filled in when the container starts.
    get env() {
      return environments.of(pod);
    },
    now: () => clock.now(),
    sleep: (ms) => sleep(clock, ms),
    random,
  };

  return {
    async respond(request, signal) {
      try {
        return await responseOf(checked(await handlerOf().fetch(webRequest(request, signal), context)));
      } catch (error) {
        if (signal.aborted) throw error;
        // Respond like a server whose code throws.
        const headers = { "content-type": "text/plain; charset=utf-8" };
        return { status: 500, headers, body: `Internal Server Error: ${messageOf(error)}\n` };
      }
    },
    async ping(signal) {
      const path = context.env.HEALTH_CHECK_PATH ?? HEALTH_PATH;
      const { status, body } = checked(await handlerOf().fetch(new Request(ORIGIN + path, { signal }), context));
      await body?.cancel();
      return status;
    },
  };
}

function webRequest(request: PassedRequest, signal: AbortSignal): Request {
  const headers = Object.entries(requestHeaders(request.headers)).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  const { method, target, body } = request;
  const takesBody = hasBody(request) && method !== "GET" && method !== "HEAD";
  const stream = takesBody ? (Readable.toWeb(body) as ReadableStream<Uint8Array>) : null;
  // Browser types don't include `duplex`, which Node.js requires for streams.
  const init = { method, headers, body: stream, duplex: "half", signal } as const;
  return new Request(ORIGIN + target, init);
}

/**
 * Validates a handler's return value, which may be a library's `Response`.
 * @throws TypeError if it cannot be sent
 */
function checked(returned: Response): Response {
  const { status, headers }: Partial<Response> = returned ?? {};
  const isStatus = status !== undefined && status >= 200 && status <= 599;
  if (isStatus && typeof headers?.getSetCookie === "function") return returned;
  throw new TypeError("the handler must return a Response, with a status from 200 to 599");
}

function responseOf({ status, headers, body }: Response): HttpResponse {
  const all: Record<string, string | string[]> = responseHeaders(Object.fromEntries(headers));
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) all["set-cookie"] = cookies;
  return { status, headers: all, body: body ?? noChunks() };
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}
