import * as pulumi from "@pulumi/pulumi";
import type { ServiceName } from "../../sdk/config";
import { CONFIG_NAMESPACE } from "./config";

/** How an explicit provider reaches its account: a key, and the service's name or its addresses. */
export interface ServerlessGpuProviderArgs {
  /** The API key. It is kept as a secret in state. Either this or `apiKeyEnv`. */
  apiKey?: pulumi.Input<string>;
  /**
   * Name of an environment variable that holds the API key. It is read at each run, so that a rotated key changes
   * nothing in state. Either this or `apiKey`.
   */
  apiKeyEnv?: pulumi.Input<string>;
  /** `runpod`, or none: then the addresses must be given. */
  service?: pulumi.Input<ServiceName>;
  /** Address of the GraphQL interface, with or without `/graphql`. */
  graphqlUrl?: pulumi.Input<string>;
  /** Address of the REST interface, with or without `/v1`. */
  restUrl?: pulumi.Input<string>;
  /** Address of the queue interface, with or without `/v2`. */
  queueUrl?: pulumi.Input<string>;
  /** GPU tiers newer than this package that are accepted, as a list or a comma list, beside the environment's list. */
  extraGpuTiers?: pulumi.Input<string | pulumi.Input<string>[]>;
  /** Countries newer than this package that are accepted, as a list or a comma list, beside the environment's list. */
  extraLocations?: pulumi.Input<string | pulumi.Input<string>[]>;
}

/** The plain settings of each explicit provider, for the look-ups of the program. */
const settingsOfProviders = new WeakMap<pulumi.ProviderResource, pulumi.Output<Record<string, string | undefined>>>();

/**
 * An account, for programs that manage several. Its key and addresses are one unit: nothing comes from the environment's
 * or the stack's. Moving a resource to another provider replaces it: it is deleted from the one account and created in
 * the other.
 * @example
 * const staging = new ServerlessGpuProvider("staging", { apiKeyEnv: "STAGING_API_KEY", service: "runpod" });
 * new ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", templateId: "abc123" }, { provider: staging });
 */
export class ServerlessGpuProvider extends pulumi.ProviderResource {
  constructor(name: string, args: ServerlessGpuProviderArgs, options?: pulumi.ResourceOptions) {
    if ((args.apiKey === undefined) === (args.apiKeyEnv === undefined)) {
      throw new pulumi.RunError(`the provider "${name}" needs either apiKey or apiKeyEnv`);
    }
    const { extraGpuTiers, extraLocations } = args;
    const settings: Record<string, pulumi.Input<string> | undefined> = {
      ...args,
      extraGpuTiers: extraGpuTiers && commaList(extraGpuTiers),
      extraLocations: extraLocations && commaList(extraLocations),
      explicit: name,
    };
    const config = Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [`${CONFIG_NAMESPACE}:${key}`, key === "apiKey" ? pulumi.secret(value) : value]);
    super("pulumi-nodejs", name, Object.fromEntries(config), options);
    settingsOfProviders.set(this, pulumi.output(settings));
  }
}

/** Settings of a provider are strings. */
function commaList(value: pulumi.Input<string | pulumi.Input<string>[]>): pulumi.Output<string> {
  return pulumi.output(value).apply((list) => (Array.isArray(list) ? list.join(",") : list));
}

/**
 * The provider's settings. They hold the key and are not marked as secret: what is looked up with a key is no secret
 * because of it. They must not be handed on.
 */
export function settingsOf(provider: ServerlessGpuProvider): pulumi.Output<Record<string, string | undefined>> {
  const settings = settingsOfProviders.get(provider);
  if (!settings) throw new pulumi.RunError("the option provider takes a ServerlessGpuProvider");
  return pulumi.unsecret(settings);
}
