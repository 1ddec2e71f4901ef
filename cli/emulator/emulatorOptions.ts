import { readFileSync } from "node:fs";
import {
  type EmulatorClock,
  type EmulatorOptions,
  manualClock,
  type Seed,
  scaledClock,
  systemClock,
} from "../../emulator";
import { systemReason } from "../../emulator/io/systemReason";
import type { EmulatorFlags } from "./emulatorFlags";

/** Converts command-line options to `startEmulator` options, without the handlers. */
export function emulatorOptionsOf(flags: EmulatorFlags): EmulatorOptions {
  const { port, host, profile, seed, data, clock, discount, key, restrictedKey, rateLimits } = flags;
  const { drainMs, coldStartMs, graphqlEnded, workerQuota, spendLimit, randomSeed, remoteWebhooks } = flags;
  const { strictReferences, templateReleaseMs, staleFlashboot } = flags;
  return {
    port,
    host,
    profile,
    drainMs,
    coldStartMs,
    graphqlEnded,
    workerQuota,
    spendLimit,
    randomSeed,
    remoteWebhooks,
    strictReferences,
    templateReleaseMs,
    staleFlashBoot: staleFlashboot,
    seed: seed === undefined ? undefined : readSeed(seed),
    dataFile: data,
    clock: clockOf(clock),
    serverlessDiscount: discount,
    apiKey: key,
    restrictedApiKey: restrictedKey,
    rateLimits: rateLimits ? undefined : { limits: "off" },
  };
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
