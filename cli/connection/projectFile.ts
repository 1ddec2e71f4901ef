import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { CONFIG_NAMESPACE } from "../../provider/connection/config";
import { isObject, type Properties } from "../../provider/engine/properties";

const PROJECT_FILES = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/** Returns the path of the Pulumi project file in this folder or the nearest parent folder. */
export function findProjectFile(from: string): string | undefined {
  return findUpwards(from, PROJECT_FILES);
}

/** Returns the path of the first of these files in the folder or the nearest parent folder. */
export function findUpwards(from: string, names: readonly string[]): string | undefined {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const found = names.map((name) => path.join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined || folder === path.dirname(folder)) return found;
  }
}

/**
 * Returns a setting of the whole project, such as `name` or `main`, if it is a text.
 * @throws Error if the file is not valid YAML or JSON
 */
export function projectField(file: string, name: string): string | undefined {
  const value = contents(file)[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * Reads this package's settings from the `config` section of a project file, by their names without
 * the namespace. The engine merges this section into every stack's config, but doesn't show it
 * while no stack is selected. Settings that are neither a scalar nor `value: <scalar>` are left
 * out.
 * @throws Error if the file is not valid YAML or JSON
 */
export function projectConfig(file: string): ReadonlyMap<string, string> {
  const { config } = contents(file);
  const prefix = `${CONFIG_NAMESPACE}:`;
  const settings = Object.entries(isObject(config) ? config : {}).flatMap(([name, given]): [string, string][] => {
    const value = isObject(given) ? given.value : given;
    const isScalar = ["string", "number", "boolean"].includes(typeof value);
    return name.startsWith(prefix) && isScalar ? [[name.slice(prefix.length), String(value)]] : [];
  });
  return new Map(settings);
}

/**
 * Returns the values that a setting has in a project file and in the config files of its stacks.
 * @throws Error if a file is not valid YAML or JSON
 */
export function configuredValues(file: string, name: string): string[] {
  const folder = path.resolve(path.dirname(file), projectField(file, "stackConfigDir") ?? ".");
  const ofStacks = existsSync(folder) ? readdirSync(folder).filter((each) => /^Pulumi\..+\.ya?ml$/.test(each)) : [];
  const files = [file, ...ofStacks.map((each) => path.join(folder, each))];
  return [...new Set(files.flatMap((each) => projectConfig(each).get(name) ?? []))];
}

function contents(file: string): Properties {
  const text = readFileSync(file, "utf8");
  try {
    // The engine supports merge keys.
    const found: unknown = file.endsWith(".json") ? JSON.parse(text) : parse(text, { merge: true });
    return isObject(found) ? found : {};
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0]?.replace(/:$/, "") : String(error);
    throw new Error(`cannot read the project file ${file}: ${reason}`);
  }
}
