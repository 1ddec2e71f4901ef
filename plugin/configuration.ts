import type * as pulumi from "@pulumi/pulumi";
import { CONFIG_NAMESPACE, explicitProviderProblem } from "../provider/connection/config";
import { configure, readConfig } from "../provider/connection/connection";
import { missingSetting, noteOnUrls, unknownSettings, usedConnection } from "../provider/connection/settingsProblems";
import { log } from "../provider/engine/log";
import type { Properties } from "../provider/engine/properties";

/**
 * Matches the names of providers that the engine creates itself. They contain a version and a
 * download URL if the program sets them. The program chose any other name, such as `default_eu`.
 */
const DEFAULT_PROVIDER = /^default(_\d+_\d+_\d+(_.+)?)?(_(https?|github|gitlab)_\/.+)?$/;

/** Provider settings that the engine itself uses. */
const ENGINE_SETTINGS = ["version", "pluginDownloadURL"];

/**
 * Stores the settings of the provider that this process serves: the stack's config for the default
 * provider, or the arguments of an explicit provider.
 * @param variables the settings, by their names `serverless-gpu:config:…`
 */
export async function configureProvider(name: string, variables: ReadonlyMap<string, string>): Promise<void> {
  const prefix = `${CONFIG_NAMESPACE}:`;
  const get = (key: string) => {
    const setting = key.slice(prefix.length);
    if (setting === "explicit") return isExplicit(name) ? name : undefined;
    return variables.get(`${prefix}config:${setting}`);
  };
  await configure({ config: { get } as pulumi.dynamic.Config });
}

/** Logs a warning for each unknown setting in the stack's config. */
export function warnOfUnknownSettings(name: string, settings: Properties): void {
  if (isExplicit(name)) return;
  const names = Object.keys(settings).filter((each) => !ENGINE_SETTINGS.includes(each));
  for (const warning of unknownSettings(names)) log(CONFIG_NAMESPACE, `warning: ${warning}`);
}

let hasWarned = false;

/**
 * Warns once per preview if `up` would fail, and about URLs that replace those of a named service.
 */
export function warnOfConfiguration(): void {
  if (hasWarned) return;
  hasWarned = true;
  const warning = missingSetting(readConfig);
  if (warning !== undefined) log(CONFIG_NAMESPACE, `warning: ${warning}`);
  const note = noteOnUrls(readConfig);
  if (note !== undefined) log(CONFIG_NAMESPACE, note);
}

let hasSaid = false;

/** Reports once, before the first change, which API and account the provider uses. */
export function sayConnection(): void {
  if (hasSaid) return;
  hasSaid = true;
  const line = usedConnection(readConfig);
  if (line !== undefined) log(CONFIG_NAMESPACE, line);
}

/** Returns the problems with a provider's arguments. */
export function configProblems(name: string, settings: Properties): pulumi.dynamic.CheckFailure[] {
  if (!isExplicit(name)) {
    if (settings.apiKeyEnv === undefined) return [];
    const reason =
      `only an explicit provider has apiKeyEnv, and "${name}" is the name of a provider that Pulumi itself creates. Give ` +
      `the provider another name in the program, or remove ${CONFIG_NAMESPACE}:apiKeyEnv from the stack's config`;
    return [{ property: "apiKeyEnv", reason }];
  }
  const reason = explicitProviderProblem(name, settings);
  return reason === undefined ? [] : [{ property: "", reason }];
}

function isExplicit(name: string): boolean {
  return name !== "" && !DEFAULT_PROVIDER.test(name);
}
