import type * as pulumi from "@pulumi/pulumi";
import { CONFIG_NAMESPACE, explicitProviderProblem } from "../provider/connection/config";
import { configure, readConfig } from "../provider/connection/connection";
import { missingSetting, noteOnUrls, unknownSettings, usedConnection } from "../provider/connection/settingsProblems";
import { log } from "../provider/log";
import type { Properties } from "../provider/properties";

/**
 * Matches the logical names of providers that the engine itself creates, which contain a version
 * and a download URL if the program sets them. Any other name, such as `default_eu`, was chosen by
 * the program.
 */
const DEFAULT_PROVIDER = /^default(_\d+_\d+_\d+(_.+)?)?(_(https?|github|gitlab)_\/.+)?$/;

/** Provider settings that the engine itself uses. */
const ENGINE_SETTINGS = ["version", "pluginDownloadURL"];

/**
 * Stores the settings of the provider that this process serves. They are the stack's config for the
 * default provider, and the arguments of an explicit provider.
 * @param variables the settings by their names `serverless-gpu:config:…`
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

/** Logs a warning for each name in the stack's config that is not a setting. */
export function warnOfUnknownSettings(name: string, settings: Properties): void {
  if (isExplicit(name)) return;
  const names = Object.keys(settings).filter((each) => !ENGINE_SETTINGS.includes(each));
  for (const warning of unknownSettings(names)) log(CONFIG_NAMESPACE, `warning: ${warning}`);
}

let hasWarned = false;

/** Warns once, in a preview, if `up` would fail, and says which URLs replace those of a service. */
export function warnOfConfiguration(): void {
  if (hasWarned) return;
  hasWarned = true;
  const warning = missingSetting(readConfig);
  if (warning !== undefined) log(CONFIG_NAMESPACE, `warning: ${warning}`);
  const note = noteOnUrls(readConfig);
  if (note !== undefined) log(CONFIG_NAMESPACE, note);
}

let hasSaid = false;

/** Says once, before the first change, which API and account the provider uses. */
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
