import { CONFIG_NAMESPACE } from "../../provider/connection/config";
import { ENVIRONMENT_VARIABLES } from "../../sdk/connection/settings";
import { type Learned, pulumi, pulumiJson } from "../pulumiCommand";
import { stackFlag } from "../stack";

/** A value in the stack's config. Secrets are decrypted only when needed. */
interface ConfigValue {
  readonly value?: string;
  readonly secret: boolean;
}

/** This package's part of a stack's config, by names without the namespace. */
export type StackConfig = ReadonlyMap<string, ConfigValue>;

/** Reads a stack's config, which includes the `config` section of the project file. */
export async function readStackConfig(folder: string, stack?: string): Promise<Learned<StackConfig>> {
  const all = await pulumiJson<Record<string, ConfigValue>>(["config", "--json", ...stackFlag(stack)], folder);
  if ("problem" in all) return all;
  const prefix = `${CONFIG_NAMESPACE}:`;
  const entries = Object.entries(all.value);
  return {
    value: new Map(
      entries.filter(([name]) => name.startsWith(prefix)).map(([name, value]) => [name.slice(prefix.length), value]),
    ),
  };
}

/** Decrypts the secret settings that the connection needs. */
export async function decrypt(
  config: StackConfig,
  isNeeded: (name: string) => boolean,
  folder: string,
  stack?: string,
): Promise<ReadonlyMap<string, Learned<string>>> {
  const names = Object.keys(ENVIRONMENT_VARIABLES).filter((name) => config.get(name)?.secret && isNeeded(name));
  const read = (name: string) => pulumi(["config", "get", `${CONFIG_NAMESPACE}:${name}`, ...stackFlag(stack)], folder);
  return new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
}
