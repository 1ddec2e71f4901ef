import { currentRehearsal, REHEARSAL_VARIABLES } from "../transport/rehearsal";
import {
  API_VARIABLE,
  type ApiSettings,
  ENVIRONMENT_VARIABLES,
  type ManagementApi,
  managementApi,
  requireAddress,
  serviceName,
} from "./settings";

/** The name of a connection setting. */
export type SettingName = keyof ApiSettings;

const NAMES: readonly SettingName[] = [...(Object.keys(ENVIRONMENT_VARIABLES) as SettingName[]), "api"];

/** A source of settings, such as the environment or a file. */
export interface SettingsSource {
  /** Returns a setting, or an empty string or `undefined` if the source does not contain it. */
  readonly read: (name: SettingName) => string | undefined;
  /** Returns a display name for where the setting comes from. */
  readonly label: (name: SettingName) => string;
  /**
   * `true` if the key, service and URLs form a unit. If this source contains any of them, the
   * others are not read from later sources, so that no key is sent to a different service.
   * @default false
   */
  readonly isUnit?: boolean;
}

/** The settings of a connection and where each of them comes from. */
export interface Resolved {
  readonly settings: ApiSettings;
  /** The label of each setting's source. A setting that no source contains is missing. */
  readonly from: Readonly<Partial<Record<SettingName, string>>>;
}

/**
 * Returns each setting from the first source that contains it. The client, the provider and every
 * command call this function with their sources in order. Nothing else is read, with one exception:
 * during a rehearsal, the rehearsal's key and URLs override those of every source.
 * @throws ConfigurationError if the rehearsal has no emulator
 */
export function resolveConnection(sources: readonly SettingsSource[]): Resolved {
  const settings: Partial<Record<SettingName, string>> = {};
  const from: Partial<Record<SettingName, string>> = {};
  let isClosed = false;
  for (const { read, label, isUnit } of sources) {
    const found = NAMES.flatMap((name) => {
      const value = read(name)?.trim();
      return value ? [[name, value] as const] : [];
    });
    for (const [name, value] of found) {
      if (settings[name] !== undefined || (isClosed && name !== "api")) continue;
      settings[name] = value;
      from[name] = label(name);
    }
    isClosed ||= isUnit === true && found.some(([name]) => name !== "api");
  }
  const rehearsal = currentRehearsal();
  if (rehearsal === undefined) return { settings, from };
  const { url, apiKey } = rehearsal;
  const { url: label, apiKey: keyLabel } = REHEARSAL_VARIABLES;
  return {
    settings: { ...settings, apiKey, graphqlUrl: url, restUrl: url, queueUrl: url },
    from: { ...from, apiKey: keyLabel, graphqlUrl: label, restUrl: label, queueUrl: label },
  };
}

/** Returns the source that reads environment variables. */
export function environmentSource(environment: NodeJS.ProcessEnv = process.env): SettingsSource {
  const label = (name: SettingName) => (name === "api" ? API_VARIABLE : ENVIRONMENT_VARIABLES[name]);
  return { read: (name) => environment[label(name)], label };
}

/** The display names of the APIs. */
export const API_NAMES: Readonly<Record<ManagementApi, string>> = { graphql: "GraphQL", v2: "REST v2" };

/**
 * Returns a line that says which API and which account a connection uses and where these settings
 * come from: `REST v2 (SERVERLESS_GPU_API) at runpod (Pulumi.yaml), key from
 * SERVERLESS_GPU_API_KEY`. The line never contains the key.
 * @throws ConfigurationError if the service, the API or the URL is not valid
 */
export function connectionLine({ settings, from }: Resolved): string {
  const api = `${API_NAMES[managementApi(settings)]} (${from.api ?? "the default"})`;
  const key = from.apiKey === undefined ? "no key" : `key from ${from.apiKey}`;
  return `${api} at ${placeOf(settings, from)}, ${key}`;
}

function placeOf(settings: ApiSettings, from: Resolved["from"]): string {
  if (settings.graphqlUrl !== undefined) {
    const url = requireAddress(settings, "graphqlUrl");
    // Both APIs have the same URL. Its setting is named after the older one.
    return managementApi(settings) === "v2" ? `${url}/v2 (from ${from.graphqlUrl})` : `${url} (${from.graphqlUrl})`;
  }
  const service = serviceName(settings);
  return service === undefined ? "no service" : `${service} (${from.service})`;
}
