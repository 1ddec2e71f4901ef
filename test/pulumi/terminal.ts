import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { REPOSITORY } from "../support/sources";
import { killProcessesIn } from "./processes";

/**
 * The output of a block of commands, in order, from both streams, and the exit code of its last
 * command.
 */
export interface Printed {
  readonly exitCode: number;
  readonly output: string;
}

/**
 * A shell that keeps its folder, environment and nested shells from one block to the next, as in a
 * terminal.
 */
export interface Terminal {
  /** The folder in which the shell starts. It stands for a clone, and has the clone's scripts. */
  readonly folder: string;
  type(commands: string): Promise<Printed>;
  /** Ends the shell and everything in its folder. */
  close(): Promise<void>;
}

const END = "--end-of-block--";
const ENDED = /--end-of-block--(\d+)\r?\n/;

/** How each shell starts without the user's settings. */
const SHELLS = { bash: ["--noprofile", "--norc"], zsh: ["-f", "-i"] } as const;

/** Opens a terminal with only the engine on PATH, and its own home folder. */
export async function openTerminal(shellName: keyof typeof SHELLS = "bash"): Promise<Terminal> {
  const { binDir } = await ensurePulumi({ log: () => {} });
  const scratch = await mkdtemp(path.join(tmpdir(), "terminal-"));
  const folder = path.join(scratch, "pulumi-serverless-gpu");
  const programs = path.join(folder, "node_modules/.bin");
  await Promise.all([mkdir(programs, { recursive: true }), mkdir(path.join(scratch, "home"))]);
  const scripts = { shell: `node ${path.join(REPOSITORY, "tools/shell/main.js")}` };
  await writeFile(path.join(folder, "package.json"), JSON.stringify({ scripts }));
  // In a clone, npx finds the clone's own command.
  await symlink(path.join(REPOSITORY, "dist/cli/main.js"), path.join(programs, "pulumi-serverless-gpu"));
  const env = {
    SHELL: shellName,
    PATH: binDir + path.delimiter + process.env.PATH,
    HOME: path.join(scratch, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    npm_config_update_notifier: "false",
    // Skip the type check, because test/docs checks the programs of the pages.
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  };
  const shell = spawn(shellName, SHELLS[shellName], { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
  shell.stdin.write("exec 2>&1\n");
  return {
    folder,
    type(commands) {
      const printed = untilEnd(shell);
      shell.stdin.write(`${commands}\necho "${END}$?"\n`);
      return printed;
    },
    async close() {
      shell.kill("SIGKILL");
      await killProcessesIn(scratch);
      await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function untilEnd({ stdout }: ChildProcess): Promise<Printed> {
  return new Promise((resolve, reject) => {
    if (!stdout) throw new Error("the shell has no output");
    let output = "";
    const onEnd = () => reject(new Error(`the shell has ended: ${output}`));
    const onData = (chunk: string) => {
      output += chunk;
      // An interactive shell may also print the typed line, which contains the variable and not its
      // value.
      const [whole, exitCode] = ENDED.exec(output) ?? [];
      if (whole === undefined) return;
      stdout.off("data", onData).off("end", onEnd);
      resolve({ exitCode: Number(exitCode), output: output.slice(0, output.indexOf(whole)) });
    };
    stdout.setEncoding("utf8").on("data", onData).on("end", onEnd);
  });
}
