import { spawn } from "node:child_process";
import { constants } from "node:os";
import { startEmulator } from "../../emulator";
import { type Command, parseOptions, UsageError } from "../command";
import { emulatorFlags, emulatorFlagsHelp, emulatorOptionsOf } from "./emulatorOptions";
import { endOfNpm } from "./emulatorParent";

const help = `Usage: serverless-gpu emulator exec [options] -- <command>

Starts an emulator, runs the command with the environment that leads to it, and stops it when the command ends.

Options:
${emulatorFlagsHelp}
  --help, -h          show this help

Examples:
  serverless-gpu emulator exec -- npm test
  serverless-gpu emulator exec --seed fleet.json -- pulumi up --yes

Exit codes:
  the command's own, when it was run
  128 + N  signal N ended the command
  127      the command could not be started
  1        the emulator could not be started; the message says why
  2        wrong usage: an unknown option, a value that an option does not take, or no command`;

/** `emulator exec [options] -- <command>`: the emulator lives as long as the command. */
export const emulatorExec: Command = {
  name: "emulator exec",
  summary: "Run a command with an emulator of its own",
  help,
  run,
};

async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseOptions(args, emulatorFlags, true);
  const [command, ...commandArgs] = positionals;
  if (command === undefined) throw new UsageError("name the command to run after --, as in: emulator exec -- npm test");
  await using emulator = await startEmulator(emulatorOptionsOf(values));
  return await runCommand(command, commandArgs, { ...process.env, ...emulator.env });
}

/** A command that a signal ended has 128 and the signal's number as its code, one that cannot be started 127, as in a shell. */
function runCommand(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { env, stdio: "inherit" });
  // A terminal sends Ctrl-C to the command as well; whatever else comes is handed on. Both then wait for its end.
  const onInterrupt = () => {};
  const onTerminate = () => child.kill("SIGTERM");
  const onHangup = () => child.kill("SIGHUP");
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  process.on("SIGHUP", onHangup);
  void endOfNpm().then(onTerminate);
  return new Promise<number>((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`serverless-gpu emulator exec: ${command} cannot be started: ${reasonOf(error)}\n`);
      resolve(127);
    });
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  }).finally(() => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
    process.off("SIGHUP", onHangup);
  });
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return "there is no such program on PATH";
  return error.code === "EACCES" ? "the file is not executable" : error.message;
}
