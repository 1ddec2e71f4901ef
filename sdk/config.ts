import { RUNPOD_ADDRESSES, RUNPOD_GPU_TIERS, RUNPOD_LOCATIONS } from "./contract/limits";
import { ConfigurationError } from "./errors";
import { INTERFACE_PATHS } from "./transport/urls";

/** A service whose addresses and ways are known by name. */
export type ServiceName = "runpod";

/** Where the service is and who calls it, as texts that came from options, config or the environment. */
export interface ConnectionSettings {
  /** The API key. */
  readonly apiKey?: string | undefined;
  /** `runpod`, or none: then the addresses must be given. */
  readonly service?: string | undefined;
  /** Address of the GraphQL interface, with or without `/graphql`. */
  readonly graphqlUrl?: string | undefined;
  /** Address of the REST interface, with or without `/v1`. */
  readonly restUrl?: string | undefined;
  /** Address of the queue interface, with or without `/v2`. */
  readonly queueUrl?: string | undefined;
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

/** Connection settings as the environment gives them. */
export interface EnvironmentSettings extends ConnectionSettings {
  /** The API key; `""` when the environment has none. */
  readonly apiKey: string;
  /** The named service, if any. */
  readonly service?: ServiceName | undefined;
}

/**
 * The settings that the environment gives, for `createClient`. What is not set is missing, and the key is then empty.
 * @throws ConfigurationError when `SERVERLESS_GPU_SERVICE` names a service that is not known
 */
export function settingsFromEnvironment(environment: NodeJS.ProcessEnv = process.env): EnvironmentSettings {
  const read = (name: keyof ConnectionSettings) => environment[ENVIRONMENT_VARIABLES[name]]?.trim() || undefined;
  return {
    apiKey: read("apiKey") ?? "",
    service: serviceName({ service: read("service") }),
    graphqlUrl: read("graphqlUrl"),
    restUrl: read("restUrl"),
    queueUrl: read("queueUrl"),
  };
}

/** How a setting can be given, for messages. */
function howToSet(setting: keyof ConnectionSettings): string {
  return `set ${ENVIRONMENT_VARIABLES[setting]}, or serverless-gpu:${setting} in the stack's config, or the client's option ${setting}`;
}

/** The key, trimmed. Throws when it is missing or cannot be one. */
export function requireApiKey({ apiKey }: ConnectionSettings): string {
  const key = apiKey?.trim();
  if (!key) throw new ConfigurationError(`there is no API key: ${howToSet("apiKey")}`);
  // The key itself is not part of the message.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ConfigurationError(
      "the API key holds characters that no key has, such as spaces or line breaks: copy it again",
    );
  }
  return key;
}

/**
 * One address, without a trailing slash and without the interface's own path, which people copy with it. Throws when it
 * is missing or no http(s) URL.
 */
export function requireAddress(settings: ConnectionSettings, name: AddressName): string {
  const service = serviceName(settings);
  const address = settings[name]?.trim() || (service && RUNPOD_ADDRESSES[name]);
  if (!address) {
    throw new ConfigurationError(
      `there is no ${name}: ${howToSet(name)}; or name the service (SERVERLESS_GPU_SERVICE=runpod), which sets all addresses`,
    );
  }
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new ConfigurationError(
      `${name} must be an http(s) URL without user, query and fragment, such as https://api.example.com: ${howToSet(name)}`,
    );
  }
  const base = (url.origin + url.pathname).replace(/\/+$/, "");
  const path = INTERFACE_PATHS[name];
  return base.endsWith(path) ? base.slice(0, -path.length).replace(/\/+$/, "") : base;
}

/** The named service, or nothing. Throws for a name that is not known. */
export function serviceName({ service }: ConnectionSettings): ServiceName | undefined {
  const name = service?.trim();
  if (!name) return undefined;
  if (name === "runpod") return name;
  throw new ConfigurationError(`the service "${name}" is not known by name: use runpod, or give the three addresses`);
}

/** GPU tiers and countries that are accepted beside the contract's. */
export interface ExtraWords {
  /** GPU tiers newer than the contract that are to be accepted. Those of a named service are. */
  readonly extraGpuTiers?: readonly string[] | undefined;
  /** Countries newer than the contract that are to be accepted. Those of a named service are. */
  readonly extraLocations?: readonly string[] | undefined;
}

/** The extra words that the settings name, and those that the named service is known to have. */
export function extraWords({ service, extraGpuTiers = [], extraLocations = [] }: ConnectionSettings & ExtraWords): {
  extraGpuTiers: string[];
  extraLocations: string[];
} {
  const isRunpod = service?.trim() === "runpod";
  return {
    extraGpuTiers: [...new Set([...(isRunpod ? RUNPOD_GPU_TIERS : []), ...extraGpuTiers])],
    extraLocations: [...new Set([...(isRunpod ? RUNPOD_LOCATIONS : []), ...extraLocations])],
  };
}
