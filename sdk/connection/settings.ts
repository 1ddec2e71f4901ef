import {
  DEFAULT_API,
  MANAGEMENT_APIS,
  type ManagementApi,
  RUNPOD_ADDRESSES,
  type ServiceName,
} from "../contract/limits";
import { ConfigurationError } from "../errors/errors";
import { INTERFACE_PATHS } from "../transport/urls";

export type { ManagementApi, ServiceName };

/** The service's URLs and API key, as strings from options, config or the environment. */
export interface ConnectionSettings {
  /** The API key. */
  readonly apiKey?: string | undefined;
  /** The name of a known service: `runpod`. If no name is set, the URLs must be set. */
  readonly service?: string | undefined;
  /**
   * The URL of the GraphQL API, with or without `/graphql`. REST v2 has the same URL, followed by
   * `/v2`.
   */
  readonly graphqlUrl?: string | undefined;
  /**
   * The URL of the REST v1 API, with or without `/v1`. It is only used to read pods. The service
   * `runpod` has retired REST v1, so the URL is not used there.
   */
  readonly restUrl?: string | undefined;
  /** The URL of the queue API, with or without `/v2` at its end. */
  readonly queueUrl?: string | undefined;
}

/** The connection settings, plus the API that manages the account's records. */
export interface ApiSettings extends ConnectionSettings {
  /** `graphql` or `v2`, or `undefined` for the service's default. */
  readonly api?: string | undefined;
}

/** The environment variable that selects the management API. */
export const API_VARIABLE = "SERVERLESS_GPU_API";

/**
 * Returns the management API to use.
 * @throws ConfigurationError if the setting is not the name of a management API
 */
export function managementApi(settings: ApiSettings): ManagementApi {
  const given = settings.api?.trim();
  if (!given) return DEFAULT_API[serviceName(settings) ?? "other"];
  const api = MANAGEMENT_APIS.find((each) => each === given);
  if (api) return api;
  throw new ConfigurationError(
    `the management API "${given}" is unknown: use ${MANAGEMENT_APIS.join(" or ")} (${API_VARIABLE}, or ` +
      "serverless-gpu:api in the stack's config, or the client's option api)",
  );
}

/** The name of the setting that contains an API's URL. */
export type AddressName = keyof typeof INTERFACE_PATHS;

/** The environment variable for each setting. */
export const ENVIRONMENT_VARIABLES = {
  apiKey: "SERVERLESS_GPU_API_KEY",
  service: "SERVERLESS_GPU_SERVICE",
  graphqlUrl: "SERVERLESS_GPU_GRAPHQL_URL",
  restUrl: "SERVERLESS_GPU_REST_URL",
  queueUrl: "SERVERLESS_GPU_QUEUE_URL",
} as const satisfies Record<keyof ConnectionSettings, string>;

/** The connection settings found in the environment. */
export interface EnvironmentSettings extends ConnectionSettings {
  /** The API key. `""` if it is not set in the environment. */
  readonly apiKey: string;
  /** The service named in the environment, if any. */
  readonly service?: ServiceName | undefined;
  /** The management API, if the environment selects one. */
  readonly api?: ManagementApi | undefined;
}

/**
 * Returns the settings found in the environment, for `createClient`. A setting whose variable is
 * not set is missing; a missing key is `""`.
 * @throws ConfigurationError if `SERVERLESS_GPU_SERVICE` or `SERVERLESS_GPU_API` has an unknown
 * value
 */
export function settingsFromEnvironment(environment: NodeJS.ProcessEnv = process.env): EnvironmentSettings {
  const read = (name: keyof ConnectionSettings) => environment[ENVIRONMENT_VARIABLES[name]]?.trim() || undefined;
  return {
    apiKey: read("apiKey") ?? "",
    service: serviceName({ service: read("service") }),
    api: environment[API_VARIABLE]?.trim() ? managementApi({ api: environment[API_VARIABLE] }) : undefined,
    graphqlUrl: read("graphqlUrl"),
    restUrl: read("restUrl"),
    queueUrl: read("queueUrl"),
  };
}

/** Returns a phrase for messages that lists the ways to set a setting. */
function howToSet(setting: keyof ConnectionSettings): string {
  return (
    `set ${ENVIRONMENT_VARIABLES[setting]}, or serverless-gpu:${setting} in the stack's config, or the client's option ` +
    `${setting}. An explicit provider uses only its own arguments`
  );
}

const NOTHING_IS_SET =
  "nothing is configured yet: there is no API key and no service. For RunPod, set SERVERLESS_GPU_API_KEY and " +
  "SERVERLESS_GPU_SERVICE=runpod, or serverless-gpu:apiKey (as a secret) and serverless-gpu:service in the stack's config. " +
  "Without an account, use an emulator's shell: npx pulumi-serverless-gpu emulator exec -- bash";

/**
 * Returns the API key without surrounding whitespace.
 * @throws ConfigurationError if the key is missing or not valid
 */
export function requireApiKey({ apiKey, service, graphqlUrl, queueUrl }: ConnectionSettings): string {
  const key = apiKey?.trim();
  const isBare = ![service, graphqlUrl, queueUrl].some((each) => each?.trim());
  if (!key) throw new ConfigurationError(isBare ? NOTHING_IS_SET : `there is no API key: ${howToSet("apiKey")}`);
  // The message must not contain the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ConfigurationError(
      "the API key contains characters that are not valid in a key, such as spaces or line breaks: copy it again",
    );
  }
  return key;
}

/**
 * Returns the URL of an API, without a trailing slash and without the API's own path.
 * @throws ConfigurationError if the URL is missing or not an http(s) URL
 */
export function requireAddress(settings: ConnectionSettings, name: AddressName): string {
  const service = serviceName(settings);
  const given = settings[name]?.trim() || (service && RUNPOD_ADDRESSES[name]);
  if (!given) {
    throw new ConfigurationError(
      `there is no ${name}: ${howToSet(name)}. For RunPod, set SERVERLESS_GPU_SERVICE=runpod instead, which sets all URLs`,
    );
  }
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new ConfigurationError(
      `${name} must be an http(s) URL without credentials, query or fragment, such as https://api.example.com: ${howToSet(name)}`,
    );
  }
  const base = (url.origin + url.pathname).replace(/\/+$/, "");
  const path = INTERFACE_PATHS[name];
  return base.endsWith(path) ? base.slice(0, -path.length).replace(/\/+$/, "") : base;
}

/**
 * Returns the name of the service, or `undefined` if no name is set.
 * @throws ConfigurationError if the name is unknown
 */
export function serviceName({ service }: ConnectionSettings): ServiceName | undefined {
  const name = service?.trim();
  if (!name) return undefined;
  if (name === "runpod") return name;
  throw new ConfigurationError(
    `the service "${name}" is unknown: set it to runpod, or remove it and set the URLs instead`,
  );
}
