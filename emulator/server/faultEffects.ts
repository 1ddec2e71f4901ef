import { STATUS_CODES } from "node:http";
import { type Clock, sleep } from "../../sdk/contract/clock";
import { type Call, type HttpRequest, type HttpResponse, json, text } from "../io/http";
import { EMPTY_LIST } from "../records/history";
import type { FaultEffect } from "./faultRule";
import type { OpenConnection } from "./listen";

const WEB_PAGE = "<!DOCTYPE html><html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>";

/** Runs a call with a fault rule's effect. Resolves with `undefined` if the connection was cut. */
export async function runWithFault(
  call: Call,
  effect: FaultEffect,
  request: HttpRequest,
  connection: OpenConnection,
  clock: Clock,
): Promise<HttpResponse | undefined> {
  if (effect.latencyMs) await sleep(clock, effect.latencyMs, request.signal());
  const run = () => call.run({ listLagMs: effect.emptyLists ? EMPTY_LIST : effect.listLagMs });
  if (effect.truncated) return firstHalf(await run());
  if (effect.reset === "midway") return { ...(await run()), resetMidway: true };
  const replacement = replacementOf(effect, call);
  if (!effect.hang && !effect.reset && !replacement) return run();
  if (effect.when === "after") await run();
  if (effect.reset) connection.reset();
  if (effect.hang) await aborted(request.signal());
  return replacement;
}

/**
 * Returns `false` if a rule prevents the call, so that the request counts towards no rate limit.
 */
export function reachesService(effect: FaultEffect): boolean {
  return effect.when === "after" || !(responderOf(effect) || effect.reset === true);
}

function firstHalf(response: HttpResponse): HttpResponse {
  const { body } = response;
  return typeof body === "string" ? { ...response, body: body.slice(0, body.length / 2) } : response;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Returns the response that a rule sends instead of the operation's own, if any. */
function replacementOf(effect: FaultEffect, call: Call): HttpResponse | undefined {
  const response = responderOf(effect)?.(effect, call);
  if (!response) return undefined;
  const given = Object.entries(effect.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  // A client rejects two lengths.
  const { "content-length": _, ...headers } = { ...response.headers, ...Object.fromEntries(given) };
  return { ...response, headers };
}

type Responder = (effect: FaultEffect, call: Call) => HttpResponse;

/**
 * The responses of the effects that replace the operation's own. The first in this order is sent.
 */
const RESPONDERS: { readonly [Kind in keyof FaultEffect]?: Responder } = {
  html: ({ status }) => text(status ?? 502, WEB_PAGE, "text/html; charset=utf-8"),
  nullAccount: () => json(200, { data: { myself: null } }),
  graphqlError({ graphqlError: { message = "", code = "INTERNAL_SERVER_ERROR" } = {} }, { operation }) {
    const errors = [{ message, path: [operation], extensions: { code } }];
    // `saveEndpoint` is the only mutation with a non-nullable result. A failed deletion looks like
    // a successful one.
    const hasNoData = operation === "saveEndpoint" || operation === "myself";
    return { ...json(200, { errors, data: hasNoData ? null : { [operation]: null } }), error: message };
  },
  status({ status = 200, body }, call) {
    if (typeof body === "string") return text(status, body);
    return json(status, body === undefined ? errorBody(status, call) : body);
  },
};

function responderOf(effect: FaultEffect): Responder | undefined {
  return Object.entries(RESPONDERS).find(([kind]) => effect[kind as keyof FaultEffect])?.[1];
}

function errorBody(status: number, call: Call): unknown {
  const title = STATUS_CODES[status] ?? "Error";
  if (call.interface === "graphql") return { errors: [{ message: title }] };
  if (call.interface === "rest") return { error: title.toLowerCase(), status };
  return { status, title, detail: title.toLowerCase() };
}
