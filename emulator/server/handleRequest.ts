import type { Clock } from "../../sdk/contract/clock";
import { type DroppedBody, failure, type HttpRequest, type HttpResponse, json, type Refusal } from "../io/http";
import { reachesService, runWithFault } from "./faultEffects";
import type { NextFault } from "./faultMatch";
import type { OpenJournal } from "./journal";
import type { OpenConnection, RequestHandler } from "./listen";
import { droppedBody, type ReadCall } from "./routes";

/** The path of the control API and the page. The service does not use this path. */
export const CONTROL_PATH = "/_emulator";

export type Control = (request: HttpRequest, connection: OpenConnection) => Promise<HttpResponse>;

interface RequestHandlerOptions {
  /** Returns the error for a request that arrived through a foreign host name. */
  readonly refuse: (request: HttpRequest) => Refusal | undefined;
  readonly read: ReadCall;
  readonly control: Control;
  /** Returns the response to a worker program's request; `undefined` for any other request. */
  readonly workerCalls: (request: HttpRequest, dropped: DroppedBody | undefined) => Promise<HttpResponse> | undefined;
  readonly nextFault: NextFault;
  readonly open: OpenJournal;
  readonly clock: Clock;
  /** Resolves when all changes are saved. */
  readonly saved: () => Promise<void> | undefined;
  /** The number of changes so far. */
  readonly changes: () => number;
}

/** Creates the function that handles a request from arrival to response. */
export function createRequestHandler({
  refuse,
  read,
  control,
  workerCalls,
  nextFault,
  open,
  clock,
  saved: savedAll,
  changes,
}: RequestHandlerOptions): RequestHandler {
  /**
   * Waits until all changes are saved. A request that changed nothing does not fail because of a
   * full disk.
   */
  async function saved(changesBefore: number): Promise<void> {
    const hasChanged = changes() > changesBefore;
    await savedAll()?.catch((error: unknown) => {
      if (hasChanged) throw error;
    });
  }

  return async function handleRequest(request, connection) {
    const changesBefore = changes();
    if (request.path.startsWith(`${CONTROL_PATH}/`)) {
      const response = await control(request, connection);
      await saved(changesBefore);
      return response;
    }
    const refusal = refuse(request);
    if (refusal) return json(refusal.status, { error: refusal.reason, status: refusal.status });
    // The journal and fault rules ignore requests of workers, because workers are part of the
    // service.
    const ofWorker = workerCalls(request, connection.dropped);
    if (ofWorker) {
      const response = await ofWorker;
      await saved(changesBefore);
      return response;
    }
    const call = read(request);
    if (!call && request.method === "GET" && (request.path === "/" || request.path === CONTROL_PATH))
      return { status: 302, headers: { location: `${CONTROL_PATH}/` }, body: "" };
    if (!call) return json(404, { error: "not found", status: 404 }, "server.unknown-path");
    const fault = nextFault(call);
    const entry = open(request, call, fault?.name);
    connection.onCut = entry.end;
    const reaches = !connection.dropped && (!fault || reachesService(fault.effect));
    const leave = reaches ? call.arrive?.() : undefined;
    let response: HttpResponse | undefined;
    try {
      if (connection.dropped) response = droppedBody(call, connection.dropped);
      else if (fault) response = await runWithFault(call, fault.effect, request, connection, clock);
      else response = await call.run({});
      // Save a change before responding, so that a crash cannot undo it.
      await saved(changesBefore);
    } catch (error) {
      response = failure(error);
    } finally {
      leave?.();
    }
    entry.end(response?.resetMidway ? undefined : response);
    return response;
  };
}
