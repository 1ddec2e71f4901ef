import type { Dispatcher } from "undici";
import * as z from "zod";
import {
  type ConnectionSettings,
  ENVIRONMENT_VARIABLES,
  type ExtraWords,
  type ManagementApi,
  managementApi,
  requireApiKey,
  type ServiceName,
  serviceName,
  settingsFromEnvironment,
} from "./config";
import type { Clock } from "./contract/clock";
import { ConfigurationError } from "./errors";
import { nearestWord } from "./nearestWord";
import type { Observers } from "./transport/observers";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./transport/retry";
import type { RateLimitOptions } from "./transport/throttle";

/**
 * Options of a client. Give the key with either `service` or the URLs of the interfaces that you use. Without key,
 * service and URLs, all of them come from the environment.
 */
export interface ClientOptions extends ConnectionSettings, ExtraWords, Observers {
  /** The API key. @default `SERVERLESS_GPU_API_KEY`, if neither service nor URL is given */
  readonly apiKey?: string | undefined;
  /** The name of a known service. It sets all URLs. @default `SERVERLESS_GPU_SERVICE`, if neither key nor URL is given */
  readonly service?: ServiceName | undefined;
  /**
   * The management interface: `graphql`, or `v2` for REST v2, which follows it. Endpoints, templates, volumes, registry
   * credentials and pods are the same over both.
   * @default `SERVERLESS_GPU_API`, else `graphql`
   */
  readonly api?: ManagementApi | undefined;
  /** The limits of each call. @default 6 attempts, 120,000 ms */
  readonly retry?: { readonly [Limit in keyof RetryPolicy]?: RetryPolicy[Limit] | undefined } | undefined;
  /**
   * The longest time of an attempt without data from the service, in milliseconds: > 0. A large request may take longer,
   * by a second for each 64 kB.
   * @default 30,000
   */
  readonly attemptTimeoutMs?: number | undefined;
  /** Settings of the rate limiter of the queue's operations. `"off"`: no limiter. @default the contract's limits */
  readonly rateLimits?: RateLimitOptions | "off" | undefined;
  /**
   * A dispatcher of undici 7, such as an `Agent`, a `ProxyAgent` or a `MockAgent`. The client does not close it, and does
   * not read the proxies in the environment.
   * @default connections of its own
   */
  readonly dispatcher?: Dispatcher | undefined;
  /** The clock, for tests. @default the machine's clock */
  readonly clock?: Clock | undefined;
}

/** Checked options, with defaults. */
export interface CheckedOptions extends Omit<ClientOptions, "retry"> {
  readonly apiKey: string;
  readonly api: ManagementApi;
  readonly retry: RetryPolicy;
  readonly attemptTimeoutMs: number;
}

const text = z.string("must be a string");
const words = z.array(text, "must be a list of strings");
const callback = z.custom((value) => typeof value === "function", "must be a function");
const milliseconds = z.custom(
  (value) => typeof value === "number" && value > 0,
  "must be a number of milliseconds > 0",
);

function withMethods(methods: readonly string[], message: string) {
  const hasAll = (value: unknown) =>
    typeof value === "object" &&
    value !== null &&
    methods.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
  return z.custom(hasAll, message);
}

const BUN_HINT =
  "bun" in process.versions ? '. Bun has a module of its own named "undici": import Agent from "undici/index.js"' : "";

const LEVELS = ["debug", "info", "warn", "error"];

/** Every option, and its shape. `undefined` is the default everywhere. */
const optionsSchema = z.strictObject(
  {
    apiKey: text.optional(),
    service: text.optional(),
    api: text.optional(),
    graphqlUrl: text.optional(),
    restUrl: text.optional(),
    queueUrl: text.optional(),
    extraGpuTiers: words.optional(),
    extraLocations: words.optional(),
    retry: z
      .strictObject(
        {
          maxAttempts: z.int("must be a whole number ≥ 1").min(1, "must be a whole number ≥ 1").optional(),
          maxElapsedMs: milliseconds.optional(),
        } satisfies Record<keyof RetryPolicy, z.ZodType>,
        "must be an object such as { maxAttempts: 3 }",
      )
      .optional(),
    attemptTimeoutMs: milliseconds.optional(),
    rateLimits: z
      .literal("off")
      .or(
        z.strictObject({
          requestsPerWorker: z.int().min(0).optional(),
        } satisfies Record<keyof RateLimitOptions, z.ZodType>),
      )
      .optional(),
    logger: callback.or(withMethods(LEVELS, "")).optional(),
    onRequest: callback.optional(),
    onRetry: callback.optional(),
    onRateLimit: callback.optional(),
    onWarning: callback.optional(),
    dispatcher: withMethods(["dispatch"], `must be a dispatcher of undici, such as new Agent()${BUN_HINT}`).optional(),
    clock: withMethods(["now", "monotonic", "schedule"], "must have now, monotonic and schedule").optional(),
  } satisfies Record<keyof ClientOptions, z.ZodType>,
  "must be an object",
);

/** The messages for options of more than one shape. */
const SHAPES: Readonly<Record<string, string>> = {
  rateLimits: 'must be "off", or an object such as { requestsPerWorker: 2 } with a whole number ≥ 0',
  logger: `must be a function, or an object with the methods ${LEVELS.join(", ")}, such as pino or console`,
};

/**
 * Returns the options with defaults, and with the connection settings of the environment if the options have none. No
 * message shows a value, which may be a key.
 * @throws ConfigurationError with every problem
 */
export function checkOptions(given: ClientOptions = {}): CheckedOptions {
  const checked = optionsSchema.safeParse(given);
  if (!checked.success) {
    const problems = checked.error.issues.flatMap(problemsOf);
    throw new ConfigurationError(`the client's options are not valid: ${problems.join("; ")}`);
  }
  const options = connected(given);
  const { maxAttempts, maxElapsedMs } = given.retry ?? {};
  return {
    ...options,
    service: serviceName(options),
    apiKey: requireApiKey(options),
    api: managementApi(options),
    retry: {
      maxAttempts: maxAttempts ?? DEFAULT_RETRY_POLICY.maxAttempts,
      maxElapsedMs: maxElapsedMs ?? DEFAULT_RETRY_POLICY.maxElapsedMs,
    },
    attemptTimeoutMs: given.attemptTimeoutMs ?? 30_000,
  };
}

function problemsOf(issue: z.core.$ZodIssue): string[] {
  const name = issue.path.join(".");
  const shape = SHAPES[String(issue.path[0])];
  if (shape !== undefined) return [`${String(issue.path[0])} ${shape}`];
  if (issue.code !== "unrecognized_keys") return [`${name || "the argument"} ${issue.message}`];
  const known = name === "" ? Object.keys(optionsSchema.shape) : Object.keys(DEFAULT_RETRY_POLICY);
  return issue.keys.map((key) => {
    const near = nearestWord(key, known);
    return `the option ${JSON.stringify([name, key].filter(Boolean).join("."))} does not exist${near ? `: did you mean ${near}?` : ""}`;
  });
}

const CONNECTION = Object.keys(ENVIRONMENT_VARIABLES) as (keyof ConnectionSettings)[];

/** Returns the options with a connection: that of the options or, as a unit, that of the environment. */
function connected(options: ClientOptions): ClientOptions {
  const isGiven = (settings: ConnectionSettings) => (name: keyof ConnectionSettings) => Boolean(settings[name]?.trim());
  const given = CONNECTION.filter(isGiven(options));
  if (given.length > 0) {
    if (given.includes("apiKey")) return options;
    throw new ConfigurationError(
      `there is no API key: with ${given.join(" and ")} in the options the environment is not read, so that its key ` +
        "goes to no other service. Add apiKey, or put ...settingsFromEnvironment() before them",
    );
  }
  const settings = settingsFromEnvironment();
  const { apiKey, service } = ENVIRONMENT_VARIABLES;
  const urls = CONNECTION.filter((name) => name !== "apiKey" && name !== "service");
  const hasService = ["service" as const, ...urls].some(isGiven(settings));
  const missing = [
    ...(settings.apiKey ? [] : [`no API key (set ${apiKey})`]),
    ...(hasService
      ? []
      : [`no service (set ${service}=runpod, or ${urls.map((name) => ENVIRONMENT_VARIABLES[name]).join(", ")})`]),
  ];
  if (missing.length === 0) return { ...options, ...settings };
  throw new ConfigurationError(`there is ${missing.join(" and ")} in the environment, nor in the client's options`);
}
