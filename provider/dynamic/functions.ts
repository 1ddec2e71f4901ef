// The data sources, as programs call them. The rows in sources.ts say what each one does.
import * as pulumi from "@pulumi/pulumi";
import type { ServerlessDiscount } from "../../sdk/endpoints/record";
import type { EndpointHealth } from "../../sdk/jobs/jobRecord";
import type { Pod } from "../../sdk/pods/podRecord";
import type { RegistryAuth } from "../../sdk/registryAuths/registryAuth";
import type { TemplateSettings } from "../../sdk/templates/template";
import type { Volume } from "../../sdk/volumes/volume";
import type { DataCenterResult, GetDataCentersArgs, GetGpuTypesArgs, GpuTypeResult } from "../functions/catalogSources";
import type { GetEndpointArgs, GetEndpointResult } from "../functions/findEndpoint";
import type {
  AccountLimitsResult,
  GetContainerRegistryAuthArgs,
  GetEndpointHealthArgs,
  GetNetworkVolumeArgs,
  GetPodArgs,
  GetServerlessTemplateArgs,
} from "../functions/sources";
import { type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";

export type {
  AccountLimitsResult,
  DataCenterResult,
  GetContainerRegistryAuthArgs,
  GetDataCentersArgs,
  GetEndpointArgs,
  GetEndpointHealthArgs,
  GetEndpointResult,
  GetGpuTypesArgs,
  GetNetworkVolumeArgs,
  GetPodArgs,
  GetServerlessTemplateArgs,
  GpuTypeResult,
};

/**
 * Returns an endpoint by its id or by its exact name.
 * @throws NotFoundError if no endpoint has the id or the name
 * @throws InvalidInputError if several endpoints have the name; it lists their ids
 * @throws AuthenticationError if the service does not accept the key
 * @example
 * const { queueUrl } = await getEndpoint({ name: "llama" });
 */
export function getEndpoint(args: GetEndpointArgs): Promise<GetEndpointResult> {
  return invoke("getEndpoint", args);
}

/**
 * Does the same as `getEndpoint` for arguments that are outputs. The result is unknown until the
 * arguments are known.
 */
export function getEndpointOutput(
  args: InputsOf<GetEndpointArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointResult> {
  return invokeOutput("getEndpoint", args, options);
}

/**
 * Returns all endpoints of the account.
 * @throws AuthenticationError if the service does not accept the key
 */
export function getEndpoints(): Promise<GetEndpointResult[]> {
  return invoke("getEndpoints", {});
}

/** Does the same as `getEndpoints`, as an output. The option `provider` selects another account. */
export function getEndpointsOutput(options?: InvokeOutputOptions): pulumi.Output<GetEndpointResult[]> {
  return invokeOutput("getEndpoints", {}, options);
}

/** The numbers of jobs and workers in each state. */
export interface GetEndpointHealthResult extends EndpointHealth {}

/**
 * Returns the numbers of jobs and workers of an endpoint.
 * @throws NotFoundError if the endpoint does not exist
 * @throws AuthenticationError if the service does not accept the key
 * @example
 * const { workers } = await getEndpointHealth({ endpointId: "abc123" });
 */
export function getEndpointHealth(args: GetEndpointHealthArgs): Promise<GetEndpointHealthResult> {
  return invoke("getEndpointHealth", args);
}

/**
 * Does the same as `getEndpointHealth` for arguments that are outputs. The result is unknown until
 * they are known.
 */
export function getEndpointHealthOutput(
  args: InputsOf<GetEndpointHealthArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointHealthResult> {
  return invokeOutput("getEndpointHealth", args, options);
}

/** A template at the service, without the values of its variables, which may be secret. */
export interface GetServerlessTemplateResult extends Omit<TemplateSettings, "env"> {
  /** Id of the template. */
  readonly id: string;
  /** Names of the variables. */
  readonly envNames: readonly string[];
  /** `true` for a template of endpoints, `false` for one of pods. */
  readonly isServerless: boolean;
  /** `true` if other accounts can use the template. */
  readonly isPublic: boolean;
}

/**
 * Returns a template by its id or by its exact name. The values of its variables are not part of
 * it: see `getServerlessTemplateEnvOutput`.
 * @throws NotFoundError if no template has the id or the name
 * @throws AuthenticationError if the service does not accept the key
 */
export function getServerlessTemplate(args: GetServerlessTemplateArgs): Promise<GetServerlessTemplateResult> {
  return invoke("getServerlessTemplate", args);
}

/**
 * Does the same as `getServerlessTemplate` for arguments that are outputs. The result is unknown
 * until they are known.
 */
export function getServerlessTemplateOutput(
  args: InputsOf<GetServerlessTemplateArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetServerlessTemplateResult> {
  return invokeOutput("getServerlessTemplate", args, options);
}

/** Returns all variables of a template with their values, as a secret output. */
export function getServerlessTemplateEnvOutput(
  args: InputsOf<GetServerlessTemplateArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<Readonly<Record<string, string>>> {
  return pulumi.secret(invokeOutput("getServerlessTemplateEnv", args, options));
}

/** A network volume at the service. */
export interface GetNetworkVolumeResult extends Volume {}

/**
 * Returns a network volume by its id or by its exact name.
 * @throws NotFoundError if there is none
 * @throws InvalidInputError if several volumes have the name; it lists their ids
 * @throws AuthenticationError if the service does not accept the key
 */
export function getNetworkVolume(args: GetNetworkVolumeArgs): Promise<GetNetworkVolumeResult> {
  return invoke("getNetworkVolume", args);
}

/**
 * Does the same as `getNetworkVolume` for arguments that are outputs. The result is unknown until
 * they are known.
 */
export function getNetworkVolumeOutput(
  args: InputsOf<GetNetworkVolumeArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetNetworkVolumeResult> {
  return invokeOutput("getNetworkVolume", args, options);
}

/**
 * A registry credential at the service: its id and its name. The service never shows the user or
 * the password.
 */
export interface GetContainerRegistryAuthResult extends RegistryAuth {}

/**
 * Returns a registry credential by its id or by its exact name.
 * @throws NotFoundError if there is none
 * @throws AuthenticationError if the service does not accept the key
 */
export function getContainerRegistryAuth(args: GetContainerRegistryAuthArgs): Promise<GetContainerRegistryAuthResult> {
  return invoke("getContainerRegistryAuth", args);
}

/**
 * Does the same as `getContainerRegistryAuth` for arguments that are outputs. The result is unknown
 * until they are known.
 */
export function getContainerRegistryAuthOutput(
  args: InputsOf<GetContainerRegistryAuthArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetContainerRegistryAuthResult> {
  return invokeOutput("getContainerRegistryAuth", args, options);
}

/** A pod's record. */
export interface GetPodResult extends Omit<Pod, "env"> {
  /**
   * Environment variables, as a secret, because they may hold keys. Empty if the service shows
   * none.
   */
  readonly env: pulumi.Output<Record<string, string>>;
}

/**
 * Returns a pod by its id.
 * @throws NotFoundError if the pod does not exist
 * @throws AuthenticationError if the service does not accept the key
 * @example
 * const pod = await getPod({ podId: "xyz789", includeMachine: true });
 */
export function getPod(args: GetPodArgs): Promise<GetPodResult> {
  return invoke("getPod", args).then(withSecretEnv);
}

/**
 * Does the same as `getPod` for arguments that are outputs. The result is unknown until the
 * arguments are known.
 * @example
 * export const image = getPodOutput({ podId: someOutput }).image;
 */
export function getPodOutput(args: InputsOf<GetPodArgs>, options?: InvokeOutputOptions): pulumi.Output<GetPodResult> {
  return invokeOutput("getPod", args, options).apply(withSecretEnv);
}

function withSecretEnv({ env, ...pod }: Pod): GetPodResult {
  return { ...pod, env: pulumi.secret(env ?? {}) };
}

/**
 * Returns the account's discount on serverless prices; `null` if it has none.
 * @throws AuthenticationError if the service does not accept the key
 */
export function getServerlessDiscount(): Promise<ServerlessDiscount | null> {
  return invoke("getServerlessDiscount", {});
}

/**
 * Does the same as `getServerlessDiscount`, as an output. The option `provider` selects another
 * account.
 */
export function getServerlessDiscountOutput(options?: InvokeOutputOptions): pulumi.Output<ServerlessDiscount | null> {
  return invokeOutput("getServerlessDiscount", {}, options);
}

/**
 * Returns the GPU types of the service's catalog that fit, the cheapest first. Stock and prices
 * change: an endpoint that follows them changes with them, unless `ignoreChanges` names the
 * setting.
 * @throws InvalidInputError if `minStock` is not a level
 * @throws RejectedError or NotFoundError if the service has no catalog
 * @example
 * const [gpu] = await getGpuTypes({ minMemoryInGb: 48, region: "EU", minStock: "Medium" });
 */
export function getGpuTypes(args: GetGpuTypesArgs = {}): Promise<GpuTypeResult[]> {
  return invoke("getGpuTypes", args);
}

/**
 * Does the same as `getGpuTypes` for arguments that are outputs. The result is unknown until they
 * are known.
 */
export function getGpuTypesOutput(
  args: InputsOf<GetGpuTypesArgs> = {},
  options?: InvokeOutputOptions,
): pulumi.Output<GpuTypeResult[]> {
  return invokeOutput("getGpuTypes", args, options);
}

/**
 * Returns the data centers of the service's catalog that fit, by id.
 * @throws RejectedError or NotFoundError if the service has no catalog
 * @example
 * const places = await getDataCenters({ region: "EU", hasVolumes: true });
 */
export function getDataCenters(args: GetDataCentersArgs = {}): Promise<DataCenterResult[]> {
  return invoke("getDataCenters", args);
}

/**
 * Does the same as `getDataCenters` for arguments that are outputs. The result is unknown until
 * they are known.
 */
export function getDataCentersOutput(
  args: InputsOf<GetDataCentersArgs> = {},
  options?: InvokeOutputOptions,
): pulumi.Output<DataCenterResult[]> {
  return invokeOutput("getDataCenters", args, options);
}

/**
 * Returns the limits of the account, as far as the service shows them.
 * @throws AuthenticationError if the key lacks the permission
 * @throws RejectedError or NotFoundError if the service does not show them
 */
export function getAccountLimits(): Promise<AccountLimitsResult> {
  return invoke("getAccountLimits", {});
}

/**
 * Does the same as `getAccountLimits`, as an output. The option `provider` selects another account.
 */
export function getAccountLimitsOutput(options?: InvokeOutputOptions): pulumi.Output<AccountLimitsResult> {
  return invokeOutput("getAccountLimits", {}, options);
}
