import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { ownPackage } from "../ownPackage";
import { type Finding, failed, ok, skipped, warning } from "./check";
import { isInRange } from "./versionRange";

const PROJECT_FILES = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];
const PULUMI_SDK = "@pulumi/pulumi";

/** An installed package. */
interface Installed {
  readonly folder: string;
  readonly version: string;
}

/** The Pulumi program of a project, and what can be loaded from its folder. */
export interface Program {
  /** Where the project file is. */
  readonly project: string;
  /** Where the program is, and what it loads is looked for. */
  readonly folder: string;
  /** The package, as state names it. */
  readonly own: Installed | undefined;
  readonly sdk: Installed | undefined;
}

/** The program of the Pulumi project in this folder or above it. */
export function findProgram(from: string): Program | undefined {
  const projectFile = findUpwards(from, PROJECT_FILES);
  if (projectFile === undefined) return undefined;
  const folder = programFolder(projectFile);
  const hasHandlers = resolveFrom(folder, `${ownPackage().name}/handlers`) !== undefined;
  return {
    project: path.dirname(projectFile),
    folder,
    own: hasHandlers ? findInstalled(folder, ownPackage().name) : undefined,
    sdk: findInstalled(folder, PULUMI_SDK),
  };
}

/** Why there is nothing to say of a program. */
export const NO_PROJECT = "there is no Pulumi project in this folder or above it";

/** Whether the program finds `@pulumi/pulumi`, in a version that the package works with. */
export function checkPulumiSdk(program: Program | undefined): Finding {
  if (!program) return skipped(NO_PROJECT);
  const range = ownPackage().peerDependencies[PULUMI_SDK];
  const fix = `In ${program.folder}: npm install "${PULUMI_SDK}@${range}"`;
  if (!program.sdk) return failed(`${PULUMI_SDK} cannot be loaded from ${program.folder}`, fix);
  const { version } = program.sdk;
  return isInRange(version, range) ? ok(version) : failed(`${version}, and ${range} is needed`, fix);
}

/** Whether what state names, `pulumi-serverless-gpu/handlers`, is found from the program's folder, and not by luck. */
export function checkPackage(program: Program | undefined): Finding {
  if (!program) return skipped(NO_PROJECT);
  const { name } = ownPackage();
  const fix = `In ${program.folder}: npm install ${name}. State names it, so refresh and destroy need it too.`;
  if (!program.own) return failed(`${name} cannot be loaded from ${program.folder}`, fix);
  const packageJson = findUpwards(program.folder, ["package.json"]);
  if (packageJson !== undefined && isListed(packageJson, name))
    return ok(`${program.own.version}, a direct dependency`);
  return warning(`${name} is found at ${program.own.folder}, yet ${packageJson ?? "no package.json"} lists it`, fix);
}

/** Whether all parts are of one version, and none is there twice. */
export function checkVersions(program: Program | undefined): Finding {
  if (!program) return skipped(NO_PROJECT);
  if (!program.own || !program.sdk) return skipped("not everything is installed");
  const { name, version } = ownPackage();
  if (program.own.version !== version) {
    return warning(
      `the program uses ${name} ${program.own.version}, and this command is of ${version}`,
      `Run the program's own: npx serverless-gpu doctor, in ${program.folder}`,
    );
  }
  const sdkOfPackage = findInstalled(program.own.folder, PULUMI_SDK);
  if (sdkOfPackage?.folder !== program.sdk.folder) {
    return failed(
      `the program loads ${PULUMI_SDK} from ${program.sdk.folder}, ${name} from ${sdkOfPackage?.folder ?? "nowhere"}`,
      `Install both in the same place, so that there is one ${PULUMI_SDK}: npm dedupe, or no link to ${name}.`,
    );
  }
  return ok(`${name} ${version} in program and command, one ${PULUMI_SDK}`);
}

/** `main` of the project file says where the program is; it may name a file. */
function programFolder(projectFile: string): string {
  const main = /^(?:main|\s*"main")\s*:\s*["']?([^"'#,\r\n]+)/m.exec(readFileSync(projectFile, "utf8"))?.[1]?.trim();
  const program = path.resolve(path.dirname(projectFile), main ?? ".");
  return statSync(program, { throwIfNoEntry: false })?.isFile() ? path.dirname(program) : program;
}

function findUpwards(from: string, names: readonly string[]): string | undefined {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const found = names.map((name) => path.join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined || folder === path.dirname(folder)) return found;
  }
}

function resolveFrom(folder: string, specifier: string): string | undefined {
  try {
    return createRequire(path.join(folder, "package.json")).resolve(specifier);
  } catch {
    return undefined;
  }
}

function findInstalled(folder: string, name: string): Installed | undefined {
  const packageJson = resolveFrom(folder, `${name}/package.json`);
  if (packageJson === undefined) return undefined;
  return { folder: path.dirname(packageJson), version: JSON.parse(readFileSync(packageJson, "utf8")).version };
}

function isListed(packageJson: string, name: string): boolean {
  const { dependencies, devDependencies, name: ownName } = JSON.parse(readFileSync(packageJson, "utf8"));
  return ownName === name || Object.hasOwn({ ...dependencies, ...devDependencies }, name);
}
