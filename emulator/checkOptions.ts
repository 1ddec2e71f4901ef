import { z } from "zod";
import { systemClock } from "../sdk/contract/clock";
import { RATE_LIMITS } from "../sdk/contract/limits";
import { validate } from "./io/validate";
import type { LimitedOperation } from "./jobs/rateLimits";
import type { EmulatorOptions } from "./options";
import { checkProgram, type WorkerProgram } from "./programs/program";
import type { EmulatorClock } from "./time/virtualClock";
import { isHttpHandler } from "./workers/httpHandler";

/** Allows Infinity, which means no limit or never, but not NaN. */
const zeroOrMore = z.custom<number>((value) => typeof value === "number" && value >= 0, "must be a number, 0 or more");
const isProgram = (value: unknown): value is WorkerProgram =>
  typeof value === "object" && value !== null && "command" in value;
const aFunction = (value: unknown) => typeof value === "function";

const handlers = z.custom<object>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(
      (handler) => handler === undefined || aFunction(handler) || isHttpHandler(handler) || isProgram(handler),
    ),
  "must be an object that maps the name, the template id or the id of an endpoint to a function, an HTTP handler or a program; " +
    "{ default: … } is for all others",
);

const clock = z.custom<object>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    ["now", "monotonic", "schedule"].every((name) => aFunction((value as Record<string, unknown>)[name])),
  "must be manualClock(), scaledClock(factor) or systemClock",
);

const limit = z.strictObject({ perWindow: zeroOrMore.optional(), concurrent: zeroOrMore.optional() });
const requests = z.int().min(1).optional();
const managementLimits = z.strictObject({ perMinute: requests, perHour: requests, perDay: requests });
const operations = Object.keys(RATE_LIMITS) as [LimitedOperation, ...LimitedOperation[]];

const schema = z.strictObject({
  port: z.int().min(0).max(65_535).optional(),
  host: z.string().min(1).optional(),
  profile: z.enum(["contract", "observed"]).optional(),
  apiKey: z.string().min(1).optional(),
  restrictedApiKey: z.string().min(1).optional(),
  drainMs: zeroOrMore.optional(),
  coldStartMs: zeroOrMore.optional(),
  templates: z.array(z.string().min(1)).optional(),
  strictReferences: z.boolean().optional(),
  takenTemplateNames: z.array(z.string()).optional(),
  reserveTemplateNames: z.boolean().optional(),
  templateReleaseMs: zeroOrMore.optional(),
  keepBoundTemplates: z.boolean().optional(),
  staleFlashBoot: z.boolean().optional(),
  volumeDataCenters: z.array(z.string().min(1)).optional(),
  graphqlEnded: z.enum(["410", "404", "redirect"]).optional(),
  workerQuota: zeroOrMore.optional(),
  spendLimit: zeroOrMore.optional(),
  serverlessDiscount: z
    .looseObject({ discountFactor: z.number(), type: z.string(), expirationDate: z.string() })
    .nullish(),
  // The account checks the seed and reports what is wrong with it.
  seed: z.unknown().optional(),
  dataFile: z.string().min(1).optional(),
  randomSeed: z.number().optional(),
  handlers: handlers.optional(),
  onWorkerOutput: z.custom<object>(aFunction, "must be a function").optional(),
  onRequest: z.custom<object>(aFunction, "must be a function").optional(),
  rateLimits: z
    .strictObject({
      limits: z.union([z.enum(["real", "off"]), z.partialRecord(z.enum(operations), limit.optional())]).optional(),
      requestsPerWorker: zeroOrMore.optional(),
      management: z.union([z.enum(["real", "off"]), managementLimits]).optional(),
      graphql: z.union([z.enum(["real", "off"]), managementLimits]).optional(),
    })
    .optional(),
  remoteWebhooks: z.boolean().optional(),
  clock: clock.optional(),
} satisfies Record<keyof EmulatorOptions, z.ZodType>);

/**
 * Throws a TypeError that names every invalid option. The compiler does not catch mistakes in
 * JavaScript or misspelled names.
 */
export function checkOptions(options: EmulatorOptions): void {
  validate(schema, options, "The argument of startEmulator");
  const programs = Object.entries(options.handlers ?? {}).filter(([, handler]) => isProgram(handler));
  for (const [name, program] of programs) checkProgram(program, `The program handlers.${name}`);
  const [first] = programs;
  if (first) assertRunsPrograms(first[0], options.clock);
}

/** A program runs in real time and ends with its process group. */
function assertRunsPrograms(name: string, clock: EmulatorClock = systemClock): void {
  if (process.platform === "win32") {
    throw new TypeError(`handlers.${name} is a program. The emulator runs worker programs on Linux and macOS only.`);
  }
  if (clock === systemClock) return;
  const kind = "advance" in clock ? "a manual clock" : "a clock that is not the machine's";
  throw new TypeError(
    `handlers.${name} is a program, which runs in real time, but this emulator has ${kind}. ` +
      "Start the emulator with the real clock, or give it a function as the handler.",
  );
}
