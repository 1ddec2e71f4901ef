import type { ClientOptions } from "../../sdk/client/options";
import { acceptedInputs } from "../../sdk/connection/acceptedWords";
import {
  environmentSource,
  type Resolved,
  resolveConnection,
  type SettingsSource,
} from "../../sdk/connection/resolver";
import {
  API_VARIABLE,
  type ApiSettings,
  ENVIRONMENT_VARIABLES,
  managementApi,
  requireApiKey,
  serviceName,
} from "../../sdk/connection/settings";
import { splitList } from "../../sdk/endpoints/normalForms";
import { ConfigurationError } from "../../sdk/errors/errors";
import { SecretText } from "../../sdk/errors/secretText";
import { currentRehearsal, REHEARSAL_VARIABLES } from "../../sdk/transport/rehearsal";

import { decidedApi } from "./decidedApi";

/** Namespace of this package in a stack's config. */
export const CONFIG_NAMESPACE = "serverless-gpu";

/** The environment variables for settings outside the connection. */
const OTHER_VARIABLES = {
  api: API_VARIABLE,
  acceptWords: "SERVERLESS_GPU_ACCEPT_WORDS",
  allowAccountChange: "SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE",
  account: "SERVERLESS_GPU_ACCOUNT",
} as const;

/** The environment variable for each setting. */
export const SETTING_VARIABLES = { ...ENVIRONMENT_VARIABLES, ...OTHER_VARIABLES } as const;

/** Every environment variable that the provider reads. */
export const VARIABLE_NAMES: readonly string[] = Object.values(SETTING_VARIABLES);

/** The settings that a stack's config may contain, without the namespace. */
export const CONFIG_NAMES: readonly string[] = [
  ...Object.keys(SETTING_VARIABLES),
  // There is no environment variable for it, because automatic names must not depend on where a
  // program runs.
  "namespace",
];

/** The names in the config, and the variables of a rehearsal, that `providerSettings` reads. */
const READ_NAMES = [...CONFIG_NAMES, "explicit", "apiKeyEnv"];
const OF_REHEARSALS = Object.values(REHEARSAL_VARIABLES);

/**
 * Reads a setting by its name without the namespace, from the config of the stack or of an explicit
 * provider.
 */
export type ReadConfig = (name: string) => string | undefined;

/** All settings of the provider. */
export interface ProviderSettings extends ApiSettings {
  /** GPU pools and countries to accept although they look like typos of known ones. */
  readonly acceptWords: readonly string[];
  /** The explicit provider's logical name; empty for the default provider. */
  readonly provider: string;
  /** `true` to treat a missing record as gone even if the account differs from the recorded one. */
  readonly allowAccountChange: boolean;
  /** The id of the only account that may be written to. @default the key's account */
  readonly account?: string | undefined;
}

/** The settings that were read last, and the values that they were read from. */
let last: { readonly values: string; readonly settings: ProviderSettings } | undefined;

/**
 * Returns the settings. The environment takes precedence over the config, because it is always
 * current. An explicit provider, whose config contains its name as `explicit`, only uses its own
 * key and URLs. As long as no value changes, every call returns the same object.
 * @throws ConfigurationError if an explicit provider lacks a key or URL
 */
export function providerSettings(
  readConfig: ReadConfig,
  environment: NodeJS.ProcessEnv = process.env,
): ProviderSettings {
  // Handlers call this several times for each resource.
  const values = settingValues(readConfig, environment);
  if (last?.values !== values) last = { values, settings: readSettings(readConfig, environment) };
  return last.settings;
}

/** Returns everything that the settings depend on. */
function settingValues(readConfig: ReadConfig, environment: NodeJS.ProcessEnv): string {
  const config = READ_NAMES.map((name) => readConfig(name));
  const apiKeyEnv = readConfig("apiKeyEnv")?.trim();
  const variables = VARIABLE_NAMES.map((name) => environment[name]);
  const rehearsal = OF_REHEARSALS.map((name) => process.env[name]);
  return JSON.stringify([config, variables, rehearsal, apiKeyEnv ? environment[apiKeyEnv] : "", switchedApi()]);
}

/**
 * Returns the API that the run switched to. Staying with the default does not change the settings,
 * because a run must keep its client and its lists.
 */
function switchedApi(): "v2" | undefined {
  return decidedApi() === "v2" ? "v2" : undefined;
}

function readSettings(readConfig: ReadConfig, environment: NodeJS.ProcessEnv): ProviderSettings {
  const { settings } = providerConnection(readConfig, environment);
  // Registers the key as a secret. Creating a client would too, but `check` does not create one.
  if (settings.apiKey !== undefined) new SecretText(settings.apiKey);
  const provider = readConfig("explicit")?.trim() ?? "";
  const problem = provider === "" ? undefined : explicitProviderProblem(provider, settings);
  if (problem !== undefined) throw new ConfigurationError(problem);
  const api = settings.api ?? switchedApi();
  return { ...settings, ...(api !== undefined && { api }), ...otherSettings(readConfig, environment), provider };
}

/** Returns the settings outside the connection. */
export function otherSettings(readConfig: ReadConfig, environment: NodeJS.ProcessEnv = process.env) {
  const allowAccountChange =
    environment[OTHER_VARIABLES.allowAccountChange]?.trim() || readConfig("allowAccountChange")?.trim();
  // An explicit provider may use a different account.
  const ofEnvironment = readConfig("explicit") ? undefined : environment[OTHER_VARIABLES.account]?.trim();
  const account = ofEnvironment || readConfig("account")?.trim();
  return {
    acceptWords: acceptedWords(readConfig, environment).acceptWords,
    allowAccountChange: allowAccountChange === "true",
    ...(account && { account }),
  };
}

/**
 * Returns the connection, and where each of its settings comes from.
 * @throws ConfigurationError if the variable named by `apiKeyEnv` is not set
 */
export function providerConnection(readConfig: ReadConfig, environment: NodeJS.ProcessEnv = process.env): Resolved {
  const ofEnvironment = environmentSource(environment);
  const provider = readConfig("explicit")?.trim();
  if (!provider) {
    // The engine merges the project file into the stack's config.
    const label = () => "Pulumi's config";
    return resolveConnection([ofEnvironment, { read: readConfig, label }]);
  }
  const variable = readConfig("apiKeyEnv")?.trim();
  const own: SettingsSource = {
    read: (name) => (variable && name === "apiKey" ? environment[variable] : readConfig(name)),
    label: (name) => (variable && name === "apiKey" ? variable : `the provider "${provider}"`),
    isUnit: true,
  };
  // A rehearsal neither has nor needs the key.
  if (variable && !own.read("apiKey")?.trim() && !currentRehearsal()) {
    throw new ConfigurationError(
      `there is no API key: the environment variable ${variable}, which the provider's apiKeyEnv names, is not set`,
    );
  }
  // Every API leads to the same account, so the environment takes precedence here too.
  const api: SettingsSource = {
    ...ofEnvironment,
    read: (name) => (name === "api" ? ofEnvironment.read(name) : undefined),
  };
  return resolveConnection([api, own]);
}

/** Returns `true` if no setting selects the API, and the run has not switched to another one. */
export function isApiUnset(readConfig: ReadConfig): boolean {
  return providerSettings(readConfig).api === undefined;
}

/** The required arguments of an explicit provider. */
interface RequiredSettings {
  readonly apiKey?: unknown;
  readonly apiKeyEnv?: unknown;
  readonly service?: unknown;
  readonly graphqlUrl?: unknown;
  readonly queueUrl?: unknown;
}

const NOT_GIVEN: readonly unknown[] = ["", undefined, null];

/**
 * Describes what an explicit provider lacks; `undefined` if nothing. A value that is not yet known
 * counts as set.
 */
export function explicitProviderProblem(name: string, given: RequiredSettings): string | undefined {
  const isGiven = (setting: keyof RequiredSettings) => !NOT_GIVEN.includes(given[setting]);
  if (isGiven("apiKey") === isGiven("apiKeyEnv")) return `the provider "${name}" needs either apiKey or apiKeyEnv`;
  const missing = (["graphqlUrl", "queueUrl"] as const).filter((url) => !isGiven(url));
  if (isGiven("service") || missing.length === 0) return undefined;
  return (
    `the provider "${name}" has no ${missing.join(" and no ")}: set its service: "runpod", or its graphqlUrl and queueUrl. ` +
    "An explicit provider does not use the URLs of the environment or of the stack's config"
  );
}

/**
 * Converts the settings to client options.
 * @throws ConfigurationError if the key is missing, or if the service or API is unknown
 */
export function clientOptions({
  provider,
  allowAccountChange,
  account,
  ...connection
}: ProviderSettings): ClientOptions {
  return {
    ...connection,
    apiKey: requireApiKey(connection),
    service: serviceName(connection),
    api: managementApi(connection),
  };
}

/**
 * Returns the words that inputs may contain: those in the environment and in the config, and those
 * that the named service accepts. Needs no key.
 */
export function acceptedWords(
  readConfig: ReadConfig,
  environment: NodeJS.ProcessEnv = process.env,
): ReturnType<typeof acceptedInputs> {
  const acceptWords = [
    ...splitList(environment[OTHER_VARIABLES.acceptWords] ?? ""),
    ...wordsInConfig("acceptWords", readConfig("acceptWords")?.trim() ?? ""),
  ];
  const ownService = readConfig("explicit") ? undefined : environment[ENVIRONMENT_VARIABLES.service]?.trim();
  const service = ownService || readConfig("service");
  const api = environment[API_VARIABLE]?.trim() || readConfig("api");
  return acceptedInputs({ service, api, acceptWords });
}

/** Splits a comma-separated string. A list in a stack's YAML config arrives as JSON. */
function wordsInConfig(name: string, text: string): string[] {
  if (!/^[[{"]/.test(text)) return splitList(text);
  const refused = new ConfigurationError(
    `${CONFIG_NAMESPACE}:${name} must be a comma-separated string, such as FIRST,SECOND, or a list of strings in the YAML of the ` +
      `stack's config. Set it again: pulumi config set ${CONFIG_NAMESPACE}:${name} FIRST,SECOND`,
  );
  let words: unknown;
  try {
    words = JSON.parse(text);
  } catch {
    throw refused;
  }
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string")) throw refused;
  return splitList(words);
}
