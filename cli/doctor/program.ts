import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { findProjectFile, findUpwards } from "../connection/projectFile";
import { ownPackage } from "../ownPackage";
import { type CheckResult, failed, ok, skipped, warning } from "./check";
import { isInRange } from "./versionRange";

const PULUMI_SDK = "@pulumi/pulumi";

/** A package that was found on disk. */
interface Installed {
  readonly folder: string;
  readonly version: string;
}

/** The Pulumi program of a project, and the packages that it loads. */
export interface Program {
  /** The folder of the project file. */
  readonly project: string;
  /** The folder of the program. Packages are resolved from here. */
  readonly folder: string;
  /** The language in the project file. Every language except `nodejs` uses the plugin. */
  readonly runtime: string;
  /** This package, under the name that state refers to. */
  readonly own: Installed | undefined;
  readonly sdk: Installed | undefined;
}

/** Returns the program of the Pulumi project in this folder or above it. */
export function findProgram(from: string): Program | undefined {
  const projectFile = findProjectFile(from);
  if (projectFile === undefined) return undefined;
  const folder = programFolder(projectFile);
  const hasHandlers = resolveFrom(folder, `${ownPackage().name}/handlers`) !== undefined;
  return {
    project: path.dirname(projectFile),
    folder,
    runtime: runtimeIn(projectFile),
    own: hasHandlers ? findInstalled(folder, ownPackage().name) : undefined,
    sdk: findInstalled(folder, PULUMI_SDK),
  };
}

/** The reason for skipping the checks of a program. */
export const NO_PROJECT = "there is no Pulumi project in this folder or above it";

const usesPlugin = ({ runtime }: Program): CheckResult => skipped(`a program in ${runtime} uses the plugin`);

/** Checks that the program can load a supported version of `@pulumi/pulumi`. */
export function checkPulumiSdk(program: Program | undefined): CheckResult {
  if (!program) return skipped(NO_PROJECT);
  if (program.runtime !== "nodejs") return usesPlugin(program);
  const range = ownPackage().peerDependencies[PULUMI_SDK];
  const fix = `In ${program.folder}: npm install "${PULUMI_SDK}@${range}"`;
  if (!program.sdk) return failed(`${PULUMI_SDK} cannot be loaded from ${program.folder}`, fix);
  const { version } = program.sdk;
  return isInRange(version, range) ? ok(version) : failed(`${version}, but ${range} is required`, fix);
}

/**
 * Checks that the program can load `pulumi-serverless-gpu/handlers`, which state refers to, from a
 * direct dependency.
 */
export function checkPackage(program: Program | undefined): CheckResult {
  if (!program) return skipped(NO_PROJECT);
  if (program.runtime !== "nodejs") return usesPlugin(program);
  const { name } = ownPackage();
  const fix = `State names it, so refresh and destroy also need it. In ${program.folder}: npm install ${name}`;
  if (!program.own) return failed(`${name} cannot be loaded from ${program.folder}`, fix);
  const packageJson = findUpwards(program.folder, ["package.json"]);
  if (packageJson !== undefined && isListed(packageJson, name))
    return ok(`${program.own.version}, a direct dependency`);
  const reason = packageJson === undefined ? "there is no package.json" : `${packageJson} does not list it`;
  return warning(`${name} is at ${program.own.folder}, but ${reason}`, fix);
}

/**
 * Checks that the program and this command use the same version, and that no package is installed
 * twice.
 */
export function checkVersions(program: Program | undefined): CheckResult {
  if (!program) return skipped(NO_PROJECT);
  if (program.runtime !== "nodejs") return usesPlugin(program);
  if (!program.own || !program.sdk) return skipped("a package is not installed");
  const { name, version } = ownPackage();
  if (program.own.version !== version) {
    return warning(
      `the program uses ${name} ${program.own.version}, but this command has version ${version}`,
      `Run the program's own command, in ${program.folder}: npx pulumi-serverless-gpu doctor`,
    );
  }
  const sdkOfPackage = findInstalled(program.own.folder, PULUMI_SDK);
  if (sdkOfPackage?.folder !== program.sdk.folder) {
    return failed(
      `the program loads ${PULUMI_SDK} from ${program.sdk.folder}, ${name} from ${sdkOfPackage?.folder ?? "nowhere"}`,
      `Install both in the same place, so that there is one ${PULUMI_SDK}: run npm dedupe, or do not link ${name}.`,
    );
  }
  return ok(`${name} ${version} in program and command, one ${PULUMI_SDK}`);
}

/**
 * Returns the program's folder. `main` in the project file names either the folder or a file in it.
 */
function programFolder(projectFile: string): string {
  const main = /^(?:main|\s*"main")\s*:\s*["']?([^"'#,\r\n]+)/m.exec(readFileSync(projectFile, "utf8"))?.[1]?.trim();
  const program = path.resolve(path.dirname(projectFile), main ?? ".");
  return statSync(program, { throwIfNoEntry: false })?.isFile() ? path.dirname(program) : program;
}

/**
 * Returns the runtime's name. The project file contains it as a string or as the `name` of an
 * object.
 */
function runtimeIn(projectFile: string): string {
  const runtime = /^\s*"?runtime"?\s*:\s*(?:\{?\s*"?name"?\s*:\s*)?["']?(dotnet|go|java|python|yaml)\b/m;
  return runtime.exec(readFileSync(projectFile, "utf8"))?.[1] ?? "nodejs";
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
