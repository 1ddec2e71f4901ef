import type { Dispatcher } from "undici";
import type { ExtraWords } from "./connection/acceptedWords";
import { environmentSource, resolveConnection, type SettingsSource } from "./connection/resolver";
import {
  type ApiSettings,
  type ConnectionSettings,
  ENVIRONMENT_VARIABLES,
  type ManagementApi,
  managementApi,
  requireApiKey,
  type ServiceName,
  serviceName,
} from "./connection/settings";
import type { Clock } from "./contract/clock";
import { ConfigurationError, type InputProblem } from "./errors";
import { nearestWord } from "./nearestWord";
import {
  aFunction,
  anObject,
  aString,
  hasMethod,
  type OptionChecks,
  optionCheck,
  positiveMs,
  problemsOfOptions,
  wholeFrom,
} from "./transport/callOptions";
import type { RateLimitOptions } from "./transport/gate";
import type { Observers } from "./transport/observers";
import { headerProblems } from "./transport/requestOptions";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./transport/retryPolicy";

/**
 * Options of a client. Give the key with either `service` or the URLs of the interfaces that you
 * use. Without key, service and URLs, all of them come from the environment.
 */
export interface ClientOptions extends ConnectionSettings, ExtraWords, Observers {
  /** The API key. @default `SERVERLESS_GPU_API_KEY`, if neither service nor URL is given */
  readonly apiKey?: string | undefined;
  /**
   * The name of a known service. It sets all URLs.
   * @default `SERVERLESS_GPU_SERVICE`, if neither
   * key nor URL is given
   */
  readonly service?: ServiceName | undefined;
  /**
   * The management interface: `graphql`, or `v2` for its successor, REST v2. Endpoints, templates,
   * volumes, registry credentials and pods are the same over both.
   * @default `SERVERLESS_GPU_API`, else `graphql`
   */
  readonly api?: ManagementApi | undefined;
  /**
   * Headers to add to each request. Those of a call take precedence. Those that the client sets
   * itself, such as `authorization` and `content-type`, are refused.
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The limits of each call. @default 6 attempts, 120,000 ms */
  readonly retry?: { readonly [Limit in keyof RetryPolicy]?: RetryPolicy[Limit] | undefined } | undefined;
  /**
   * The longest time of an attempt without data from the service, in milliseconds: > 0. A large
   * request gets an additional second for each 64 kB.
   * @default 30,000
   */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * Settings of the rate limiter for queue operations. `"off"`: no limiter.
   * @default the contract's
   * limits
   */
  readonly rateLimits?: RateLimitOptions | "off" | undefined;
  /**
   * A dispatcher of undici 7, such as an `Agent`, a `ProxyAgent` or a `MockAgent`. The client does
   * not close it, and does not read the proxies in the environment.
   * @default the client's own connections
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * A folder for lines about jobs whose end this client sees: status, delay and run time, without
   * input and output. Any number of processes may share it, also with `serverless-gpu metrics
   * --record`. If it cannot be written, `onWarning` is called, and jobs go on.
   * @default none
   */
  readonly record?: string | undefined;
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

const words = optionCheck(
  (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  "must be a list of strings",
);

const withMethods = (methods: readonly string[]) => (value: unknown) => methods.every((name) => hasMethod(value, name));

const BUN_HINT =
  "bun" in process.versions ? '. Bun has a module of its own named "undici": import Agent from "undici/index.js"' : "";

const LEVELS = ["debug", "info", "warn", "error"];

const RETRY: OptionChecks<RetryPolicy> = { maxAttempts: wholeFrom(1), maxElapsedMs: positiveMs };

const RATE_LIMITS: OptionChecks<RateLimitOptions> = { requestsPerWorker: wholeFrom(0) };

/** The checks of all options. Every option may be `undefined`, which means its default. */
const CLIENT_OPTIONS: OptionChecks<ClientOptions> = {
  apiKey: aString,
  service: aString,
  api: aString,
  graphqlUrl: aString,
  restUrl: aString,
  queueUrl: aString,
  extraGpuTiers: words,
  extraLocations: words,
  retry: (value, name) =>
    isObject(value)
      ? (problemsOfOptions(value, RETRY, unknownIn("retry.")) ?? []).map(({ property, message }) => ({
          property: property in RETRY ? `${name}.${property}` : property,
          message,
        }))
      : [{ property: name, message: "must be an object such as { maxAttempts: 3 }" }],
  headers: headerProblems,
  attemptTimeoutMs: positiveMs,
  rateLimits: optionCheck(
    (value) => value === "off" || (isObject(value) && !problemsOfOptions(value, RATE_LIMITS, unknownIn(""))),
    'must be "off", or an object such as { requestsPerWorker: 2 } with a whole number ≥ 0',
  ),
  logger: optionCheck(
    (value) => typeof value === "function" || withMethods(LEVELS)(value),
    `must be a function, or an object with the methods ${LEVELS.join(", ")}, such as pino or console`,
  ),
  onRequest: aFunction,
  onRetry: aFunction,
  onRateLimit: aFunction,
  onWarning: aFunction,
  dispatcher: optionCheck(withMethods(["dispatch"]), `must be a dispatcher of undici, such as new Agent()${BUN_HINT}`),
  record: optionCheck((value) => typeof value === "string" && value !== "", "must be the path of a folder"),
  clock: optionCheck(withMethods(["now", "monotonic", "schedule"]), "must have now, monotonic and schedule"),
};

function isObject(value: unknown): value is object {
  return anObject(value, "").length === 0;
}

/** Returns the problem of an option that does not exist. */
function unknownIn(path: string) {
  return (name: string, known: readonly string[]): InputProblem => {
    const near = nearestWord(name, known);
    const hint = near ? `: did you mean ${near}?` : "";
    return { property: `the option ${JSON.stringify(path + name)}`, message: `does not exist${hint}` };
  };
}

/**
 * Returns the options with defaults, and with the connection settings of the environment if the
 * options have none. No message shows a value, which may be a key.
 * @throws ConfigurationError with every problem
 */
export function checkClientOptions(given: ClientOptions = {}): CheckedOptions {
  const problems = isObject(given)
    ? problemsOfOptions(given, CLIENT_OPTIONS, unknownIn(""))
    : [{ property: "the argument", message: "must be an object" }];
  if (problems) {
    const isKnown = ({ property }: InputProblem) => Object.hasOwn(CLIENT_OPTIONS, property.split(".")[0] ?? "");
    const knownFirst = [...problems.filter(isKnown), ...problems.filter((each) => !isKnown(each))];
    const texts = knownFirst.map(({ property, message }) => `${property} ${message}`);
    throw new ConfigurationError(`the client's options are not valid: ${texts.join("; ")}`);
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

const CONNECTION = Object.keys(ENVIRONMENT_VARIABLES) as (keyof ConnectionSettings)[];

/**
 * Returns the options with a connection. What the options have wins. If they have neither key,
 * service nor URL, all of these come from the environment.
 */
function connected(options: ClientOptions): Omit<ClientOptions, "service" | "api"> & ApiSettings {
  const given: SettingsSource = { read: (name) => options[name], label: (name) => `the option ${name}`, isUnit: true };
  const { settings } = resolveConnection([given, environmentSource()]);
  const inOptions = CONNECTION.filter((name) => options[name]?.trim());
  if (inOptions.length > 0 && settings.apiKey === undefined) {
    throw new ConfigurationError(
      `there is no API key: with ${inOptions.join(" and ")} in the options, the environment is not read, so that its key ` +
        "is never sent to another service. Add apiKey, or put ...settingsFromEnvironment() before them",
    );
  }
  const { apiKey, service } = ENVIRONMENT_VARIABLES;
  const urls = CONNECTION.filter((name) => name !== "apiKey" && name !== "service");
  const hasService = ["service" as const, ...urls].some((name) => settings[name] !== undefined);
  const missing = [
    ...(settings.apiKey === undefined ? [`no API key (set ${apiKey})`] : []),
    ...(hasService
      ? []
      : [`no service (set ${service}=runpod, or ${urls.map((name) => ENVIRONMENT_VARIABLES[name]).join(", ")})`]),
  ];
  if (missing.length === 0 || inOptions.length > 0) return { ...options, ...settings };
  throw new ConfigurationError(`there is ${missing.join(" and ")} in the environment or in the client's options`);
}
