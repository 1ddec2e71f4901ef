import { readConfig } from "../provider/connection/connection";
import { contextFor, type DataSource } from "../provider/functions/dataSource";
import {
  DISCOUNT,
  ENDPOINT,
  ENDPOINTS,
  HEALTH,
  POD,
  REGISTRY_AUTH,
  TEMPLATE,
  TEMPLATE_ENV,
  VOLUME,
} from "../provider/functions/sources";
import type { Properties } from "../provider/properties";
import { FIELDS } from "../sdk/endpoints/fields";
import { TEMPLATE_FIELDS } from "../sdk/templates/fields";
import { withLists } from "./resources/resource";
import { MODULE } from "./resources/resources";

/** A function of the plugin. */
interface PluginFunction {
  readonly call: (args: Properties) => Promise<Properties>;
  /** Names of the results that are secret. */
  readonly secrets?: readonly string[];
}

/** Returns a function that calls a data source, and converts its result to an object with lists. */
function calling<Args, Result>(
  { find }: DataSource<Args, Result>,
  toObject: (result: Result) => object,
): PluginFunction["call"] {
  return async (args) => {
    const result = toObject(await find(contextFor(readConfig), args as Args));
    // Without `undefined`, which the protocol cannot carry.
    return JSON.parse(JSON.stringify(result));
  };
}

/** All functions by their tokens. */
export const FUNCTIONS: ReadonlyMap<string, PluginFunction> = new Map(
  Object.entries({
    getEndpoint: { call: calling(ENDPOINT, (endpoint) => withLists(FIELDS, { ...endpoint })) },
    getEndpoints: {
      call: calling(ENDPOINTS, (all) => ({ endpoints: all.map((each) => withLists(FIELDS, { ...each })) })),
    },
    getEndpointHealth: { call: calling(HEALTH, (health) => health) },
    getServerlessTemplate: { call: calling(TEMPLATE, (template) => withLists(TEMPLATE_FIELDS, { ...template })) },
    getServerlessTemplateEnv: { call: calling(TEMPLATE_ENV, (env) => ({ env })), secrets: ["env"] },
    getNetworkVolume: { call: calling(VOLUME, (volume) => volume) },
    getContainerRegistryAuth: { call: calling(REGISTRY_AUTH, (auth) => auth) },
    getPod: { call: calling(POD, ({ env, ...pod }) => ({ ...pod, env: env ?? {} })), secrets: ["env"] },
    getServerlessDiscount: { call: calling(DISCOUNT, (discount) => discount ?? {}) },
  } satisfies Record<string, PluginFunction>).map(([name, each]) => [`${MODULE}:${name}`, each]),
);
