import { readFileSync } from "node:fs";
import type { ParseArgsConfig } from "node:util";
import {
  type EmulatorClock,
  type EmulatorOptions,
  loadHandlers,
  manualClock,
  type Seed,
  scaledClock,
  systemClock,
} from "../../emulator";
import { systemReason } from "../../emulator/io/systemReason";
import { UsageError } from "../command";

/** The options that say what emulator to start, for `node:util` parseArgs. */
export const emulatorFlags = {
  port: { type: "string" },
  host: { type: "string" },
  profile: { type: "string" },
  seed: { type: "string" },
  data: { type: "string" },
  handlers: { type: "string" },
  clock: { type: "string" },
  "drain-ms": { type: "string" },
  "cold-start-ms": { type: "string" },
  "worker-quota": { type: "string" },
  discount: { type: "string" },
  "restricted-key": { type: "string" },
  "random-seed": { type: "string" },
  "no-rate-limits": { type: "boolean" },
  "remote-webhooks": { type: "boolean" },
} as const satisfies ParseArgsConfig["options"];

/** What they mean, for the help of the commands that take them. */
export const emulatorFlagsHelp = `  --port N            the port to listen at (default: any free one)
  --host ADDRESS      the address to listen at (default: 127.0.0.1, this machine only)
  --profile NAME      contract or observed: which reading of the service to play (default: contract)
  --seed FILE         JSON with the endpoints, pods and templates that exist from the start
  --data FILE         keep endpoints, jobs and pods in this file, and go on from it
  --handlers FOLDER   what workers do: <endpoint name or template id>.js exports a function (default: they echo)
  --clock CLOCK       real, manual (time passes on request), or a number: that many times faster (default: real)
  --drain-ms N        how long a worker takes to leave after a scale-down (default: 1000)
  --cold-start-ms N   how long a worker takes to start (default: 200)
  --worker-quota N    largest sum of workersMax over all endpoints (default: none)
  --discount F,T,D    the account's discount: factor, type, expiration date, such as 0.8,volume,2027-01-01 (default: none)
  --restricted-key K  a second key that is known and may do nothing (default: none)
  --random-seed N     make ids and chance the same in every run
  --no-rate-limits    answer everything, never 429
  --remote-webhooks   deliver webhooks to other machines too`;

type Values = {
  readonly [K in keyof typeof emulatorFlags]?: (typeof emulatorFlags)[K]["type"] extends "boolean" ? boolean : string;
};

/** Throws a UsageError that names the option when its value makes no sense. */
export function emulatorOptionsOf(values: Values): EmulatorOptions {
  return {
    port: numberOf(values, "port", 65_535),
    host: values.host,
    profile: profileOf(values.profile),
    seed: values.seed === undefined ? undefined : readSeed(values.seed),
    dataFile: values.data,
    handlers: values.handlers === undefined ? undefined : loadHandlers(values.handlers),
    clock: clockOf(values.clock),
    drainMs: numberOf(values, "drain-ms"),
    coldStartMs: numberOf(values, "cold-start-ms"),
    workerQuota: numberOf(values, "worker-quota"),
    serverlessDiscount: discountOf(values.discount),
    restrictedApiKey: restrictedKeyOf(values["restricted-key"]),
    randomSeed: numberOf(values, "random-seed"),
    rateLimits: values["no-rate-limits"] ? { limits: "off" } : undefined,
    remoteWebhooks: values["remote-webhooks"],
  };
}

function numberOf(
  values: Values,
  name: "port" | "drain-ms" | "cold-start-ms" | "worker-quota" | "random-seed",
  max = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`--${name} takes a whole number from 0 to ${max}, not "${text}".`);
}

function profileOf(text: string | undefined): EmulatorOptions["profile"] {
  if (text === undefined || text === "contract" || text === "observed") return text;
  throw new UsageError(`--profile takes contract or observed, not "${text}".`);
}

function discountOf(text: string | undefined): EmulatorOptions["serverlessDiscount"] {
  if (text === undefined) return undefined;
  const [factor = "", type = "", expirationDate = "", ...more] = text.split(",");
  const isWellFormed = more.length === 0 && type !== "" && !Number.isNaN(Date.parse(expirationDate));
  if (isWellFormed && /^\d+(\.\d+)?$/.test(factor)) return { discountFactor: Number(factor), type, expirationDate };
  throw new UsageError(`--discount takes factor,type,expiration date, such as 0.8,volume,2027-01-01, not "${text}".`);
}

function restrictedKeyOf(text: string | undefined): string | undefined {
  if (text === undefined || /^\S+$/.test(text)) return text;
  throw new UsageError("--restricted-key takes a key without blanks.");
}

function clockOf(text = "real"): EmulatorClock {
  if (text === "real") return systemClock;
  if (text === "manual") return manualClock();
  const factor = Number(text);
  if (text !== "" && factor >= 1 && Number.isFinite(factor)) return scaledClock(factor);
  throw new UsageError(`--clock takes real, manual or a number of 1 or more, not "${text}".`);
}

function readSeed(file: string): Seed {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(
      `--seed ${file} ${cause instanceof SyntaxError ? "holds no JSON" : "cannot be read"}: ${systemReason(cause)}`,
      { cause },
    );
  }
}
