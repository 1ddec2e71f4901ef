import { type ConnectionSettings, ENVIRONMENT_VARIABLES, extraWords } from "../../sdk/config";
import { splitList } from "../../sdk/endpoints/normalForms";
import { ConfigurationError } from "../../sdk/errors";
import { Secret } from "../../sdk/secret";

/** The namespace of this package in a stack's config. */
export const CONFIG_NAMESPACE = "serverless-gpu";

/** The environment variables of the settings that are not the connection's. */
const OTHER_VARIABLES = {
  extraGpuTiers: "SERVERLESS_GPU_EXTRA_GPU_TIERS",
  extraLocations: "SERVERLESS_GPU_EXTRA_LOCATIONS",
  allowAccountChange: "SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE",
} as const;

/** Every environment variable that the provider reads. */
export const VARIABLE_NAMES: readonly string[] = Object.values({ ...ENVIRONMENT_VARIABLES, ...OTHER_VARIABLES });

/** Every setting that a stack's config may hold, without the namespace. */
export const CONFIG_NAMES: readonly string[] = [
  ...Object.keys({ ...ENVIRONMENT_VARIABLES, ...OTHER_VARIABLES }),
  // It has no variable: automatic names must not depend on where a program runs.
  "namespace",
];

/** Reads one setting of the stack's, or of an explicit provider's, config by its name without the namespace. */
export type ReadConfig = (name: string) => string | undefined;

/** All settings of the provider. */
export interface ProviderSettings extends ConnectionSettings {
  /** GPU tiers that are accepted beside the contract's. */
  readonly extraGpuTiers: readonly string[];
  /** Countries that are accepted beside the contract's. */
  readonly extraLocations: readonly string[];
  /** Logical name of the explicit provider that these are the settings of; empty for the default one. */
  readonly provider: string;
  /** Whether an endpoint that is absent from another account than its own counts as gone. */
  readonly allowAccountChange: boolean;
}

/**
 * The settings in force. The environment comes first, because it is always current, then the config. An explicit
 * provider (its config says which, as `explicit`) has its key and addresses from itself alone, never mixed with others'.
 */
export function providerSettings(
  readConfig: ReadConfig,
  environment: NodeJS.ProcessEnv = process.env,
): ProviderSettings {
  const fromEnvironment = (variable: string) => environment[variable]?.trim() || undefined;
  const fromConfig = (name: string) => readConfig(name)?.trim() || undefined;
  const provider = fromConfig("explicit") ?? "";
  const isExplicit = provider !== "";
  const read = (name: keyof ConnectionSettings) =>
    (isExplicit ? undefined : fromEnvironment(ENVIRONMENT_VARIABLES[name])) ?? fromConfig(name);

  const apiKeyEnv = isExplicit ? fromConfig("apiKeyEnv") : undefined;
  const apiKey = apiKeyEnv === undefined ? read("apiKey") : fromEnvironment(apiKeyEnv);
  if (apiKeyEnv !== undefined && apiKey === undefined) {
    throw new ConfigurationError(
      `there is no API key: the provider's apiKeyEnv says that it is in the environment variable ${apiKeyEnv}, which is not set`,
    );
  }
  // Known as a secret from here on, not only once there is a client: `check` makes none.
  if (apiKey !== undefined) new Secret(apiKey);
  return {
    apiKey,
    service: read("service"),
    graphqlUrl: read("graphqlUrl"),
    restUrl: read("restUrl"),
    queueUrl: read("queueUrl"),
    ...acceptedWords(readConfig, environment),
    provider,
    allowAccountChange:
      (fromEnvironment(OTHER_VARIABLES.allowAccountChange) ?? fromConfig("allowAccountChange")) === "true",
  };
}

/**
 * GPU tiers and countries that are accepted beside those of the contract: what the environment and the config name, and
 * what the named service has. They only widen what is allowed, so both lists count. Needs no key.
 */
export function acceptedWords(
  readConfig: ReadConfig,
  environment: NodeJS.ProcessEnv = process.env,
): { extraGpuTiers: string[]; extraLocations: string[] } {
  const words = (name: "extraGpuTiers" | "extraLocations") => [
    ...splitList(environment[OTHER_VARIABLES[name]] ?? ""),
    ...wordsInConfig(name, readConfig(name)?.trim() ?? ""),
  ];
  const ownService = readConfig("explicit") ? undefined : environment[ENVIRONMENT_VARIABLES.service]?.trim();
  const service = ownService || readConfig("service");
  return extraWords({ service, extraGpuTiers: words("extraGpuTiers"), extraLocations: words("extraLocations") });
}

/** A comma list, or a list in the YAML of a stack's config, which arrives as JSON. */
function wordsInConfig(name: string, text: string): string[] {
  if (!/^[[{"]/.test(text)) return splitList(text);
  const refused = new ConfigurationError(
    `${CONFIG_NAMESPACE}:${name} must be a comma list, such as FIRST,SECOND, or a list of strings in the YAML of the ` +
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
