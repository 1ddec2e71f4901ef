import { z } from "zod";
import { bearerKey } from "../io/auth";
import { decodeSegment, type HttpRequest, type HttpResponse, json, text } from "../io/http";
import { validate } from "../io/validate";
import { BusinessError } from "../model/businessError";
import type { Profile } from "../model/fidelity";
import { fidelity } from "../model/fidelity";
import { type PodSeed, podSeedSchema } from "../pods/podRecord";
import type { Kind } from "../records/kind";
import type { EmulatorClock, ManualClock } from "../time/virtualClock";
import type { Account, Seed } from "./account";
import type { FaultRule, Faults } from "./faults";
import type { Journal, JournalFilter, WorkerLineFilter } from "./journal";
import type { Connection } from "./listen";
import { statusPage } from "./statusPage";

/** The parts of the emulator that the control interface reads and changes. */
export interface Controlled {
  readonly profile: Profile;
  readonly account: Account;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly clock: EmulatorClock;
  readonly reset: () => void;
}

/** The path of the control interface. The service does not use it. */
export const CONTROL_PATH = "/_emulator";

interface ControlRequest {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** Returns the body of the response: `undefined` for none (204), `false` if the thing does not exist (404). */
type ControlRoute = (request: ControlRequest) => unknown;

type AnyKind = Kind<unknown, Record<string, unknown>, unknown>;

function routesOfKind(name: string, { noun, control, seedSchema, patchSchema }: AnyKind): Record<string, ControlRoute> {
  return {
    [`GET ${name}`]: () => control.list(),
    [`POST ${name}`]: ({ body }) => control.create(validate(seedSchema, body, `The ${noun}`)),
    [`GET ${name}/:id`]: ({ id }) => control.get(id) ?? false,
    [`PATCH ${name}/:id`]: ({ id, body }) => {
      const patch = validate(patchSchema, body, "The change");
      return control.get(id) ? control.change(id, patch) : false;
    },
    [`DELETE ${name}/:id`]: ({ id }) => control.delete(id) && undefined,
  };
}

function routesOf({ profile, account, journal, faults, clock, reset }: Controlled) {
  const routes: Readonly<Record<string, ControlRoute>> = {
    "GET journal": ({ query }) => journal.requests(filterOf(query)),
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
      return account.setWorkerQuota(workers ?? undefined);
    },
    "POST reset": () => reset(),
    "GET clock": () => ({ now: clock.now(), manual: isManual(clock) }),
    "POST clock/advance": async ({ body }) => {
      const { ms } = validate(z.strictObject({ ms: z.number().nonnegative() }), body, "The request");
      await manual(clock).advance(ms);
      return { now: clock.now() };
    },
    "POST clock/run-until-idle": async () => {
      await manual(clock).runUntilIdle();
      return { now: clock.now() };
    },
    "GET fidelity": () => fidelity,
  };
  const page = () => statusPage({ profile, now: clock.now(), account, journal, faults });
  return { routes, page };
}

export type Control = (request: HttpRequest, connection: Connection) => Promise<HttpResponse>;

/** Creates the control interface below `/_emulator/`, for tests and tools in other processes, and for browsers. */
export function createControl(controlled: Controlled, apiKey: string): Control {
  const { routes, page } = routesOf(controlled);

  return async function control(request, connection) {
    const refused = controlRefusal(request, connection.remoteAddress, apiKey);
    if (refused) return json(403, { error: refused });
    if (connection.oversized) return json(413, { error: "the request body is too large" });
    const [first = "", second] = request.path
      .slice(CONTROL_PATH.length + 1)
      .split("/")
      .map(decodeSegment);
    if (first === "" && request.method === "GET") return text(200, page(), "text/html; charset=utf-8");
    const { method } = request;
    const exact = second === undefined ? `${method} ${first}` : `${method} ${first}/${second}`;
    const route = routes[exact] ?? (second === undefined ? undefined : routes[`${method} ${first}/:id`]);
    if (!route) return json(404, { error: `there is no ${method} ${request.path}` });
    try {
      const result = await route({ id: second ?? "", query: request.query, body: readBody(request) });
      if (result === false) return json(404, { error: `there is no "${second}"` });
      return result === undefined ? { status: 204, headers: {}, body: "" } : json(200, result);
    } catch (error) {
      if (isInvalidRequest(error)) return json(400, { error: error.message });
      throw error;
    }
  };
}

/** Returns the reason to refuse a control request, if any. Programs on this machine have access, web pages do not. */
export function controlRefusal(
  request: Pick<HttpRequest, "headers">,
  remoteAddress: string,
  apiKey: string,
): string | undefined {
  if (request.headers.origin !== undefined) return "web pages have no access";
  const isLocal = /^(127\.|::1$|::ffff:127\.)/.test(remoteAddress);
  return isLocal || bearerKey(request) === apiKey ? undefined : "from another machine, send the key as a bearer token";
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
  const names = ["interface", "operation", "endpointId", "outcome"] as const;
  const filter = Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]));
  const status = query.get("status");
  return { ...filter, status: status === null ? undefined : Number(status) } as JournalFilter;
}

function filterOfLines(query: URLSearchParams): WorkerLineFilter {
  const names = ["endpointId", "workerId", "stream"] as const;
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined])) as WorkerLineFilter;
}

function isManual(clock: EmulatorClock): clock is ManualClock {
  return "advance" in clock;
}

function manual(clock: EmulatorClock): ManualClock {
  if (isManual(clock)) return clock;
  throw new RangeError("The clock of this emulator cannot be moved. Start the emulator with a manual clock.");
}
