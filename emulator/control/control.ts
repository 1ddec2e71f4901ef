import { randomBytes } from "node:crypto";
import { z } from "zod";
import { TOO_DEEP } from "../io/depth";
import { decodeSegment, type HttpRequest, type HttpResponse, INTERFACES, json, type Refusal } from "../io/http";
import { oneOf, readQuery, wholeNumber } from "../io/query";
import { validate } from "../io/validate";
import { BusinessError } from "../model/businessError";
import { fidelity } from "../model/fidelity";
import { createPage } from "../page/page";
import type { PageOptions } from "../page/pageOptions";
import { type PodSeed, podSeedSchema } from "../pods/podRecord";
import type { Kind } from "../records/kind";
import type { Account, Seed } from "../server/account";
import { assertOperation } from "../server/faultMatch";
import type { FaultRule } from "../server/faultRule";
import { CONTROL_PATH, type Control } from "../server/handleRequest";
import type { Journal, JournalFilter, WorkerLineFilter } from "../server/journal";
import type { Operations } from "../server/routes";
import { type EmulatorClock, isManual, type ManualClock } from "../time/virtualClock";
import { accessRefusal } from "./access";
import { jobRoutes } from "./jobRoutes";
import type { ControlRoute } from "./route";

/** The parts of the emulator that the control API reads and changes. */
interface Controlled extends Omit<PageOptions, "token"> {
  readonly account: Account;
  readonly journal: Journal;
  /** The operations that a request can name. */
  readonly operations: Operations;
  readonly reset: () => void;
}

/**
 * A hundred years, in milliseconds. Running the timers of a much longer time would keep the
 * emulator busy for minutes.
 */
const MAX_ADVANCE_MS = 3_155_760_000_000;

type AnyKind = Kind<unknown, Record<string, unknown>, unknown>;

function routesOfKind(name: string, { control }: AnyKind): Record<string, ControlRoute> {
  return {
    [`GET ${name}`]: () => control.list(),
    [`POST ${name}`]: ({ body }) => control.create(body),
    [`GET ${name}/:id`]: ({ id }) => control.get(id) ?? false,
    [`PATCH ${name}/:id`]: ({ id, body }) =>
      control.get(id) ? control.change(id, body as Record<string, unknown>) : false,
    [`DELETE ${name}/:id`]: ({ id }) => control.delete(id) && undefined,
  };
}

function routesOf({ account, journal, tail, operations, faults, clock, reset }: Controlled) {
  const routes: Readonly<Record<string, ControlRoute>> = {
    ...jobRoutes(account.endpoints),
    "GET journal": ({ query }) => {
      const filter = filterOf(query);
      const requests = journal.requests(filter);
      // A client may have sent an operation that does not exist.
      if (filter.operation !== undefined && requests.length === 0)
        assertOperation(filter.operation, Object.values(operations).flat());
      return requests;
    },
    "GET journal/:id": ({ id }) => tail.exchange(Number(id)) ?? false,
    "DELETE journal": () => journal.clear(),
    "GET worker-output": ({ query }) => journal.workerOutput(filterOfLines(query)),
    "GET faults": () => faults.list(),
    "POST faults": ({ body }) => faults.add(body as FaultRule),
    "DELETE faults": () => faults.clear(),
    "DELETE faults/:id": ({ id }) => faults.remove(Number(id)) && undefined,
    ...Object.assign(
      {},
      ...Object.entries(account.kinds).map(([name, kind]) => routesOfKind(name, kind as unknown as AnyKind)),
    ),
    "GET pods": () => account.pods.list(),
    "POST pods": ({ body }) => account.pods.add(validate(podSeedSchema, body, "The pod") as PodSeed),
    "DELETE pods/:id": ({ id }) => account.pods.remove(id) && undefined,
    "POST seed": ({ body }) => account.seed(body as Seed),
    "POST quota": ({ body }) => {
      const { workers } = validate(z.strictObject({ workers: z.number().min(0).nullable() }), body, "The quota");
      return account.setLimits({ workerQuota: workers ?? undefined });
    },
    "POST spend-limit": ({ body }) => {
      const { dollars } = validate(z.strictObject({ dollars: z.number().min(0).nullable() }), body, "The spend limit");
      return account.setLimits({ spendLimit: dollars ?? undefined });
    },
    "POST reset": () => reset(),
    "GET clock": () => ({ now: clock.now(), manual: isManual(clock) }),
    "POST clock/advance": async ({ body }) => {
      const { ms } = validate(z.strictObject({ ms: z.number().min(0).max(MAX_ADVANCE_MS) }), body, "The request");
      await manual(clock).advance(ms);
      return { now: clock.now() };
    },
    "POST clock/run-until-idle": async () => {
      await manual(clock).runUntilIdle();
      return { now: clock.now() };
    },
    "GET fidelity": () => fidelity,
  };
  return routes;
}

/**
 * The routes that accept query parameters. All others reject them, so that an unknown filter is
 * never ignored.
 */
const READS_QUERY: ReadonlySet<string> = new Set(["GET jobs", "GET workers", "GET journal", "GET worker-output"]);

/**
 * Creates the control API below `/_emulator/`, for tests and tools in other processes, and the web
 * page.
 */
export function createControl(controlled: Controlled, { apiKey, host }: { apiKey: string; host: string }): Control {
  const routes = routesOf(controlled);
  const token = randomBytes(16).toString("hex");
  const page = createPage({ ...controlled, token });

  return async function control(request, connection) {
    const refusal = accessRefusal(request, connection.remoteAddress, { apiKey, token, host });
    if (refusal) return refused(refusal);
    if (connection.dropped === "large") return json(413, { error: "the request body is too large" });
    if (connection.dropped) return json(400, { error: `the request body ${TOO_DEEP}` });
    try {
      const shown = page(request);
      if (shown) return shown;
      const [pattern, id] = patternOf(request);
      const route = routes[pattern];
      if (!route) return json(404, { error: `there is no ${request.method} ${request.path}` });
      if (!READS_QUERY.has(pattern)) readQuery(request.query, []);
      const result = await route({ id, query: request.query, body: readBody(request) });
      if (result === false) return json(404, { error: `there is no "${id}"` });
      return result === undefined ? { status: 204, headers: {}, body: "" } : withNewline(json(200, result));
    } catch (error) {
      if (isInvalidRequest(error)) return json(400, { error: error.message });
      throw error;
    }
  };
}

/** A browser on another machine prompts for the key as the password when it opens the page. */
function refused({ status, reason }: Refusal): HttpResponse {
  const response = json(status, { error: reason });
  if (status === 403) return response;
  return { ...response, headers: { ...response.headers, "www-authenticate": 'Basic realm="the key is the password"' } };
}

/** Returns the key of a request's route, such as `POST jobs/:id/cancel`, and the id in its path. */
function patternOf({ method, path }: HttpRequest): [pattern: string, id: string] {
  const [first, second, ...rest] = path
    .slice(CONTROL_PATH.length + 1)
    .split("/")
    .map(decodeSegment);
  if (second === undefined) return [`${method} ${first}`, ""];
  if (first === "clock") return [[`${method} ${first}`, second, ...rest].join("/"), ""];
  return [[`${method} ${first}`, ":id", ...rest].join("/"), second];
}

function readBody({ body }: HttpRequest): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new TypeError("The body is not valid JSON.");
  }
}

function isInvalidRequest(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError || error instanceof BusinessError;
}

function filterOf(query: URLSearchParams): JournalFilter {
  const given = readQuery(query, ["interface", "operation", "endpointId", "outcome", "status"]);
  return {
    operation: given.operation,
    endpointId: given.endpointId,
    interface: oneOf("interface", given.interface, INTERFACES),
    outcome: oneOf("outcome", given.outcome, ["pending", "ok", "error", "cut"]),
    status: given.status === undefined ? undefined : wholeNumber("status", given.status, 599, 0),
  };
}

function filterOfLines(query: URLSearchParams): WorkerLineFilter {
  const given = readQuery(query, ["endpointId", "workerId", "stream"]);
  return { ...given, stream: oneOf("stream", given.stream, ["stdout", "stderr", "emulator"]) };
}

function manual(clock: EmulatorClock): ManualClock {
  if (isManual(clock)) return clock;
  throw new RangeError("The clock of this emulator cannot be moved. Start the emulator with a manual clock.");
}

/** Appends a newline, because people read these responses in terminals. */
function withNewline(response: HttpResponse): HttpResponse {
  return { ...response, body: `${response.body}\n` };
}
