import { parseArgs } from "node:util";
import { startEmulator } from "../emulator";

const usage = `Usage: serverless-gpu emulator [options]

Runs the emulator until it is interrupted (Ctrl-C), and prints its address and the environment to use it with.

Options:
  --port N        the port to listen at (default: any free one)
  --host ADDRESS  the address to listen at (default: 127.0.0.1)
  --json          print one line of JSON: {"url", "env"}
  --help`;

export async function runEmulator(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: "string", default: "0" },
      host: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false, short: "h" },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const emulator = await startEmulator({ port: portOf(values.port), host: values.host });
  process.stdout.write(
    values.json ? `${JSON.stringify({ url: emulator.url, env: emulator.env })}\n` : described(emulator),
  );
  await interrupted();
  await emulator.stop();
  return 0;
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`--port takes a number from 0 to 65535, not "${text}".`);
  return port;
}

function described({ url, env }: { url: string; env: Readonly<Record<string, string>> }): string {
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return `# The emulator listens at ${url} until it is interrupted.\n${exports.join("")}`;
}

/** For a POSIX shell. */
function quoted(value: string): string {
  return /^[\w:/.-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
