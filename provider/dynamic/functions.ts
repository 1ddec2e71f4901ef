// The data sources as programs call them. sources.ts defines what each of them does.
import * as pulumi from "@pulumi/pulumi";
import { monthOf } from "../../sdk/catalog/record";
import type { ServerlessDiscount } from "../../sdk/endpoints/record";
import type { EndpointHealth } from "../../sdk/jobs/jobRecord";
import type { Pod } from "../../sdk/pods/podRecord";
import type { RegistryAuth } from "../../sdk/registryAuths/registryAuth";
import type { TemplateSettings } from "../../sdk/templates/template";
import type { Volume } from "../../sdk/volumes/volume";
import { runInstant } from "../connection/runInstant";
import type { DataCenterResult, GetDataCentersArgs, GetGpuTypesArgs, GpuTypeResult } from "../functions/catalogSources";
import type { GetEndpointArgs, GetEndpointResult } from "../functions/findEndpoint";
import type { GetSpendArgs, GetSpendResult } from "../functions/findSpend";
import type {
  AccountLimitsResult,
  GetContainerRegistryAuthArgs,
  GetEndpointHealthArgs,
  GetNetworkVolumeArgs,
  GetPodArgs,
  GetServerlessTemplateArgs,
} from "../functions/sources";
import { appliedOnly, awaitedOnly } from "./awaited";
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
  GetSpendArgs,
  GetSpendResult,
  GpuTypeResult,
};

/**
 * Returns an endpoint by id or exact name.
 * @throws NotFoundError if no endpoint matches
 * @throws InvalidInputError if several endpoints have the name; the error lists their ids
 * @throws AuthenticationError if RunPod rejects the key
 * @example
 * const { queueUrl } = await getEndpoint({ name: "llama" });
 */
export function getEndpoint(args: GetEndpointArgs): Promise<GetEndpointResult> {
  return invoke("getEndpoint", args);
}

/**
 * Same as `getEndpoint`, but accepts outputs as arguments. The result is unknown until the
 * arguments are known.
 */
export function getEndpointOutput(
  args: InputsOf<GetEndpointArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointResult> {
  return invokeOutput("getEndpoint", args, options);
}

/**
 * Returns all endpoints in the account.
 * @throws AuthenticationError if RunPod rejects the key
 */
export function getEndpoints(): Promise<GetEndpointResult[]> {
  return invoke("getEndpoints", {});
}

/**
 * Same as `getEndpoints`, but returns an output. Use the option `provider` to select another
 * account.
 */
export function getEndpointsOutput(options?: InvokeOutputOptions): pulumi.Output<GetEndpointResult[]> {
  return invokeOutput("getEndpoints", {}, options);
}

/** The number of jobs and workers in each state. */
export interface GetEndpointHealthResult extends EndpointHealth {}

/**
 * Returns the number of jobs and workers of an endpoint, by state.
 * @throws NotFoundError if the endpoint does not exist
 * @throws AuthenticationError if RunPod rejects the key
 * @example
 * const { workers } = await getEndpointHealth({ endpointId: "abc123" });
 */
export function getEndpointHealth(args: GetEndpointHealthArgs): Promise<GetEndpointHealthResult> {
  return invoke("getEndpointHealth", args);
}

/**
 * Same as `getEndpointHealth`, but accepts outputs as arguments. The result is unknown until the
 * arguments are known.
 */
export function getEndpointHealthOutput(
  args: InputsOf<GetEndpointHealthArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointHealthResult> {
  return invokeOutput("getEndpointHealth", args, options);
}

/** A template. The values of its variables are not included, because they may be secret. */
export interface GetServerlessTemplateResult extends Omit<TemplateSettings, "env"> {
  /** Id of the template. */
  readonly id: string;
  /** Names of the variables. */
  readonly envNames: readonly string[];
  /** `true` for an endpoint template, `false` for a pod template. */
  readonly isServerless: boolean;
  /** `true` if other accounts can use the template. */
  readonly isPublic: boolean;
}

/**
 * Returns a template by id or exact name. The values of its variables are not included; use
 * `getServerlessTemplateEnvOutput` to read them.
 * @throws NotFoundError if no template matches
 * @throws AuthenticationError if RunPod rejects the key
 */
export function getServerlessTemplate(args: GetServerlessTemplateArgs): Promise<GetServerlessTemplateResult> {
  return invoke("getServerlessTemplate", args);
}

/**
 * Same as `getServerlessTemplate`, but accepts outputs as arguments. The result is unknown until
 * the arguments are known.
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

/** A network volume. */
export interface GetNetworkVolumeResult extends Volume {}

/**
 * Returns a network volume by id or exact name.
 * @throws NotFoundError if no volume matches
 * @throws InvalidInputError if several volumes have the name; the error lists their ids
 * @throws AuthenticationError if RunPod rejects the key
 */
export function getNetworkVolume(args: GetNetworkVolumeArgs): Promise<GetNetworkVolumeResult> {
  return invoke("getNetworkVolume", args);
}

/**
 * Same as `getNetworkVolume`, but accepts outputs as arguments. The result is unknown until the
 * arguments are known.
 */
export function getNetworkVolumeOutput(
  args: InputsOf<GetNetworkVolumeArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetNetworkVolumeResult> {
  return invokeOutput("getNetworkVolume", args, options);
}

/** A registry credential's id and name. RunPod never shows the user name or password. */
export interface GetContainerRegistryAuthResult extends RegistryAuth {}

/**
 * Returns a registry credential by id or exact name.
 * @throws NotFoundError if no credential matches
 * @throws AuthenticationError if RunPod rejects the key
 */
export function getContainerRegistryAuth(args: GetContainerRegistryAuthArgs): Promise<GetContainerRegistryAuthResult> {
  return invoke("getContainerRegistryAuth", args);
}

/**
 * Same as `getContainerRegistryAuth`, but accepts outputs as arguments. The result is unknown until
 * the arguments are known.
 */
export function getContainerRegistryAuthOutput(
  args: InputsOf<GetContainerRegistryAuthArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetContainerRegistryAuthResult> {
  return invokeOutput("getContainerRegistryAuth", args, options);
}

/** A pod. */
export interface GetPodResult extends Omit<Pod, "env"> {
  /**
   * Environment variables. The output is secret, because they may contain keys. Empty if RunPod
   * shows none.
   */
  readonly env: pulumi.Output<Record<string, string>>;
}

/**
 * Returns a pod by id.
 * @throws NotFoundError if the pod does not exist
 * @throws AuthenticationError if RunPod rejects the key
 * @example
 * const pod = await getPod({ podId: "xyz789", includeMachine: true });
 */
export function getPod(args: GetPodArgs): Promise<GetPodResult> {
  return invoke("getPod", args).then(withSecretEnv);
}

/**
 * Same as `getPod`, but accepts outputs as arguments. The result is unknown until the arguments are
 * known.
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
 * Returns the account's discount on serverless prices, or `null` if there is none.
 * @throws AuthenticationError if RunPod rejects the key
 */
export function getServerlessDiscount(): Promise<ServerlessDiscount | null> {
  return invoke("getServerlessDiscount", {});
}

/**
 * Same as `getServerlessDiscount`, but returns an output. Use the option `provider` to select
 * another account.
 */
export function getServerlessDiscountOutput(options?: InvokeOutputOptions): pulumi.Output<ServerlessDiscount | null> {
  return invokeOutput("getServerlessDiscount", {}, options);
}

/**
 * Returns the matching GPU types in RunPod's catalog, cheapest first. Stock and prices change. If
 * an endpoint's settings depend on the result, the endpoint changes too, unless `ignoreChanges`
 * lists the setting.
 * @throws InvalidInputError if `minStock` is not a stock level
 * @throws RejectedError or NotFoundError if the service has no catalog
 * @example
 * const [gpu] = await getGpuTypes({ minMemoryInGb: 48, region: "EU", minStock: "Medium" });
 */
export function getGpuTypes(args: GetGpuTypesArgs = {}): Promise<GpuTypeResult[]> {
  return invoke("getGpuTypes", args);
}

/**
 * Same as `getGpuTypes`, but accepts outputs as arguments. The result is unknown until the
 * arguments are known.
 */
export function getGpuTypesOutput(
  args: InputsOf<GetGpuTypesArgs> = {},
  options?: InvokeOutputOptions,
): pulumi.Output<GpuTypeResult[]> {
  return invokeOutput("getGpuTypes", args, options);
}

/**
 * Returns the matching data centers in RunPod's catalog, sorted by id.
 * @throws RejectedError or NotFoundError if the service has no catalog
 * @example
 * const places = await getDataCenters({ region: "EU", hasVolumes: true });
 */
export function getDataCenters(args: GetDataCentersArgs = {}): Promise<DataCenterResult[]> {
  return invoke("getDataCenters", args);
}

/**
 * Same as `getDataCenters`, but accepts outputs as arguments. The result is unknown until the
 * arguments are known.
 */
export function getDataCentersOutput(
  args: InputsOf<GetDataCentersArgs> = {},
  options?: InvokeOutputOptions,
): pulumi.Output<DataCenterResult[]> {
  return invokeOutput("getDataCenters", args, options);
}

/**
 * Returns the account's limits, as far as RunPod shows them.
 * @throws AuthenticationError if the key lacks the permission
 * @throws RejectedError or NotFoundError if the service does not show them
 */
export function getAccountLimits(): Promise<AccountLimitsResult> {
  return invoke("getAccountLimits", {});
}

/**
 * Same as `getAccountLimits`, but returns an output. Use the option `provider` to select another
 * account.
 */
export function getAccountLimitsOutput(options?: InvokeOutputOptions): pulumi.Output<AccountLimitsResult> {
  return invokeOutput("getAccountLimits", {}, options);
}

const SPEND = ["amount", "seconds", "newestBucketAge"] as const;

/**
 * Returns what endpoints have cost, as far as RunPod has billed it. A charge can appear an hour
 * late. Worker counts that depend on the result are set when the program runs, not in between.
 * @throws InvalidInputError if `from`, `to` or `groupBy` is not valid
 * @throws AuthenticationError if the key lacks the permission
 * @throws UnexpectedResponseError if the response is incomplete, because the amount would be too
 * low
 * @throws NotFoundError if the account has no endpoint with this id
 * @throws RejectedError or NotFoundError if the service does not show costs
 * @example
 * const spent = await getSpend({ from: monthStart() });
 * const workersMax = spent.amount < 400 ? 8 : spent.amount < 500 ? 2 : 0;
 */
export function getSpend(args: GetSpendArgs = {}): Promise<GetSpendResult> {
  return awaitedOnly("getSpend", invoke("getSpend", args), SPEND);
}

/**
 * Same as `getSpend`, but accepts outputs as arguments. The result is unknown until the arguments
 * are known.
 */
export function getSpendOutput(
  args: InputsOf<GetSpendArgs> = {},
  options?: InvokeOutputOptions,
): pulumi.Output<GetSpendResult> {
  return appliedOnly("getSpendOutput", invokeOutput("getSpend", args, options), SPEND);
}

/**
 * Returns the beginning of the current month in UTC, such as `2026-11-01T00:00:00.000Z`. In a run
 * with `SERVERLESS_GPU_NOW`, that time is the current one.
 */
export function monthStart(): string {
  return new Date(monthOf(runInstant())).toISOString();
}
