import { rm } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import manifest from "../../package.json";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { createStack } from "../pulumi/harness";
import { createFolder, install, type PackageManager, packInto } from "./packed";

/** A program that declares one endpoint, reads it, and prints the Node.js version that runs it. */
const PROGRAM = `
import * as pulumi from "@pulumi/pulumi";
import { GpuTier, getEndpointHealthOutput, getEndpointOutput, ServerlessEndpoint } from "pulumi-serverless-gpu";

const llama = new ServerlessEndpoint("llama", { gpuIds: GpuTier.AMPERE_24, templateId: "t", workersMax: 2 });
const endpointId: pulumi.Output<string> = llama.endpointId;
export const gpuIds = getEndpointOutput({ id: endpointId }).gpuIds;
export const node = (globalThis as any).process.version;
export const runningWorkers = getEndpointHealthOutput({ endpointId }).workers.running;
`;

/**
 * The packages that a program needs in addition to this one. Without `typescript`, Pulumi compiles
 * it with its own, which is 3.8.
 */
interface Versions {
  readonly pulumi: string;
  readonly typescript?: string;
}

/** The versions that this repository is developed with. */
export const DEVELOPED_WITH: Versions = {
  pulumi: manifest.devDependencies["@pulumi/pulumi"],
  typescript: manifest.devDependencies.typescript,
};

/**
 * A Pulumi project outside the repository, into which the packed package was installed, and an
 * emulator for it.
 */
export interface InstalledProject {
  readonly emulator: Emulator;
  /** The project's folder. */
  readonly folder: string;
  /**
   * Runs a command with the project's own binaries first, as its npm scripts do. Throws, with its
   * output, when it fails.
   */
  run(file: string, ...args: string[]): Promise<string>;
  dispose(): Promise<void>;
}

/** @param others further packages, by name and version */
export async function installProject(
  manager: PackageManager,
  { pulumi, typescript }: Versions,
  others: Readonly<Record<string, string>> = {},
): Promise<InstalledProject> {
  const parent = await createFolder();
  const emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const stack = await createStack({ parent, program: PROGRAM, typescript: true, env: emulator.env });
  const { binDir } = await ensurePulumi({ log: () => {} });
  const PATH = [path.join(stack.folder, "node_modules/.bin"), binDir, process.env.PATH].join(path.delimiter);
  const tarball = await packInto(parent);
  await install(manager, stack.folder, {
    "pulumi-serverless-gpu": `file:${tarball}`,
    "@pulumi/pulumi": pulumi,
    ...(typescript && { typescript }),
    ...others,
  });
  return {
    emulator,
    folder: stack.folder,
    async run(file, ...args) {
      const { exitCode, stdout, output } = await stack.exec(file, args, { env: { PATH } });
      if (exitCode !== 0) throw new Error(`${file} ${args.join(" ")} ended with exit code ${exitCode}:\n${output}`);
      return stdout;
    },
    async dispose() {
      await stack.dispose();
      await emulator.stop();
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** Applies the program, checks that everything exists, and destroys it, with the real engine. */
export async function upAndDestroy({ emulator, run }: InstalledProject): Promise<void> {
  const quietly = ["--yes", "--skip-preview", "--non-interactive"];
  await run("pulumi", "up", ...quietly);
  expect(emulator.endpoints.list()).toMatchObject([{ gpuIds: "AMPERE_24", workersMax: 2 }]);
  expect(JSON.parse(await run("pulumi", "stack", "output", "--json"))).toEqual({
    gpuIds: "AMPERE_24",
    node: (await run("node", "--version")).trim(),
    runningWorkers: 0,
  });
  await run("pulumi", "preview", "--refresh", "--expect-no-changes", "--non-interactive");
  await run("pulumi", "destroy", ...quietly);
  expect(emulator.endpoints.list()).toEqual([]);
}
