import type { EmulatorFlags } from "./emulatorFlags";
import { endOfNpm } from "./emulatorParent";
import { describeEnvironment } from "./environment";
import { startFromFlags } from "./startFromFlags";

/**
 * Runs an emulator until SIGINT, SIGTERM, or the exit of the npm process that started it. Returns
 * the exit code.
 */
export async function emulator(flags: EmulatorFlags & { readonly json?: boolean }): Promise<number> {
  const interrupted = interruption();
  const running = await startFromFlags(flags);
  const { url, env } = running;
  process.stdout.write(flags.json ? `${JSON.stringify({ url, env })}\n` : describeEnvironment(running));
  await Promise.race([interrupted, endOfNpm()]);
  const sayLater = setTimeout(sayWaiting, PATIENCE_MS);
  await running.stop().finally(() => clearTimeout(sayLater));
  return 0;
}

/** How long an emulator without busy workers may take to stop, in milliseconds. */
const PATIENCE_MS = 1000;

/** A second interrupt ends this process and kills all workers. */
function sayWaiting(): void {
  process.stderr.write("serverless-gpu emulator: waiting for workers to end. Interrupt again to kill them\n");
}

function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
