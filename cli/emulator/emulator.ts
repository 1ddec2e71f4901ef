import { startEmulator, type WorkerLine } from "../../emulator";
import type { EmulatorFlags } from "./emulatorFlags";
import { emulatorOptionsOf } from "./emulatorOptions";
import { endOfNpm } from "./emulatorParent";

/** Runs an emulator until SIGINT or SIGTERM, or until the npm process that started it ends. Returns the exit code. */
export async function emulator(flags: EmulatorFlags & { readonly json?: boolean }): Promise<number> {
  const interrupted = interruption();
  const running = await startEmulator({ ...emulatorOptionsOf(flags), onWorkerOutput: print });
  const { url, env } = running;
  process.stdout.write(flags.json ? `${JSON.stringify({ url, env })}\n` : describe(running));
  await Promise.race([interrupted, endOfNpm()]);
  await running.stop();
  return 0;
}

/** Shows workers beside each other, by the id of each. */
function print({ workerId, line }: WorkerLine): void {
  process.stderr.write(`[${workerId}] ${line}\n`);
}

function describe({ url, env }: { url: string; env: Readonly<Record<string, string>> }): string {
  const exports = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  return `# The emulator listens on ${url} until you interrupt it. Its page: ${url}/_emulator/\n${exports.join("")}`;
}

/** Quotes a value for a POSIX shell. */
function quoted(value: string): string {
  return /^[\w:/.-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
