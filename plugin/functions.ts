import { readOverAutomaticApi } from "../provider/connection/automaticApi";
import { readConfig } from "../provider/connection/connection";
import type { Properties } from "../provider/engine/properties";
import { contextFor, type DataSource } from "../provider/functions/dataSource";
import { SOURCES } from "../provider/functions/sources";
import { FIELDS } from "../sdk/endpoints/fields";
import { TEMPLATE_FIELDS } from "../sdk/templates/template";
import { VOLUME_FIELDS } from "../sdk/volumes/volume";
import { withLists } from "./resources/resource";
import { MODULE } from "./resources/resources";

/** A function of the plugin. */
interface PluginFunction {
  readonly call: (args: Properties) => Promise<Properties>;
  /** The names of results that are secret. */
  readonly secrets?: readonly string[];
}

const TABLES = { ServerlessEndpoint: FIELDS, ServerlessTemplate: TEMPLATE_FIELDS, NetworkVolume: VOLUME_FIELDS };

/**
 * Returns a function that calls a data source and converts its result to an object, with lists
 * instead of comma-separated strings.
 */
function calling<Args>(source: DataSource<Args, unknown>): PluginFunction {
  const { resource, wrapper, secrets } = source;
  const listed = (found: object) => (resource ? withLists(TABLES[resource], { ...found }) : found);
  const call = async (args: Properties) => {
    const found =
      (await readOverAutomaticApi(async () => source.find(contextFor(readConfig), args as Args), readConfig)) ?? {};
    const result = Array.isArray(found) ? found.map(listed) : listed(found);
    // Drops `undefined` fields, which the protocol cannot carry.
    return JSON.parse(JSON.stringify(wrapper ? { [wrapper]: result } : result));
  };
  return { call, ...(secrets && { secrets }) };
}

/** All functions, by token. */
export const FUNCTIONS: ReadonlyMap<string, PluginFunction> = new Map(
  Object.entries(SOURCES).map(([name, source]) => [
    `${MODULE}:${name}`,
    calling(source as DataSource<unknown, unknown>),
  ]),
);
