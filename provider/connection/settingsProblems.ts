import { connectionLine } from "../../sdk/connection/resolver";
import {
  type ConnectionSettings,
  managementApi,
  requireAddress,
  requireApiKey,
  serviceName,
} from "../../sdk/connection/settings";
import { END_OF_GRAPHQL } from "../../sdk/contract/limits";
import { isLoopback } from "../../sdk/contract/loopback";
import { nearestWord } from "../../sdk/errors/nearestWord";
import { CONFIG_NAMES, CONFIG_NAMESPACE, providerConnection, providerSettings, type ReadConfig } from "./config";

/** Returns a warning for each unknown setting in the stack's config. */
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
 * Returns a warning if a missing key or URL would make `up` fail; `undefined` if none is missing.
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
 * Returns the URLs that override those of a named service. An emulator sets all of them together
 * with the service that it emulates, which is not a mistake.
 * @throws ConfigurationError if the service is unknown
 */
export function urlsBeforeService(settings: ConnectionSettings): string[] {
  if (serviceName(settings) === undefined) return [];
  const urls = ADDRESSES.map((name) => settings[name]?.trim() ?? "");
  const isEmulator = urls.every((url) => url === urls[0] && URL.canParse(url) && isLoopback(url));
  return isEmulator ? [] : ADDRESSES.filter((name) => settings[name] !== undefined);
}

/**
 * Returns the line that says which API and account an `up` uses and why; `undefined` if a setting
 * is invalid, which the first call reports.
 */
export function usedConnection(readConfig: ReadConfig): string | undefined {
  try {
    return `${CONFIG_NAMESPACE} uses ${connectionLine(providerConnection(readConfig))}`;
  } catch {
    return undefined;
  }
}

/**
 * Returns a note about the end of GraphQL if the named service has announced it and GraphQL is
 * used, or `undefined`.
 */
export function noteOnEnd(readConfig: ReadConfig): string | undefined {
  try {
    const settings = providerSettings(readConfig);
    const service = serviceName(settings);
    if (service === undefined || managementApi(settings) === "v2") return undefined;
    const isSet = settings.api !== undefined;
    return (
      `the service ${service} shuts down GraphQL, which this run uses, in ${END_OF_GRAPHQL[service]}. ` +
      (isSet
        ? `If you remove ${CONFIG_NAMESPACE}:api, runs after the shutdown will use REST v2. To switch now: pulumi config set ${CONFIG_NAMESPACE}:api v2`
        : `Runs after the shutdown will use REST v2. To switch now: pulumi config set ${CONFIG_NAMESPACE}:api v2`)
    );
  } catch {
    // `missingSetting` reports it.
    return undefined;
  }
}

/**
 * Returns a note about URLs that override those of a named service; `undefined` if there are none.
 */
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
