import {
  DEFAULT_API,
  MANAGEMENT_APIS,
  type ManagementApi,
  RUNPOD_ADDRESSES,
  type ServiceName,
} from "../contract/limits";
import { ConfigurationError } from "../errors";
import { INTERFACE_PATHS } from "../transport/urls";

export type { ManagementApi, ServiceName };

/** The URLs and the key of the service, as strings from options, config or the environment. */
export interface ConnectionSettings {
  /** The API key. */
  readonly apiKey?: string | undefined;
  /** `runpod`. Without a name, the URLs must be given. */
  readonly service?: string | undefined;
  /**
   * The URL of the GraphQL interface, with or without `/graphql`. REST v2 is at the same URL, below
   * `/v2`.
   */
  readonly graphqlUrl?: string | undefined;
  /**
   * The URL of the REST v1 interface, with or without `/v1`. Only reads of pods use it. The
   * service `runpod` has retired REST v1, so it is not used there.
   */
  readonly restUrl?: string | undefined;
  /** The URL of the queue interface, with or without `/v2`. */
  readonly queueUrl?: string | undefined;
}

/** The connection settings, and the API that manages the account's records. */
export interface ApiSettings extends ConnectionSettings {
  /** `graphql` or `v2`; `undefined` for the service's default. */
  readonly api?: string | undefined;
}

/** The environment variable that chooses the management interface. */
export const API_VARIABLE = "SERVERLESS_GPU_API";

/**
 * Returns the management interface to use.
 * @throws ConfigurationError if the setting names none
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

/** The name of an interface's URL among the settings. */
export type AddressName = keyof typeof INTERFACE_PATHS;

/** The environment variable of each setting. */
export const ENVIRONMENT_VARIABLES = {
  apiKey: "SERVERLESS_GPU_API_KEY",
  service: "SERVERLESS_GPU_SERVICE",
  graphqlUrl: "SERVERLESS_GPU_GRAPHQL_URL",
  restUrl: "SERVERLESS_GPU_REST_URL",
  queueUrl: "SERVERLESS_GPU_QUEUE_URL",
} as const satisfies Record<keyof ConnectionSettings, string>;

/** The connection settings in the environment. */
export interface EnvironmentSettings extends ConnectionSettings {
  /** The API key. `""` if the environment has none. */
  readonly apiKey: string;
  /** The named service, if any. */
  readonly service?: ServiceName | undefined;
  /** The management interface, if the environment chooses one. */
  readonly api?: ManagementApi | undefined;
}

/**
 * Returns the settings in the environment, for `createClient`. Variables that are not set are
 * missing, or `""` for the key.
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

/** Returns the ways to set a setting, for messages. */
function howToSet(setting: keyof ConnectionSettings): string {
  return (
    `set ${ENVIRONMENT_VARIABLES[setting]}, or serverless-gpu:${setting} in the stack's config, or the client's option ` +
    `${setting}, or the argument ${setting} of an explicit provider, which uses nothing else`
  );
}

const NOTHING_IS_SET =
  "nothing is configured yet: there is no API key and no service. For an account at RunPod, set SERVERLESS_GPU_API_KEY and " +
  "SERVERLESS_GPU_SERVICE=runpod, or serverless-gpu:apiKey (as a secret) and serverless-gpu:service in the stack's config. " +
  "Without an account, run the command in the shell of an emulator: npx pulumi-serverless-gpu emulator exec -- bash";

/**
 * Returns the key, trimmed.
 * @throws ConfigurationError if it is missing or not valid
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
 * Returns the URL of an interface, without a trailing slash and without the path of the interface.
 * @throws ConfigurationError if it is missing or not an http(s) URL
 */
export function requireAddress(settings: ConnectionSettings, name: AddressName): string {
  const service = serviceName(settings);
  const given = settings[name]?.trim() || (service && RUNPOD_ADDRESSES[name]);
  if (!given) {
    throw new ConfigurationError(
      `there is no ${name}: ${howToSet(name)}; or set the service (SERVERLESS_GPU_SERVICE=runpod), which sets all URLs`,
    );
  }
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new ConfigurationError(
      `${name} must be an http(s) URL without user, query and fragment, such as https://api.example.com: ${howToSet(name)}`,
    );
  }
  const base = (url.origin + url.pathname).replace(/\/+$/, "");
  const path = INTERFACE_PATHS[name];
  return base.endsWith(path) ? base.slice(0, -path.length).replace(/\/+$/, "") : base;
}

/**
 * Returns the name of the service, or `undefined` if there is none.
 * @throws ConfigurationError if the name is unknown
 */
export function serviceName({ service }: ConnectionSettings): ServiceName | undefined {
  const name = service?.trim();
  if (!name) return undefined;
  if (name === "runpod") return name;
  throw new ConfigurationError(`the service "${name}" is unknown: use runpod, or set the three URLs`);
}
