import type { WorkerLine } from "../../emulator";
import type { EmulatorFlags } from "./emulatorFlags";
import { endOfNpm } from "./emulatorParent";
import { describeEnvironment } from "./environment";
import { startFromFlags } from "./startFromFlags";

/** Runs an emulator until SIGINT or SIGTERM, or until the npm process that started it ends. Returns the exit code. */
export async function emulator(flags: EmulatorFlags & { readonly json?: boolean }): Promise<number> {
  const interrupted = interruption();
  const running = await startFromFlags(flags, { onWorkerOutput: print });
  const { url, env } = running;
  process.stdout.write(flags.json ? `${JSON.stringify({ url, env })}\n` : describeEnvironment(running));
  await Promise.race([interrupted, endOfNpm()]);
  await running.stop();
  return 0;
}

/** Shows workers beside each other, by the id of each. */
function print({ workerId, line }: WorkerLine): void {
  process.stderr.write(`[${workerId}] ${line}\n`);
}

function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
