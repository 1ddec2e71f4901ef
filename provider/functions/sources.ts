import type { ServerlessDiscount } from "../../sdk/endpoints/record";
import type { EndpointHealth } from "../../sdk/jobs/jobRecord";
import type { Pod } from "../../sdk/pods/podRecord";
import type { PodIncludes } from "../../sdk/pods/pods";
import type { RegistryAuth } from "../../sdk/registryAuths/record";
import type { Volume } from "../../sdk/volumes/record";
import type { DataSource } from "./dataSource";
import { findEndpoint, findEndpoints, type GetEndpointArgs, type GetEndpointResult } from "./findEndpoint";
import { findSelected, type RecordSelector } from "./findRecord";
import {
  findTemplate,
  findTemplateEnv,
  type GetServerlessTemplateArgs,
  type GetServerlessTemplateResult,
} from "./findTemplate";
import { findVolume, type GetNetworkVolumeArgs } from "./findVolume";

// The plugin loads this file, so it imports no values from Pulumi.

/** Selects a pod, and the additional parts of its record. */
export interface GetPodArgs extends PodIncludes {
  /** Id of the pod. */
  readonly podId: string;
}

export const ENDPOINT: DataSource<GetEndpointArgs, GetEndpointResult> = { name: "getEndpoint", find: findEndpoint };

export const ENDPOINTS: DataSource<object, GetEndpointResult[]> = { name: "getEndpoints", find: findEndpoints };

export const HEALTH: DataSource<{ readonly endpointId: string }, EndpointHealth> = {
  name: "getEndpointHealth",
  find: ({ client }, { endpointId }) => client.endpoint(endpointId).health(),
};

export const TEMPLATE: DataSource<GetServerlessTemplateArgs, GetServerlessTemplateResult> = {
  name: "getServerlessTemplate",
  find: findTemplate,
};

export const TEMPLATE_ENV: DataSource<GetServerlessTemplateArgs, Readonly<Record<string, string>>> = {
  name: "getServerlessTemplateEnv",
  find: findTemplateEnv,
};

export const VOLUME: DataSource<GetNetworkVolumeArgs, Volume> = { name: "getNetworkVolume", find: findVolume };

export const REGISTRY_AUTH: DataSource<RecordSelector, RegistryAuth> = {
  name: "getContainerRegistryAuth",
  find: ({ client }, args) => findSelected("getContainerRegistryAuth", client.registryAuths, args),
};

export const POD: DataSource<GetPodArgs, Pod> = {
  name: "getPod",
  find: ({ client }, { podId, ...includes }) => client.pods.get(podId, includes),
};

export const DISCOUNT: DataSource<object, ServerlessDiscount | null> = {
  name: "getServerlessDiscount",
  find: ({ client }) => client.endpoints.getServerlessDiscount(),
};
