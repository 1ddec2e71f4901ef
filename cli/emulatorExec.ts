import { spawn } from "node:child_process";
import { constants } from "node:os";
import { parseArgs } from "node:util";
import { startEmulator } from "../emulator";
import { emulatorFlags, emulatorOptionsOf } from "./emulatorOptions";

/** `emulator exec [options] -- <command>`: the emulator lives as long as the command. Returns the command's exit code. */
export async function runEmulatorExec(args: string[], usage: string): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: emulatorFlags, allowPositionals: true });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const [command, ...commandArgs] = positionals;
  if (command === undefined) {
    process.stderr.write(`serverless-gpu emulator exec: name a command after --, as in: exec -- npm test\n`);
    return 2;
  }
  await using emulator = await startEmulator(emulatorOptionsOf(values));
  return await run(command, commandArgs, { ...process.env, ...emulator.env });
}

/** A command that a signal ended has 128 and the signal's number as its code, one that cannot be started 127, as in a shell. */
function run(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { env, stdio: "inherit" });
  // A terminal sends Ctrl-C to the command as well; whatever else comes is handed on. Both then wait for its end.
  const onInterrupt = () => {};
  const onTerminate = () => child.kill("SIGTERM");
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return new Promise<number>((resolve) => {
    child.once("error", (error) => {
      process.stderr.write(`serverless-gpu emulator exec: ${command} cannot be started: ${error.message}\n`);
      resolve(127);
    });
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  }).finally(() => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
  });
}
