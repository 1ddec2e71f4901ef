import { readFileSync } from "node:fs";
import {
  type EmulatorClock,
  type EmulatorOptions,
  type Handlers,
  loadHandlers,
  manualClock,
  type Seed,
  scaledClock,
  systemClock,
} from "../../emulator";
import { systemReason } from "../../emulator/io/systemReason";
import type { EmulatorFlags } from "./emulatorFlags";

/** Returns the options of `startEmulator` for those of the command line. */
export function emulatorOptionsOf(flags: EmulatorFlags): EmulatorOptions {
  const { port, host, profile, seed, data, handlers, clock, discount, restrictedKey, rateLimits } = flags;
  const { worker, drainMs, coldStartMs, workerQuota, randomSeed, remoteWebhooks } = flags;
  const { strictReferences, templateReleaseMs, staleFlashboot } = flags;
  return {
    ...{ port, host, profile, drainMs, coldStartMs, workerQuota, randomSeed, remoteWebhooks },
    ...{ strictReferences, templateReleaseMs, staleFlashBoot: staleFlashboot },
    seed: seed === undefined ? undefined : readSeed(seed),
    dataFile: data,
    handlers: handlersOf(handlers, worker),
    clock: clockOf(clock),
    serverlessDiscount: discount,
    restrictedApiKey: restrictedKey,
    rateLimits: rateLimits ? undefined : { limits: "off" },
  };
}

/** A worker of the command line and a file of the folder for the same endpoint contradict each other. */
function handlersOf(folder: string | undefined, workers: EmulatorFlags["worker"] = {}): Handlers {
  const handlers = folder === undefined ? {} : loadHandlers(folder);
  const both = Object.keys(workers).find((name) => Object.hasOwn(handlers, name));
  if (both !== undefined)
    throw new Error(`--worker ${both}=… and --handlers ${folder} both handle "${both}": leave one out`);
  const programs = Object.entries(workers).map(([name, command]) => [name, { command }]);
  return { ...handlers, ...Object.fromEntries(programs) };
}

function clockOf(clock: EmulatorFlags["clock"] = "real"): EmulatorClock {
  if (clock === "real") return systemClock;
  return clock === "manual" ? manualClock() : scaledClock(clock);
}

function readSeed(file: string): Seed {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(
      `--seed ${file} ${cause instanceof SyntaxError ? "is not valid JSON" : "cannot be read"}: ${systemReason(cause)}`,
      { cause },
    );
  }
}
