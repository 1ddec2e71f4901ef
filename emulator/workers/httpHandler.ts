/** The functions and data that an HTTP handler can use. Time follows the emulator's clock. */
export interface HttpContext {
  /** The id of the worker. */
  readonly workerId: string;
  /** The worker's image, from its template as of the worker's start. */
  readonly imageName: string;
  /** The environment variables of the worker's template as of the worker's start. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Returns a number in [0, 1). The sequence depends on the emulator's `randomSeed`. */
  random(): number;
}

/**
 * The HTTP server of a load-balancing endpoint's workers, as a function. It must also respond to
 * health checks, `GET /ping`: with 200 if the worker is healthy, or with 204 while it is starting.
 * A worker with any other status receives no requests.
 */
export interface HttpHandler {
  /**
   * Responds to a request. Its path is the path below the endpoint. `request.signal` aborts when
   * nobody is waiting for the response any more.
   */
  fetch(request: Request, context: HttpContext): Response | Promise<Response>;
}

/** Returns `true` for an HTTP handler. */
export function isHttpHandler(value: unknown): value is HttpHandler {
  return typeof value === "object" && value !== null && "fetch" in value && typeof value.fetch === "function";
}

/**
 * The default handler of load-balancing endpoints. It returns the request's method, path and body.
 */
export const httpEcho: HttpHandler = {
  async fetch(request, { workerId }) {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/ping") return new Response(null, { status: 200 });
    return Response.json({ method: request.method, path: pathname + search, body: await request.text(), workerId });
  },
};
