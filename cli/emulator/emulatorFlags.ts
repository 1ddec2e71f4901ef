import { type Command, InvalidArgumentError, Option } from "commander";
import type { EmulatorOptions } from "../../emulator";

/** The command-line options that configure the emulator. */
export interface EmulatorFlags
  extends Pick<
    EmulatorOptions,
    | "port"
    | "host"
    | "profile"
    | "drainMs"
    | "coldStartMs"
    | "graphqlEnded"
    | "workerQuota"
    | "spendLimit"
    | "randomSeed"
    | "templateReleaseMs"
  > {
  readonly seed?: string;
  readonly data?: string;
  readonly handlers?: string;
  /** Worker commands by endpoint name, template id or endpoint id. */
  readonly worker?: Readonly<Record<string, string>>;
  readonly clock?: "real" | "manual" | number;
  readonly discount?: EmulatorOptions["serverlessDiscount"];
  readonly key?: string;
  readonly restrictedKey?: string;
  readonly rateLimits: boolean;
  readonly remoteWebhooks?: boolean;
  readonly strictReferences?: boolean;
  readonly staleFlashboot?: boolean;
  readonly watch?: boolean;
  readonly verbose?: boolean;
}

/** Adds the options that configure the emulator. */
export function addEmulatorFlags(command: Command): Command {
  const readKey = (option: string) => (key: string) =>
    /^\S+$/.test(key) ? key : command.error(`error: option '${option} <key>' takes a key without spaces`);
  return command
    .option("--port <n>", "the port to listen on (default: any free port)", wholeNumberOption(65_535))
    .option("--host <address>", "the IP address or host name to listen on (default: 127.0.0.1, this machine only)")
    .addOption(
      new Option("--profile <name>", "the behavior to emulate (default: observed)").choices(["observed", "contract"]),
    )
    .option(
      "--seed <file>",
      "JSON with the initial records: endpoints, templates, volumes, registryAuths, secrets, pods",
    )
    .option("--data <file>", "keep everything in this file; if it exists, continue from it and ignore --seed")
    .option(
      "--handlers <folder>",
      "worker code: <endpoint name or template id>.js exports a function (default: workers return their input); also .cjs, .mjs, " +
        "and .ts with Node.js 22.18 or later",
    )
    .option("--watch", "reload the handlers when a file in their folder changes")
    .option(
      "--worker <name=command>",
      "a worker program for an endpoint (name, template id or id), such as 'llama=python handler.py'; " +
        "can be repeated; needs the real clock",
      parseWorker,
    )
    .option(
      "--clock <clock>",
      "real, manual (time passes on request), or a speed-up factor (default: real)",
      parseClock,
    )
    .option(
      "--drain-ms <n>",
      "time that a worker takes to stop after a scale-down (default: 1000)",
      wholeNumberOption(),
    )
    .option("--cold-start-ms <n>", "time that a worker takes to start (default: 200)", wholeNumberOption())
    .addOption(
      new Option("--graphql-ended <how>", "how GraphQL responds after its shutdown (default: it is served)").choices([
        "410",
        "404",
        "redirect",
      ]),
    )
    .option("--worker-quota <n>", "limit on the sum of all endpoints' workersMax (default: none)", wholeNumberOption())
    .option(
      "--spend-limit <n>",
      "limit on the cost of all running workers, in US dollars an hour (default: none)",
      dollars,
    )
    .option("--strict-references", "reject references to templates, volumes and registry credentials that do not exist")
    .option(
      "--template-release-ms <n>",
      "time after its last use until a template can be deleted (default: 1000, or 0 in the contract profile)",
      wholeNumberOption(),
    )
    .option("--stale-flashboot", "workers with FLASHBOOT keep the old version of a changed template")
    .option(
      "--discount <f,t,d>",
      "the account's discount: factor, type, expiration date, such as 0.8,volume,2027-01-01 (default: none)",
      parseDiscount,
    )
    .option(
      "--key <key>",
      "the key that clients must send (default: the one in --data, or a random one)",
      readKey("--key"),
    )
    .option(
      "--restricted-key <key>",
      "a second key, which is valid but has no permissions (default: none)",
      readKey("--restricted-key"),
    )
    .option("--random-seed <n>", "make ids and random choices the same on every run", wholeNumberOption())
    .option("--no-rate-limits", "turn off the rate limits: never respond with 429")
    .option("--remote-webhooks", "also deliver webhooks to other machines")
    .option("--verbose", "print one line for each request to standard error");
}

/** Returns a parser for an option that takes a whole number. */
export function wholeNumberOption(max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    if (/^\d+$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(`Give a whole number from 0 to ${max}.`);
  };
}

function dollars(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give US dollars an hour, such as 80.");
}

function parseWorker(text: string, before: EmulatorFlags["worker"] = {}): EmulatorFlags["worker"] {
  const [, name, command] = /^([^=]+)=(.*\S.*)$/s.exec(text) ?? [];
  if (name === undefined || command === undefined) {
    throw new InvalidArgumentError("Give name=command, such as 'llama=python handler.py'.");
  }
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`There is already a worker for "${name}".`);
  return { ...before, [name]: command };
}

function parseDiscount(text: string): EmulatorFlags["discount"] {
  const [factor = "", type = "", expirationDate = "", ...more] = text.split(",");
  const isWellFormed = more.length === 0 && type !== "" && !Number.isNaN(Date.parse(expirationDate));
  if (isWellFormed && /^\d+(\.\d+)?$/.test(factor)) return { discountFactor: Number(factor), type, expirationDate };
  throw new InvalidArgumentError("Give factor,type,expiration date, such as 0.8,volume,2027-01-01.");
}

function parseClock(text: string): EmulatorFlags["clock"] {
  if (text === "real" || text === "manual") return text;
  const factor = Number(text);
  if (text !== "" && factor >= 1 && Number.isFinite(factor)) return factor;
  throw new InvalidArgumentError("Give real, manual, or a number of 1 or more.");
}
