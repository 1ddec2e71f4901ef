import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { CONFIG_NAMESPACE } from "../../provider/connection/config";
import { isObject } from "../../provider/engine/properties";

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

/** Returns a setting of the whole project, such as `name` or `main`, if it is a text. */
export function projectField(file: string, name: string): string | undefined {
  const text = readFileSync(file, "utf8");
  if (!file.endsWith(".json")) {
    const line = new RegExp(`^(["']?)${name}\\1\\s*:(?:\\s+(.*))?$`, "m").exec(text);
    return scalarOf(line?.[2] ?? "");
  }
  const value = (JSON.parse(text) as Readonly<Record<string, unknown>>)[name];
  return typeof value === "string" ? value : undefined;
}

/**
 * Reads this package's settings from the `config` section of a project file, by their names without
 * the namespace. The engine merges this section into every stack's config, but doesn't show it
 * while no stack is selected. Settings that are neither text nor `value: <text>` are left out.
 */
export function projectConfig(file: string): ReadonlyMap<string, string> {
  const text = readFileSync(file, "utf8");
  return new Map(file.endsWith(".json") ? jsonSettings(text) : yamlSettings(text));
}

function jsonSettings(text: string): [string, string][] {
  const { config } = JSON.parse(text) as { readonly config?: unknown };
  if (!isObject(config)) return [];
  const prefix = `${CONFIG_NAMESPACE}:`;
  return Object.entries(config).flatMap(([name, given]) => {
    const value = isObject(given) ? given.value : given;
    return name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), String(value)]] : [];
  });
}

const SETTING = new RegExp(`^(\\s+)(["']?)${CONFIG_NAMESPACE}:(\\w+)\\2\\s*:(?:\\s+(.*))?$`);

function yamlSettings(text: string): [string, string][] {
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(#|$)/.test(line));
  const start = lines.findIndex((line) => /^(["']?)config\1\s*:\s*(#.*)?$/.test(line));
  if (start === -1) return [];
  const below = lines.slice(start + 1);
  const length = below.findIndex((line) => /^\S/.test(line));
  const section = length === -1 ? below : below.slice(0, length);
  return section.flatMap((line, index) => {
    const [, indent = "", , name = "", rest = ""] = SETTING.exec(line) ?? [];
    if (name === "") return [];
    const inline = /^\{\s*(?:["']?value["']?)\s*:\s*([^,{}]*?)\s*\}/.exec(rest)?.[1];
    const value = inline ?? (withoutComment(rest) === "" ? valueBelow(section.slice(index + 1), indent.length) : rest);
    const scalar = scalarOf(value ?? "");
    return scalar === undefined ? [] : [[name, scalar]];
  });
}

/** Returns the text after `value:` in the indented lines below a setting. */
function valueBelow(lines: readonly string[], indent: number): string | undefined {
  const end = lines.findIndex((line) => line.search(/\S/) <= indent);
  const own = end === -1 ? lines : lines.slice(0, end);
  return own.flatMap((line) => /^\s*(["']?)value\1\s*:\s+(.*)$/.exec(line)?.[2] ?? [])[0];
}

const withoutComment = (text: string) => text.replace(/(^|\s)#.*$/, "").trim();

/** Returns plain or quoted text; `undefined` for anything else. */
function scalarOf(text: string): string | undefined {
  const quoted = /^(["'])(.*?)\1\s*(#.*)?$/.exec(text.trim());
  const plain = quoted?.[2] ?? withoutComment(text);
  return plain === "" || (!quoted && /^[[\]{}&*!|>%@`]/.test(plain)) ? undefined : plain;
}
