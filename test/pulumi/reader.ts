import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { CodeBlock } from "../docs/markdown";
import { REPOSITORY } from "../support/sources";
import type { Terminal } from "./terminal";

/** The package, packed from the clone. */
const PACKED = /"\.\/\$\(npm pack .*?\)"/;

/** The packages of the repository, and those that `npm run clients:install` installs. */
const INSTALLED = ["node_modules", ".scratch/clients/node/node_modules"].map((folder) => path.join(REPOSITORY, folder));

/** Packages of the repository itself. */
const OWN: Readonly<Record<string, string>> = { "pulumi-resource-serverless-gpu": path.join(REPOSITORY, "plugin") };

/** Replaces `npm install` by links to installed packages. */
async function install(folder: string, packages: readonly string[]): Promise<void> {
  const modules = path.join(folder, "node_modules");
  await mkdir(path.join(modules, ".bin"), { recursive: true });
  for (const name of packages.map((spec) => spec.replace(/(?<!^)@.*/, ""))) {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
    const found = OWN[name] ?? INSTALLED.map((folder) => path.join(folder, name)).find((folder) => existsSync(folder));
    if (found === undefined) throw new Error(`${name} is not installed in the repository`);
    await symlink(found, path.join(modules, name));
  }
  await symlink("../pulumi-serverless-gpu/dist/cli/main.js", path.join(modules, ".bin/serverless-gpu"));
  await writeFile(path.join(folder, "package.json"), "{}");
}

/** Runs a block as a reader does. Returns its output. */
export async function follow(
  terminal: Terminal,
  project: string,
  { language, options, text }: CodeBlock,
): Promise<string> {
  const title = options.find((option) => option.startsWith("title="))?.slice("title=".length);
  if (title !== undefined) {
    await writeFile(path.join(project, title), text);
    return "";
  }
  if (language !== "sh") throw new Error(`a block of ${language} has no title`);
  const [, packages] = /^npm install (.*?)(?: #.*)?$/m.exec(text.replace(PACKED, "pulumi-serverless-gpu")) ?? [];
  const commands = packages === undefined ? text : text.replace(/^npm install .*$/m, "");
  const { exitCode, output } = await terminal.type(commands);
  if (exitCode !== 0) throw new Error(`exit code ${exitCode} of:\n${text}\nwhich printed:\n${output}`);
  if (packages !== undefined) await install(project, packages.split(" "));
  return output;
}
