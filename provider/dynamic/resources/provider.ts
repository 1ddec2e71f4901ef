import * as pulumi from "@pulumi/pulumi";
import type { ManagementApi, ServiceName } from "../../../sdk/connection/settings";
import { CONFIG_NAMESPACE, explicitProviderProblem } from "../../connection/config";
import { afterRefusal } from "../program/refusal";

/** The arguments of a `ServerlessGpuProvider`: a key, and the name of the service or its URLs. */
export interface ServerlessGpuProviderArgs {
  /** The API key. State keeps it as a secret. Set either this or `apiKeyEnv`. */
  apiKey?: pulumi.Input<string> | undefined;
  /**
   * Name of an environment variable that holds the API key. Every run reads it, so a rotated key
   * changes nothing in state. Set either this or `apiKey`.
   */
  apiKeyEnv?: pulumi.Input<string> | undefined;
  /** Name of the service: `runpod`. Without it, `graphqlUrl` and `queueUrl` are required. */
  service?: pulumi.Input<ServiceName> | undefined;
  /**
   * The management interface: `graphql`, or `v2` for REST v2, which follows it. Changing it changes
   * no resource. `SERVERLESS_GPU_API` in the environment takes precedence.
   * @default "graphql"
   */
  api?: pulumi.Input<ManagementApi> | undefined;
  /**
   * URL of the GraphQL interface, with or without `/graphql`. REST v2 is at the same URL, below
   * `/v2`.
   */
  graphqlUrl?: pulumi.Input<string> | undefined;
  /**
   * URL of the REST v1 interface, with or without `/v1`. Only reads of pods use it. The service
   * `runpod` retires REST v1 at the end of 2026, so it is not used there.
   */
  restUrl?: pulumi.Input<string> | undefined;
  /** URL of the queue interface, with or without `/v2`. */
  queueUrl?: pulumi.Input<string> | undefined;
  /**
   * GPU pools to accept in addition to those of this package and the environment. A dynamic
   * provider also accepts a comma-separated string.
   */
  extraGpuTiers?: pulumi.Input<string | pulumi.Input<string>[]> | undefined;
  /**
   * Countries to accept in addition to those of this package and the environment. A dynamic
   * provider also accepts a comma-separated string.
   */
  extraLocations?: pulumi.Input<string | pulumi.Input<string>[]> | undefined;
}

/** The settings of each explicit provider as plain values, for the program's data sources. */
const settingsOfProviders = new WeakMap<pulumi.ProviderResource, pulumi.Output<Record<string, string | undefined>>>();

/**
 * An account, for programs that manage several. It uses only its own key and URLs, not those of the
 * environment or the stack. Changing a resource's provider replaces the resource: Pulumi deletes it
 * in the former account and creates it in the new one.
 * @example
 * const staging = new ServerlessGpuProvider("staging", { apiKeyEnv: "STAGING_API_KEY", service: "runpod" });
 * new ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", templateId: "abc123" }, { provider: staging });
 */
export class ServerlessGpuProvider extends pulumi.ProviderResource {
  constructor(name: string, args: ServerlessGpuProviderArgs, options?: pulumi.ResourceOptions) {
    const problem = explicitProviderProblem(name, args);
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
    super(
      "pulumi-nodejs",
      name,
      Object.fromEntries(config),
      problem === undefined ? options : afterRefusal(problem, options),
    );
    settingsOfProviders.set(this, pulumi.output(settings));
  }
}

/** Returns a list as a comma-separated string: the settings of a provider are strings. */
function commaList(value: pulumi.Input<string | pulumi.Input<string>[]>): pulumi.Output<string> {
  return pulumi.output(value).apply((list) => (Array.isArray(list) ? list.join(",") : list));
}

/**
 * Returns the provider's settings, with the key. They are not marked as secret, because the result
 * of a data source is not secret just because its key is. Do not expose them.
 * @throws RunError if the provider is not a `ServerlessGpuProvider`
 */
export function explicitSettings(provider: pulumi.ProviderResource): pulumi.Output<Record<string, string | undefined>> {
  const settings = settingsOfProviders.get(provider);
  if (!settings) throw new pulumi.RunError("the option provider must be a ServerlessGpuProvider");
  return pulumi.unsecret(settings);
}
