import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const REPOSITORY = path.resolve(__dirname, "../..");

/** A fault that is put into a copy of the sources, and the tests that must notice it. */
export interface Mutant {
  /** The mistake of the mutant. */
  readonly name: string;
  /** A source file, such as `sdk/transport/retry.ts`. */
  readonly file: string;
  /** A string that occurs in it once. */
  readonly from: string;
  readonly to: string;
  /** Test files, each of which must fail. With `title`, the tests whose full name matches it. */
  readonly tests: readonly { readonly file: string; readonly title?: string }[];
  /** Builds `dist/` in the copy, which tests with the engine use. @default false */
  readonly built?: boolean;
}

interface Ended {
  readonly exitCode: number | null;
  readonly output: string;
}

/** A copy of the sources, with the installed packages. */
export interface SourceCopy {
  readonly folder: string;
  /** Changes one file. Throws if the string does not occur exactly once. */
  change(mutant: Pick<Mutant, "file" | "from" | "to">): Promise<void>;
  /** Runs a command of an installed package in the copy. Resolves with its exit code and output. */
  run(command: string, ...args: readonly string[]): Promise<Ended>;
  /** Builds `dist/`. @throws Error if the sources do not compile */
  build(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Tests of random sequences do not shrink a failure that is expected. */
const FIRST_FAILURE_ENDS = "FIRST_FAILURE_ENDS";

const LEFT_OUT = new Set(["node_modules", "dist", ".git", ".scratch"]);

/** Copies all sources into a scratch folder. */
export async function copySources(): Promise<SourceCopy> {
  const folder = await mkdtemp(path.join(tmpdir(), "mutant-"));
  await cp(REPOSITORY, folder, {
    recursive: true,
    filter: (source) => !LEFT_OUT.has(path.basename(source)) && !path.basename(source).startsWith(".scratch"),
  });
  await linkPackages(folder);
  return {
    folder,
    async change({ file, from, to }) {
      const source = await readFile(path.join(folder, file), "utf8");
      const times = source.split(from).length - 1;
      if (times !== 1)
        throw new Error(`${file} holds ${JSON.stringify(from)} ${times} times: bring the mutant up to date`);
      await writeFile(
        path.join(folder, file),
        source.replace(from, () => to),
      );
    },
    run: (command, ...args) => execute(folder, path.join(folder, "node_modules/.bin", command), args),
    async build() {
      // A mutant that removes a call leaves unused names.
      const unused = ["--noUnusedLocals", "false", "--noUnusedParameters", "false"];
      for (const [command, ...args] of [
        [path.join(folder, "node_modules/.bin/tsc"), "-p", "tsconfig.build.json", ...unused],
        [process.execPath, "tools/bundlePackage.js"],
        [process.execPath, "tools/buildPlugin.js"],
      ] as const) {
        const { exitCode, output } = await execute(folder, command, args);
        if (exitCode !== 0) throw new Error(`the mutant cannot be built: ${output}`);
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * Links each installed package, and the package itself to the copy: programs of tests with the
 * engine load it by name.
 */
async function linkPackages(folder: string): Promise<void> {
  const installed = path.join(REPOSITORY, "node_modules");
  const linked = path.join(folder, "node_modules");
  await mkdir(linked);
  for (const name of await readdir(installed)) {
    await symlink(name === "pulumi-serverless-gpu" ? folder : path.join(installed, name), path.join(linked, name));
  }
}

function execute(cwd: string, command: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(command, args, {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, [FIRST_FAILURE_ENDS]: "1" },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, output }));
  });
}

/**
 * Runs each of the mutant's tests in a copy of the sources, with or without its fault.
 * @returns how many tests failed and passed in each
 */
export async function runTests(mutant: Mutant, { isMutated }: { readonly isMutated: boolean }): Promise<TestCount[]> {
  await using copy = await copySources();
  if (isMutated) await copy.change(mutant);
  if (mutant.built) await copy.build();
  const counts: TestCount[] = [];
  for (const { file, title } of mutant.tests) {
    const only = title === undefined ? [] : ["--testNamePattern", title];
    const all = ["--config", "jest.all.config.js"];
    const { output } = await copy.run("jest", ...all, "--json", "--silent", "--runTestsByPath", file, ...only);
    counts.push(countOf(output, file));
  }
  return counts;
}

/** The result of the tests of a file. */
export interface TestCount {
  readonly file: string;
  readonly failed: number;
  readonly passed: number;
}

/** A file that could not be run counts as neither: a mutant that does not load proves nothing. */
function countOf(output: string, file: string): TestCount {
  const line = output.split("\n").find((each) => each.startsWith('{"num'));
  if (line === undefined) throw new Error(`${file} did not run: ${output.slice(-2_000)}`);
  const { numFailedTests: failed, numPassedTests: passed } = JSON.parse(line) as Record<string, number>;
  return { file, failed: failed ?? 0, passed: passed ?? 0 };
}
