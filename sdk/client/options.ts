import type { Dispatcher } from "undici";
import type { AcceptWords } from "../connection/acceptedWords";
import { environmentSource, resolveConnection, type SettingsSource } from "../connection/resolver";
import {
  type ApiSettings,
  type ConnectionSettings,
  ENVIRONMENT_VARIABLES,
  type ManagementApi,
  managementApi,
  requireApiKey,
  type ServiceName,
  serviceName,
} from "../connection/settings";
import type { Clock } from "../contract/clock";
import { ConfigurationError, type InputProblem } from "../errors/errors";
import { nearestWord } from "../errors/nearestWord";
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
} from "../transport/callOptions";
import type { RateLimitOptions } from "../transport/gate";
import type { Observers } from "../transport/observers";
import { headerProblems } from "../transport/requestOptions";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "../transport/retryPolicy";

/**
 * The options of a client. Set the key together with either `service` or the URLs of the APIs that
 * you use. If you set neither a key nor a service nor a URL, all of them come from the environment.
 */
export interface ClientOptions extends ConnectionSettings, AcceptWords, Observers {
  /** The API key. @default `SERVERLESS_GPU_API_KEY`, if neither a service nor a URL is set */
  readonly apiKey?: string | undefined;
  /**
   * The name of a known service. It determines all URLs.
   * @default `SERVERLESS_GPU_SERVICE`, if neither a key nor a URL is set
   */
  readonly service?: ServiceName | undefined;
  /**
   * The management API: `graphql`, or `v2` for its successor, REST v2. Endpoints, templates,
   * volumes, registry credentials and pods are the same over both APIs.
   * @default `SERVERLESS_GPU_API`, else `graphql` until the service shuts it down, then `v2`. Once
   * GraphQL has served a client, that client keeps using it
   */
  readonly api?: ManagementApi | undefined;
  /**
   * Headers to add to every request. Headers of a single call take precedence. Headers that the
   * client sets itself, such as `authorization` and `content-type`, are not allowed.
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The retry limits of each call. @default 6 attempts, 120,000 ms */
  readonly retry?: { readonly [Limit in keyof RetryPolicy]?: RetryPolicy[Limit] | undefined } | undefined;
  /**
   * How long an attempt may go without receiving data from the service, in milliseconds (> 0).
   * Large requests get an additional second for each 64 kB.
   * @default 30,000
   */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * The settings of the rate limiter for queue operations. `"off"` disables it.
   * @default the contract's limits
   */
  readonly rateLimits?: RateLimitOptions | "off" | undefined;
  /**
   * An undici 7 dispatcher, such as an `Agent`, a `ProxyAgent` or a `MockAgent`. If it is set, the
   * client does not close it and ignores the proxies in the environment.
   * @default the client's own connections
   */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * The folder in which to record every job whose end this client sees, one line per job, with its
   * status, delay and run time but without its input and output. Any number of processes may share
   * the folder, including `serverless-gpu metrics --record`. If the folder cannot be written to,
   * `onWarning` is called, and jobs are not affected.
   * @default none
   */
  readonly record?: string | undefined;
  /** The clock, which tests can replace. @default the machine's clock */
  readonly clock?: Clock | undefined;
}

/** The checked options, with defaults filled in. */
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

/**
 * The checks of all options. Every option may be `undefined`, which means that its default is used.
 */
const CLIENT_OPTIONS: OptionChecks<ClientOptions> = {
  apiKey: aString,
  service: aString,
  api: aString,
  graphqlUrl: aString,
  restUrl: aString,
  queueUrl: aString,
  acceptWords: words,
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

/** Returns a function that creates the problem for an unknown option. */
function unknownIn(path: string) {
  return (name: string, known: readonly string[]): InputProblem => {
    const near = nearestWord(name, known);
    const hint = near ? `: did you mean ${near}?` : "";
    return { property: `the option ${JSON.stringify(path + name)}`, message: `does not exist${hint}` };
  };
}

/**
 * Returns the options with defaults filled in. If the options contain no connection settings, the
 * settings come from the environment. No message shows a value, because the value may be a key.
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

/** Returns `true` if the options or the environment select the management API. */
export function selectsApi(given: ClientOptions = {}): boolean {
  return connected(given).api !== undefined;
}

const CONNECTION = Object.keys(ENVIRONMENT_VARIABLES) as (keyof ConnectionSettings)[];

/**
 * Returns the options with a complete connection. Values in the options take precedence. If the
 * options contain no key, no service and no URL, all of these come from the environment.
 */
function connected(options: ClientOptions): Omit<ClientOptions, "service" | "api"> & ApiSettings {
  const given: SettingsSource = { read: (name) => options[name], label: (name) => `the option ${name}`, isUnit: true };
  const { settings } = resolveConnection([given, environmentSource()]);
  const inOptions = CONNECTION.filter((name) => options[name]?.trim());
  if (inOptions.length > 0 && settings.apiKey === undefined) {
    throw new ConfigurationError(
      `there is no API key: because the options contain ${inOptions.join(" and ")}, the client does not read the ` +
        "environment, whose key may belong to another service. Add apiKey to the options, or put " +
        "...settingsFromEnvironment() before them",
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
