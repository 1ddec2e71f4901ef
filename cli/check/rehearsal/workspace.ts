import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import type { Emulator } from "../../../emulator";
import { API_VARIABLE } from "../../../sdk/connection/settings";
import { REHEARSAL_VARIABLES } from "../../../sdk/transport/rehearsal";
import { findProjectFile, projectField } from "../../connection/projectFile";
import { ownPackage } from "../../ownPackage";
import { markOwner, PREFIX, removeLeftovers } from "./leftovers";

/** The temporary folders of a rehearsal, and the environment of all processes that it starts. */
export interface Workspace {
  /** The folder of the real project, which the rehearsal only reads. */
  readonly project: string;
  /** The project's name. */
  readonly name: string;
  /** The folder of the program, in which the engine starts providers. */
  readonly program: string;
  /** A folder with a copy of the project file and of the stack's config. */
  readonly copy: string;
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/**
 * The only environment variables that the program and the engine inherit. None of them contains a
 * key or backend credentials.
 */
const PASSED = [
  "PATH",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TERM",
  "SystemRoot",
  "ComSpec",
  "PATHEXT",
  "VIRTUAL_ENV",
  "JAVA_HOME",
  "DOTNET_ROOT",
  "GOROOT",
  "NODE_PATH",
  "NODE_COMPILE_CACHE",
  "SERVERLESS_GPU_SERVICE",
  API_VARIABLE,
  "SERVERLESS_GPU_ACCEPT_WORDS",
];

/** The variables that no option passes on. */
const OURS = /^(PULUMI_|SERVERLESS_GPU_)/i;

/** Caches of language toolchains. They are in the home folder unless a variable says otherwise. */
const CACHES = { GOPATH: "go", GOCACHE: ".cache/go-build", GOMODCACHE: "go/pkg/mod" };

const PLUGIN = "resource-serverless-gpu-v";
const EXECUTABLE = "pulumi-resource-serverless-gpu";

/**
 * Creates the folders.
 * @param more names of environment variables that the user passes to the program
 * @throws Error if the folder contains no project, or if the emulator has no address
 */
export function createWorkspace(emulator: Pick<Emulator, "url" | "apiKey">, more: readonly string[]): Workspace {
  const refused = more.filter((name) => OURS.test(name));
  if (refused.length > 0)
    throw new Error(
      `--env ${refused.join(" ")}: the rehearsal sets the variables of Pulumi and of this package itself, so that the program has no real key and backend`,
    );
  const projectFile = findProjectFile(process.cwd());
  if (projectFile === undefined)
    throw new Error("there is no Pulumi.yaml here or above: run the command in the program's folder");
  if (emulator.url === "" || emulator.apiKey === "")
    throw new Error("the rehearsal has no emulator, so nothing was started");
  removeLeftovers();
  const root = mkdtempSync(path.join(tmpdir(), PREFIX));
  markOwner(root);
  const folder = (name: string) => path.join(root, name);
  for (const name of ["home", "home/plugins", "cache", "state", "temp", "copy"])
    mkdirSync(folder(name), { mode: 0o700 });
  cpSync(projectFile, path.join(folder("copy"), path.basename(projectFile)));
  linkPlugin(folder("home/plugins"));
  const given = Object.entries(process.env).filter(([name]) => PASSED.includes(name) || more.includes(name));
  const caches = Object.entries(CACHES).map(([name, place]) => [
    name,
    process.env[name] ?? path.join(homedir(), place),
  ]);
  const name = projectField(projectFile, "name") ?? "";
  return {
    name,
    project: path.dirname(projectFile),
    program: programFolder(projectFile),
    copy: folder("copy"),
    env: {
      ...Object.fromEntries([...caches, ...given]),
      HOME: folder("home"),
      PULUMI_HOME: folder("home"),
      TMPDIR: folder("temp"),
      XDG_CACHE_HOME: folder("cache"),
      PULUMI_BACKEND_URL: `file://${folder("state")}`,
      // The passphrase is never saved, so nothing can be decrypted once this process has ended.
      PULUMI_CONFIG_PASSPHRASE: randomBytes(24).toString("hex"),
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PULUMI_IGNORE_AMBIENT_PLUGINS: "true",
      PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "false",
      // The engine also sets these variables when it starts a provider of dynamic resources.
      PULUMI_NODEJS_PROJECT: name,
      PULUMI_PROJECT: name,
      [REHEARSAL_VARIABLES.url]: emulator.url,
      [REHEARSAL_VARIABLES.apiKey]: emulator.apiKey,
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function programFolder(projectFile: string): string {
  const main = path.resolve(path.dirname(projectFile), projectField(projectFile, "main") ?? "");
  return statSync(main, { throwIfNoEntry: false })?.isFile() ? path.dirname(main) : main;
}

/** Makes only this package's plugin available to the engine. */
function linkPlugin(plugins: string): void {
  const installed = path.join(process.env.PULUMI_HOME ?? path.join(homedir(), ".pulumi"), "plugins");
  const names = existsSync(installed) ? readdirSync(installed).filter((name) => name.startsWith(PLUGIN)) : [];
  const folders = names.filter((name) => statSync(path.join(installed, name)).isDirectory());
  for (const name of folders) linkFiles(path.join(plugins, name), path.join(installed, name));
  if (folders.length > 0) return;
  const onPath = (process.env.PATH ?? "").split(path.delimiter).find((each) => existsSync(path.join(each, EXECUTABLE)));
  if (onPath !== undefined) linkFiles(path.join(plugins, PLUGIN + ownPackage().version), onPath, [EXECUTABLE]);
}

/**
 * Links the files of a plugin. The engine does not accept a link for the folder itself, so the
 * folder is real.
 */
function linkFiles(folder: string, from: string, names: readonly string[] = readdirSync(from)): void {
  mkdirSync(folder);
  for (const name of names) symlinkSync(path.join(from, name), path.join(folder, name));
}
