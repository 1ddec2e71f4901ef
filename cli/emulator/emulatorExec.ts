import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { EmulatorFlags } from "./emulatorFlags";
import { endOfNpm } from "./emulatorParent";
import { greeting, opensShell, shellWithPrompt } from "./shell";
import { startFromFlags } from "./startFromFlags";

/**
 * Starts an emulator, runs the command, and stops the emulator when the command ends. Returns the
 * exit code.
 */
export async function emulatorExec(command: readonly string[], flags: EmulatorFlags): Promise<number> {
  const [program = "", ...args] = command;
  await using emulator = await startFromFlags(flags);
  const env = { ...process.env, ...emulator.env };
  if (!opensShell(program, args)) return await runCommand(program, args, env);
  process.stderr.write(greeting(emulator.url, flags.data));
  const shell = shellWithPrompt(program);
  return await runCommand(program, shell.args, { ...env, ...shell.env }).finally(shell.end);
}

/**
 * Runs a command and returns its exit code. As in a shell, that is 128 plus the signal number if a
 * signal ended the command, and 127 if it cannot be started.
 */
function runCommand(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(command, args, { env, stdio: "inherit" });
  // A terminal sends Ctrl-C to the command as well, and SIGTERM is forwarded. Then wait for the
  // command to exit.
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
