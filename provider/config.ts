import { type ConnectionSettings, ENVIRONMENT_VARIABLES } from "../sdk/config";
import { splitList } from "../sdk/normalForms";
import { Secret } from "../sdk/secret";

/** The namespace of this package in a stack's config. */
export const CONFIG_NAMESPACE = "serverless-gpu";

/** Reads one setting of the stack's config, by its name without the namespace. */
export type ReadConfig = (name: string) => string | undefined;

/** All settings of the provider. */
export interface ProviderSettings extends ConnectionSettings {
  /** GPU tiers newer than the contract that are to be accepted. */
  readonly extraGpuTiers: readonly string[];
}

/** The settings in force: the environment's first, because it is always current; then the stack's config. */
export function providerSettings(
  readConfig: ReadConfig,
  environment: NodeJS.ProcessEnv = process.env,
): ProviderSettings {
  const read = (name: keyof typeof ENVIRONMENT_VARIABLES | "extraGpuTiers") => {
    const variable = name === "extraGpuTiers" ? "SERVERLESS_GPU_EXTRA_GPU_TIERS" : ENVIRONMENT_VARIABLES[name];
    return environment[variable]?.trim() || readConfig(name)?.trim() || undefined;
  };
  const apiKey = read("apiKey");
  // Known as a secret from here on, not only once there is a client: `check` makes none.
  if (apiKey !== undefined) new Secret(apiKey);
  return {
    apiKey,
    service: read("service"),
    graphqlUrl: read("graphqlUrl"),
    restUrl: read("restUrl"),
    queueUrl: read("queueUrl"),
    extraGpuTiers: splitList(read("extraGpuTiers") ?? ""),
  };
}
