import { connectionLine } from "../../sdk/connection/resolver";
import {
  type ConnectionSettings,
  managementApi,
  requireAddress,
  requireApiKey,
  serviceName,
} from "../../sdk/connection/settings";
import { nearestWord } from "../../sdk/nearestWord";
import { CONFIG_NAMES, CONFIG_NAMESPACE, providerConnection, providerSettings, type ReadConfig } from "./config";

/**
 * Returns a warning for each name in the stack's config, without the namespace, that is not a
 * setting.
 */
export function unknownSettings(names: readonly string[]): string[] {
  const prefix = `${CONFIG_NAMESPACE}:`;
  return names
    .filter((name) => !CONFIG_NAMES.includes(name))
    .map((name) => {
      const meant = nearestWord(name, CONFIG_NAMES);
      const hint = meant === undefined ? "" : ` Did you mean ${prefix}${meant}?`;
      return `${prefix}${name} in the stack's config is not a setting and has no effect.${hint} Settings: ${CONFIG_NAMES.join(", ")}`;
    });
}

/**
 * Returns a warning about a missing key or URL, which would make `up` fail; `undefined` if none is
 * missing.
 */
export function missingSetting(readConfig: ReadConfig): string | undefined {
  try {
    const settings = providerSettings(readConfig);
    managementApi(settings);
    requireApiKey(settings);
    requireAddress(settings, "graphqlUrl");
    requireAddress(settings, "queueUrl");
    return undefined;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return `this preview sends no requests and needs no key, but up will fail: ${problem}`;
  }
}

/** The settings that are URLs. */
const ADDRESSES = ["graphqlUrl", "restUrl", "queueUrl"] as const;

/**
 * Returns the URLs that are set although a service is named. They take precedence over the
 * service's own.
 * @throws ConfigurationError if the service is unknown
 */
export function urlsBeforeService(settings: ConnectionSettings): string[] {
  return serviceName(settings) === undefined ? [] : ADDRESSES.filter((name) => settings[name] !== undefined);
}

/**
 * Returns the line that says which API and account an `up` uses, and where that comes from;
 * `undefined` if a setting is not valid, which the first call reports.
 */
export function usedConnection(readConfig: ReadConfig): string | undefined {
  try {
    return `${CONFIG_NAMESPACE} uses ${connectionLine(providerConnection(readConfig))}`;
  } catch {
    return undefined;
  }
}

/** Returns a note about URLs that take precedence over a named service; `undefined` if none do. */
export function noteOnUrls(readConfig: ReadConfig): string | undefined {
  try {
    const settings = providerSettings(readConfig);
    const urls = urlsBeforeService(settings);
    if (urls.length === 0) return undefined;
    return `the service ${settings.service} is set, but the URLs that are set take precedence: ${urls.join(", ")}`;
  } catch {
    // `missingSetting` reports it.
    return undefined;
  }
}
