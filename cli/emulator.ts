import { parseArgs } from "node:util";
import { startEmulator } from "../emulator";
import { runEmulatorExec } from "./emulatorExec";
import { emulatorFlags, emulatorFlagsHelp, emulatorOptionsOf } from "./emulatorOptions";

const usage = `Usage: serverless-gpu emulator [options]
       serverless-gpu emulator exec [options] -- <command>

Runs the emulator until it is interrupted (Ctrl-C), and prints its address and the environment to use it with.
With exec: runs the command with that environment, stops the emulator when it ends, and hands on its exit code.

${emulatorFlagsHelp}
  --json              print one line of JSON: {"url", "env"} (not with exec)

Examples:
  serverless-gpu emulator --port 8080 --seed fleet.json
  serverless-gpu emulator exec -- npm test`;

export async function runEmulator(args: string[]): Promise<number> {
  if (args[0] === "exec") return runEmulatorExec(args.slice(1), usage);
  const { values } = parseArgs({ args, options: { ...emulatorFlags, json: { type: "boolean" } } });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const interrupted = interruption();
  const emulator = await startEmulator(emulatorOptionsOf(values));
  process.stdout.write(values.json ? `${JSON.stringify({ url: emulator.url, env: emulator.env })}\n` : told(emulator));
  await interrupted;
  await emulator.stop();
  return 0;
}

function told({ url, env }: { url: string; env: Readonly<Record<string, string>> }): string {
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return `# The emulator listens at ${url} until it is interrupted. Look inside: ${url}/_emulator/\n${exports.join("")}`;
}

/** For a POSIX shell. */
function quoted(value: string): string {
  return /^[\w:/.-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
