import { startEmulator } from "../../emulator";
import { type Command, EXIT_CODES, parseOptions } from "../command";
import { emulatorFlags, emulatorFlagsHelp, emulatorOptionsOf } from "./emulatorOptions";
import { endOfNpm } from "./emulatorParent";

const help = `Usage: serverless-gpu emulator [options]
       serverless-gpu emulator exec [options] -- <command>

Runs the emulator until it is interrupted (Ctrl-C), and prints its address and the environment to use it with. With
"exec" it lives only as long as a command: see "serverless-gpu emulator exec --help". Started by npx or an npm script, it
ends with that, however that ends; started without npm, it goes on when its shell ends.

Options:
${emulatorFlagsHelp}
  --json              print one line of JSON instead: {"url", "env"}
  --help, -h          show this help

Examples:
  serverless-gpu emulator
  serverless-gpu emulator --port 8080 --seed fleet.json --data emulator.json
  serverless-gpu emulator --clock manual --profile observed --json

${EXIT_CODES}
An interruption is no failure.`;

/** `emulator`: runs until SIGINT or SIGTERM, or until the npm that started it ends. */
export const emulator: Command = {
  name: "emulator",
  summary: "Run the emulator of the service on a local port",
  help,
  run,
};

async function run(args: string[]): Promise<number> {
  const { values } = parseOptions(args, { ...emulatorFlags, json: { type: "boolean" } });
  const interrupted = interruption();
  const running = await startEmulator(emulatorOptionsOf(values));
  process.stdout.write(values.json ? `${JSON.stringify({ url: running.url, env: running.env })}\n` : told(running));
  await Promise.race([interrupted, endOfNpm()]);
  await running.stop();
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
