import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Artifact, Kept } from "../support/gitHost";
import type { Job } from "../support/gitlabCi";
import type { CommandResult, PulumiStack } from "./harness";

/** The environment in which jobs run. */
interface Runner {
  readonly stack: PulumiStack;
  readonly env: Readonly<Record<string, string>>;
  /** The artifacts that the jobs keep. */
  readonly artifacts: Kept[];
  /** The commit at which the jobs run. */
  readonly commit: string;
  /** Returns the folder of a new clone. */
  checkOut(): Promise<string>;
}

/**
 * Runs the steps of each job, as a CI service does: after a failure, only those that always run.
 * Returns the result of each job.
 */
export async function playJobs(jobs: readonly Job[], { stack, env, artifacts, commit, checkOut }: Runner) {
  const results: Record<string, Pick<CommandResult, "exitCode" | "output">> = {};
  for (const { name, steps } of jobs) {
    const cwd = await checkOut();
    const result = { exitCode: 0 as number | null, output: "" };
    for (const step of steps) {
      // Nothing to install: Node.js finds the packages in the parent folders.
      if (step.command.startsWith("npm ci") || (result.exitCode !== 0 && !step.always)) continue;
      if (step.keeps) {
        artifacts.push({ name: step.keeps.name, commit, files: await filesIn(path.join(cwd, step.keeps.folder)) });
        continue;
      }
      const ended = await stack.exec("bash", ["-e", "-o", "pipefail", "-c", step.command], {
        cwd,
        env: { ...env, ...step.env },
      });
      result.output += ended.output;
      if (!step.always) result.exitCode = ended.exitCode;
    }
    results[name] = result;
  }
  return results;
}

async function filesIn(folder: string): Promise<Artifact> {
  const names = await readdir(folder);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name))] as const)),
  );
}
