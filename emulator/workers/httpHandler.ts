/** The functions and facts that an HTTP handler can use. Time is that of the emulator's clock. */
export interface HttpContext {
  /** Id of the worker. */
  readonly workerId: string;
  /** The image of the worker, from its template as it was when the worker started. */
  readonly imageName: string;
  /** The environment variables of the worker's template, as they were when the worker started. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns the time in milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Returns a number in [0, 1) that follows from the emulator's `randomSeed`. */
  random(): number;
}

/**
 * The HTTP server of a load-balancing endpoint's workers, as a function. It must also respond to
 * health checks, `GET /ping`: with 200 if the worker is healthy, with 204 while it still starts. A
 * worker with any other status gets no requests.
 */
export interface HttpHandler {
  /**
   * Responds to a request. Its path is the one below the endpoint. `request.signal` aborts when
   * nobody waits for the response any more.
   */
  fetch(request: Request, context: HttpContext): Response | Promise<Response>;
}

/** Returns `true` for an HTTP handler. */
export function isHttpHandler(value: unknown): value is HttpHandler {
  return typeof value === "object" && value !== null && "fetch" in value && typeof value.fetch === "function";
}

/**
 * The default handler of endpoints. It returns the method, the path and the body of a request.
 */
export const httpEcho: HttpHandler = {
  async fetch(request, { workerId }) {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/ping") return new Response(null, { status: 200 });
    return Response.json({ method: request.method, path: pathname + search, body: await request.text(), workerId });
  },
};
