import type * as pulumi from "@pulumi/pulumi";
import { CONFIG_NAMESPACE } from "../provider/connection/config";
import { configure } from "../provider/connection/connection";
import type { Properties } from "../provider/properties";

/** The logical names of the providers that the engine makes by itself. */
const DEFAULT_PROVIDER = /^default(_|$)/;

/**
 * Stores the settings of the provider that this process serves. They are the stack's config for the default provider, and
 * the arguments of an explicit provider.
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

/** Returns the problems of the arguments of a provider. */
export function configProblems(name: string, { apiKey, apiKeyEnv }: Properties): pulumi.dynamic.CheckFailure[] {
  if (!isExplicit(name) || (apiKey === undefined) !== (apiKeyEnv === undefined)) return [];
  return [{ property: "apiKey", reason: `the provider "${name}" needs either apiKey or apiKeyEnv` }];
}

function isExplicit(name: string): boolean {
  return name !== "" && !DEFAULT_PROVIDER.test(name);
}
