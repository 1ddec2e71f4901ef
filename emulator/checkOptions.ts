import { z } from "zod";
import { RATE_LIMITS } from "../sdk/contract/limits";
import { validate } from "./io/validate";
import type { LimitedOperation } from "./jobs/rateLimits";
import type { EmulatorOptions } from "./options";

/** Infinity is one: no limit, or never. NaN is none. */
const zeroOrMore = z.custom<number>(
  (value) => typeof value === "number" && value >= 0,
  "a number of 0 or more is needed",
);
const aFunction = (value: unknown) => typeof value === "function";

const handlers = z.custom<object>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((handler) => handler === undefined || aFunction(handler)),
  "an object of functions is needed, by the name or the template id of an endpoint; { default: … } is for all others",
);

const clock = z.custom<object>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    ["now", "monotonic", "schedule"].every((name) => aFunction((value as Record<string, unknown>)[name])),
  "manualClock(), scaledClock(factor) or systemClock is needed",
);

const limit = z.strictObject({ perWindow: zeroOrMore.optional(), concurrent: zeroOrMore.optional() });
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
  staleFlashBoot: z.boolean().optional(),
  volumeDataCenters: z.array(z.string().min(1)).optional(),
  workerQuota: zeroOrMore.optional(),
  serverlessDiscount: z
    .looseObject({ discountFactor: z.number(), type: z.string(), expirationDate: z.string() })
    .nullish(),
  // The account checks it, and names what is wrong in it.
  seed: z.unknown().optional(),
  dataFile: z.string().min(1).optional(),
  randomSeed: z.number().optional(),
  handlers: handlers.optional(),
  rateLimits: z
    .strictObject({
      limits: z.union([z.enum(["real", "off"]), z.partialRecord(z.enum(operations), limit.optional())]).optional(),
      requestsPerWorker: zeroOrMore.optional(),
    })
    .optional(),
  remoteWebhooks: z.boolean().optional(),
  clock: clock.optional(),
} satisfies Record<keyof EmulatorOptions, z.ZodType>);

/** Throws a TypeError that names every wrong option: JavaScript and a mistyped name pass the compiler. */
export function checkOptions(options: EmulatorOptions): void {
  validate(schema, options, "What startEmulator was given");
}
