import { execFile } from "node:child_process";
import { mkdtemp, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../support/sources";

export const BIN = path.join(REPOSITORY, "node_modules/.bin");

/** Runs a command to its end. Throws, with its output, when it fails. */
export const run = (file: string, args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) =>
  promisify(execFile)(file, args, { maxBuffer: 64_000_000, ...options });

/** A folder outside the repository, from which nothing in the repository can be found. */
export const createFolder = () => mkdtemp(path.join(tmpdir(), "serverless-gpu-package-"));

/** Packs the built package as it is published. Returns the tarball's path. */
export async function packInto(folder: string): Promise<string> {
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: REPOSITORY });
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  return path.join(folder, tarball ?? "");
}

const INSTALL = {
  npm: { file: "npm", args: ["install", "--no-audit", "--no-fund"] },
  pnpm: { file: path.join(BIN, "pnpm"), args: ["install", "--no-frozen-lockfile"] },
} as const;

export type PackageManager = keyof typeof INSTALL;

/**
 * Installs packages, by name and version or file, into an empty folder, as its direct dependencies.
 */
export async function install(
  manager: PackageManager,
  folder: string,
  dependencies: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<void> {
  await writeFile(
    path.join(folder, "package.json"),
    JSON.stringify({ name: "test", version: "1.0.0", private: true, dependencies }),
  );
  const { file, args } = INSTALL[manager];
  await run(file, [...args, "--ignore-scripts", "--prefer-offline", ...flags], { cwd: folder });
}

/**
 * Starts an emulator, uses the client, prints what it found as JSON. Put behind the lines that load
 * `SDK_NAMES`.
 */
const SDK_PROGRAM = `
  const emulator = await startEmulator({ profile: "contract", coldStartMs: 0 });
  const client = createClient({ ...settingsFromEnvironment(emulator.env) });
  const { id } = await client.endpoints.create({ name: "a", gpuIds: "AMPERE_16", templateId: "t", workersMin: 1 });
  const { output } = await client.endpoint(id).runSync({ input: { hello: "world" } });
  const error = await client.pods.get("nowhere").catch((error) => error);
  console.log(JSON.stringify([output, error instanceof NotFoundError, typeof SubmitUncertainError]));
  await client.close();
  await emulator.stop();
`;
const SDK_NAMES = "{ createClient, NotFoundError, settingsFromEnvironment, SubmitUncertainError }";
export const SDK_EXPECTED = [{ hello: "world" }, true, "function"];

/** The complete programs, with `require` and with `import`. */
export const SDK_PROGRAMS = {
  "sdk.cjs": `
    const ${SDK_NAMES} = require("pulumi-serverless-gpu/sdk");
    const { startEmulator } = require("pulumi-serverless-gpu/emulator");
    (async () => {${SDK_PROGRAM}})();`,
  "sdk.mjs": `
    import ${SDK_NAMES} from "pulumi-serverless-gpu/sdk";
    import { startEmulator } from "pulumi-serverless-gpu/emulator";
    ${SDK_PROGRAM}`,
} as const;

/**
 * Writes a program into a folder, runs it with a Node.js, and returns what it prints, read as JSON.
 */
export async function runProgram(folder: string, name: string, text: string, node = "node"): Promise<unknown> {
  await writeFile(path.join(folder, name), text);
  return JSON.parse((await run(node, [name], { cwd: folder })).stdout);
}
