import { existsSync } from "node:fs";
import { isIPv6 } from "node:net";
import { type Emulator, startEmulator, type WorkerLine } from "../../emulator";
import { isLoopback } from "../../sdk/contract/loopback";
import type { EmulatorFlags } from "./emulatorFlags";
import { emulatorOptionsOf } from "./emulatorOptions";
import { handlersOf } from "./handlers";
import { requestLine } from "./requestLine";
import { noteRunning } from "./running";
import { watchHandlers } from "./watchHandlers";

/**
 * Starts the emulator that the command-line options describe. Until it stops, `serverless-gpu
 * emulator env` can find it.
 */
export async function startFromFlags(flags: EmulatorFlags): Promise<Emulator> {
  const { seed, data, handlers: folder, worker, watch, verbose } = flags;
  const isSeedIgnored = seed !== undefined && data !== undefined && existsSync(data);
  const handlers = { ...handlersOf(folder, worker) };
  const options = { ...emulatorOptionsOf(flags), handlers, onWorkerOutput: print, ...(verbose && { onRequest: show }) };
  const emulator = await startEmulator(options);
  if (isOpen(flags.host)) {
    say(
      `warning: other machines can reach this emulator, because it listens on ${flags.host}. Requests need its key, but are not encrypted`,
    );
  }
  if (isSeedIgnored)
    say(`--seed ${seed} is not used: ${data} exists, so the emulator continues from it. Remove ${data} to start again`);
  if (watch && folder !== undefined) watchHandlers({ folder, worker, handlers, clock: emulator.clock, say });
  const forget = noteRunning(emulator);
  const stop = () => emulator.stop().finally(forget);
  return { ...emulator, stop, [Symbol.asyncDispose]: stop };
}

function isOpen(host = "127.0.0.1"): boolean {
  return !isLoopback(`http://${isIPv6(host) ? `[${host}]` : host}`);
}

function say(text: string): void {
  process.stderr.write(`serverless-gpu emulator: ${text}\n`);
}

/** Prints a line of worker output, prefixed with the worker's id. */
function print({ workerId, line }: WorkerLine): void {
  process.stderr.write(`[${workerId}] ${line}\n`);
}

function show(request: Parameters<typeof requestLine>[0]): void {
  process.stderr.write(`${requestLine(request, hasColors())}\n`);
}

function hasColors(): boolean {
  return process.stderr.isTTY === true && !process.env.NO_COLOR;
}
