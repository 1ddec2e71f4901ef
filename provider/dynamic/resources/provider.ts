import * as pulumi from "@pulumi/pulumi";
import type { ManagementApi, ServiceName } from "../../../sdk/connection/settings";
import { CONFIG_NAMESPACE, explicitProviderProblem } from "../../connection/config";
import { checkedOptions } from "../program/programChecks";
import { hasEngine } from "../program/refusal";

/** The arguments of a `ServerlessGpuProvider`: a key, and either a service's name or its URLs. */
export interface ServerlessGpuProviderArgs {
  /** The API key. It is stored in state as a secret. Set either `apiKey` or `apiKeyEnv`. */
  apiKey?: pulumi.Input<string> | undefined;
  /**
   * Name of an environment variable that contains the API key. Every run reads it, so rotating the
   * key changes nothing in state. Set either `apiKey` or `apiKeyEnv`.
   */
  apiKeyEnv?: pulumi.Input<string> | undefined;
  /** Name of the service: `runpod`. If it is not set, `graphqlUrl` and `queueUrl` are required. */
  service?: pulumi.Input<ServiceName> | undefined;
  /**
   * The management API: `graphql`, or `v2` for REST v2, its successor. Changing the API changes no
   * resource. The environment variable `SERVERLESS_GPU_API` takes precedence.
   * @default "graphql" until the service shuts it down, then "v2"
   */
  api?: pulumi.Input<ManagementApi> | undefined;
  /**
   * Id of the account that the key must belong to, as `serverless-gpu doctor` shows it. With any
   * other key, every create, update and deletion fails before anything is sent.
   * @default the key's account, whichever it is
   */
  account?: pulumi.Input<string> | undefined;
  /** URL of the GraphQL API, with or without `/graphql`. REST v2 uses the same URL, below `/v2`. */
  graphqlUrl?: pulumi.Input<string> | undefined;
  /**
   * URL of the REST v1 API, with or without `/v1`. Only pod lookups use it. RunPod has retired
   * REST v1, so it is not used for the service `runpod`.
   */
  restUrl?: pulumi.Input<string> | undefined;
  /** URL of the queue API, with or without `/v2`. */
  queueUrl?: pulumi.Input<string> | undefined;
  /**
   * GPU pools and countries to accept although they look like typos of known ones, in addition to
   * those in the environment. The dynamic provider also accepts a comma-separated string.
   * @default none
   */
  acceptWords?: pulumi.Input<string | pulumi.Input<string>[]> | undefined;
}

/** The settings of each explicit provider as plain values, for the program's data sources. */
const settingsOfProviders = new WeakMap<pulumi.ProviderResource, pulumi.Output<Record<string, string | undefined>>>();

/**
 * A connection to one account, for programs that manage several accounts. It only uses its own key
 * and URLs, and ignores those of the environment and the stack. Changing a resource's provider
 * replaces the resource: Pulumi deletes it in the previous account and creates it in the new one.
 * @example
 * const staging = new ServerlessGpuProvider("staging", { apiKeyEnv: "STAGING_API_KEY", service: "runpod" });
 * new ServerlessEndpoint("llama", { gpuIds: "AMPERE_24", templateId: "abc123" }, { provider: staging });
 */
export class ServerlessGpuProvider extends pulumi.ProviderResource {
  constructor(name: string, args: ServerlessGpuProviderArgs, options?: pulumi.ResourceOptions) {
    const problem = explicitProviderProblem(name, args);
    const { acceptWords } = args;
    const settings: Record<string, pulumi.Input<string> | undefined> = {
      ...args,
      acceptWords: acceptWords && commaList(acceptWords),
      explicit: name,
    };
    const config = Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [`${CONFIG_NAMESPACE}:${key}`, key === "apiKey" ? pulumi.secret(value) : value]);
    super(
      "pulumi-nodejs",
      name,
      Object.fromEntries(config),
      problem === undefined ? options : refused(name, args, problem, options),
    );
    settingsOfProviders.set(this, pulumi.output(settings));
  }
}

/**
 * Returns options that keep an invalid provider from registering until the engine has refused the
 * program, with the problems of all its resources.
 * @throws RunError if there is no engine
 */
function refused(name: string, args: object, message: string, options: pulumi.ResourceOptions = {}) {
  if (!hasEngine()) throw new pulumi.RunError(message);
  const what = { kind: "ServerlessGpuProvider", type: "pulumi:providers:pulumi-nodejs", name, args, options };
  return checkedOptions({ ...what, problems: [{ property: "", message }], findProblems: () => [] });
}

/** Converts a list to a comma-separated string, because provider settings are strings. */
function commaList(value: pulumi.Input<string | pulumi.Input<string>[]>): pulumi.Output<string> {
  return pulumi.output(value).apply((list) => (Array.isArray(list) ? list.join(",") : list));
}

/**
 * Returns the provider's settings, including the key. They are not marked as secret, because a data
 * source's result is not secret just because its key is. Don't expose them.
 * @throws RunError if the provider is not a `ServerlessGpuProvider`
 */
export function explicitSettings(provider: pulumi.ProviderResource): pulumi.Output<Record<string, string | undefined>> {
  const settings = settingsOfProviders.get(provider);
  if (!settings) throw new pulumi.RunError("the option provider must be a ServerlessGpuProvider");
  return pulumi.unsecret(settings);
}
