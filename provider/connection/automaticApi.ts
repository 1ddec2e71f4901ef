import type * as pulumi from "@pulumi/pulumi";
import { type GraphqlState, howItEnded, mayMeanEnd } from "../../sdk/connection/endSigns";
import { requireAddress } from "../../sdk/connection/settings";
import { ConfigurationError } from "../../sdk/errors/errors";
import type { AnyHandler } from "../engine/errors";
import { log } from "../engine/log";
import { CONFIG_NAMESPACE, clientOptions, type ProviderSettings, providerSettings, type ReadConfig } from "./config";
import { readConfig } from "./connection";
import { decideApi, decidedApi, hasSwitched } from "./decidedApi";

/** The service's answer about GraphQL. A run asks only once. */
let asking: Promise<GraphqlState> | undefined;

/**
 * The endpoints that REST v2 lists, and those that this run has created, if the switch is based on
 * them. @default the service has said that GraphQL is gone
 */
let listed: Set<string> | undefined;

/**
 * Returns handlers that use GraphQL while the service serves it, and REST v2 once it is gone,
 * unless a setting selects one of them. The run decides before its first write: a handler that has
 * failed because GraphQL may be gone has written nothing, and is called again over REST v2.
 * @param isEndpoint `true` if the handlers' ids are those of endpoints
 */
export function overAutomaticApi(
  handlers: pulumi.dynamic.ResourceProvider,
  isEndpoint: boolean,
): Required<pulumi.dynamic.ResourceProvider> {
  const { check, ...others } = handlers;
  const wrapped = Object.entries<AnyHandler | undefined>(others).map(([method, handler]) => [
    method,
    handler && method !== "configure" ? automatic(method, handler, isEndpoint) : handler,
  ]);
  return { ...(check && { check }), ...Object.fromEntries(wrapped) } as Required<pulumi.dynamic.ResourceProvider>;
}

/**
 * Runs a read over the API of this run, as `overAutomaticApi` does.
 * @param id the endpoint of state that is read, if any
 */
export async function readOverAutomaticApi<T>(read: () => PromiseLike<T>, config: ReadConfig, id?: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!mayMeanEnd(error) || decidedApi() !== undefined || providerSettings(config).api) throw error;
    if (!(await switches(id, config))) throw error;
    return await read();
  }
}

function automatic(method: string, handler: AnyHandler, isEndpoint: boolean): AnyHandler {
  return async (...args: never[]) => {
    const id = isEndpoint && method !== "create" ? String(args[0]) : undefined;
    if (hasSwitched()) return overV2(method, handler, args, id);
    try {
      return await handler(...args);
    } catch (error) {
      if (!mayMeanEnd(error) || decidedApi() === "graphql" || isApiSet()) throw error;
      if (!hasSwitched() && !(await switches(id, readConfig))) throw error;
      return overV2(method, handler, args, id);
    }
  };
}

async function overV2(method: string, handler: AnyHandler, args: never[], id: string | undefined): Promise<unknown> {
  if (id !== undefined && listed && !listed.has(id)) throw notListed(id);
  const result = await handler(...args);
  if (method === "create" && listed) listed.add(String((result as pulumi.dynamic.CreateResult).id));
  return result;
}

/** Returns `true` if a setting selects the API. */
function isApiSet(): boolean {
  return decidedApi() === undefined && Boolean(providerSettings(readConfig).api);
}

/**
 * Returns `true` if the run now uses REST v2.
 * @throws ConfigurationError if GraphQL seems to be gone, but REST v2 does not show this endpoint
 */
async function switches(id: string | undefined, config: ReadConfig): Promise<boolean> {
  const settings = providerSettings(config);
  asking ??= askService(settings);
  const state = await asking;
  // Another handler may have chosen the API in the meantime.
  if (hasSwitched()) return true;
  if (state.is === "served" || decidedApi() === "graphql") return false;
  if (state.is === "missing") {
    if (id === undefined || !state.endpointIds.has(id)) throw notListed(id, state.status);
    listed = new Set(state.endpointIds);
  }
  decideApi("v2");
  log(
    CONFIG_NAMESPACE,
    `uses REST v2 in this run, because ${requireAddress(settings, "graphqlUrl")} no longer serves GraphQL ` +
      `(${howItEnded(state.status)}). REST v2 accepts 60 requests a minute, not 180. To keep to REST v2, run: ` +
      `pulumi config set ${CONFIG_NAMESPACE}:api v2`,
  );
  return true;
}

function askService(settings: ProviderSettings): Promise<GraphqlState> {
  // Loaded lazily, because programs without data sources don't need it.
  const { graphqlState }: typeof import("../../sdk/client/endOfGraphql") = require("../../sdk/client/endOfGraphql");
  return graphqlState(clientOptions(settings));
}

function notListed(id: string | undefined, status?: number): ConfigurationError {
  const sign = status === undefined ? "no longer serves GraphQL" : `answers GraphQL with ${howItEnded(status)}`;
  const doubt =
    id === undefined
      ? "this run has read no endpoint yet that REST v2 lists"
      : `REST v2 does not list the endpoint ${id}`;
  return new ConfigurationError(
    `the service ${sign}, but ${doubt}, so it is not certain that REST v2 shows the same account. Nothing was ` +
      `changed. Check the URL. If the service has ended GraphQL, run: pulumi config set ${CONFIG_NAMESPACE}:api v2`,
  );
}
