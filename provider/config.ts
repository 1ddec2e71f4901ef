import { type ConnectionSettings, ENVIRONMENT_VARIABLES } from "../sdk/config";
import { ConfigurationError } from "../sdk/errors";
import { splitList } from "../sdk/normalForms";
import { Secret } from "../sdk/secret";

/** The namespace of this package in a stack's config. */
export const CONFIG_NAMESPACE = "serverless-gpu";

/** The environment variables of the settings that are not the connection's. */
const OTHER_VARIABLES = {
  extraGpuTiers: "SERVERLESS_GPU_EXTRA_GPU_TIERS",
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
  /** GPU tiers newer than the contract that are to be accepted. */
  readonly extraGpuTiers: readonly string[];
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
    extraGpuTiers: extraGpuTiers(readConfig, environment),
    provider,
    allowAccountChange:
      (fromEnvironment(OTHER_VARIABLES.allowAccountChange) ?? fromConfig("allowAccountChange")) === "true",
  };
}

/** GPU tiers that are accepted beside those of the contract. Needs no key. */
export function extraGpuTiers(readConfig: ReadConfig, environment: NodeJS.ProcessEnv = process.env): string[] {
  return splitList(environment[OTHER_VARIABLES.extraGpuTiers]?.trim() || readConfig("extraGpuTiers") || "");
}
