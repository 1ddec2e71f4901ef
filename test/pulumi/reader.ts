import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { packagesOf, writeProject } from "../../tools/newProject/files";
import type { CodeBlock } from "../docs/markdown";
import { REPOSITORY } from "../support/sources";
import type { Terminal } from "./terminal";

/** The command that makes a project. */
const NEW = /^npm run new \.\.\/(\S+)(?: (\w+))?$/m;

/** The packages of the repository, and those that `npm run clients:install` installs. */
const INSTALLED = ["node_modules", ".scratch/clients/node/node_modules"].map((folder) => path.join(REPOSITORY, folder));

/** Packages of the repository itself. */
const OWN: Readonly<Record<string, string>> = { "pulumi-resource-serverless-gpu": path.join(REPOSITORY, "plugin") };

/** Links installed packages into a project, in place of `npm install`. */
async function link(folder: string, packages: readonly string[]): Promise<void> {
  const modules = path.join(folder, "node_modules");
  for (const name of packages.map((spec) => spec.replace(/(?<!^)@.*/, ""))) {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
    const found = OWN[name] ?? INSTALLED.map((folder) => path.join(folder, name)).find((folder) => existsSync(folder));
    if (found === undefined) throw new Error(`${name} is not installed in the repository`);
    await symlink(found, path.join(modules, name));
  }
}

/** Makes the project of a page as `npm run new` does, with links instead of packed packages. */
async function makeProject(folder: string, language = "typescript"): Promise<void> {
  await mkdir(path.join(folder, "node_modules/.bin"), { recursive: true });
  writeProject(folder, language, {});
  const pulumi = language === "typescript" ? ["@pulumi/pulumi", "typescript"] : [];
  await link(folder, [...packagesOf(language), ...pulumi]);
  const command = "../pulumi-serverless-gpu/dist/cli/main.js";
  await symlink(command, path.join(folder, "node_modules/.bin/pulumi-serverless-gpu"));
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
  const [, name, newLanguage] = NEW.exec(text) ?? [];
  if (name !== undefined) await makeProject(project, newLanguage);
  const [, packages] = /^npm install (.*)$/m.exec(text) ?? [];
  if (packages !== undefined) await link(project, packages.split(" "));
  const commands = text.replace(NEW, "").replace(/^npm install .*$/m, "");
  const { exitCode, output } = await terminal.type(commands);
  if (exitCode !== 0) throw new Error(`exit code ${exitCode} of:\n${text}\nwhich printed:\n${output}`);
  return output;
}
