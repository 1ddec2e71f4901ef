/**
 * Resources and data sources for Pulumi programs.
 *
 * Resources: `ServerlessEndpoint`, `ServerlessTemplate`, `NetworkVolume`, `ContainerRegistryAuth`,
 * `Secret`, `SmokeTest`, and `ServerlessGpuProvider` for additional accounts. Data sources: the
 * functions `get…`, each also as `get…Output`.
 *
 * @module pulumi-serverless-gpu
 */

import "../sdk/contract/requireNode";

export { EndpointType, FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "../sdk/contract/enums";
export { ServerlessGpuProvider, type ServerlessGpuProviderArgs } from "./connection/provider";
export type { ContainerCommand } from "./container/containerArgs";
export { ServerlessEndpoint, type ServerlessEndpointArgs } from "./endpoint/serverlessEndpoint";
export type { RecordSelector } from "./functions/findRecord";
export * from "./functions/functions";
export type { InputsOf, InvokeOutputOptions } from "./functions/invoke";
export { ContainerRegistryAuth, type ContainerRegistryAuthArgs } from "./registryAuth/containerRegistryAuth";
export { type RollOutArgs, RollOutFailureAction, type RollOutTest, type RollOutWatch } from "./rollOut/rollOutArgs";
export { Secret, type SecretArgs } from "./secret/secret";
export { SmokeTest, type SmokeTestArgs, type SmokeTestPolicy, type SmokeTestStorage } from "./smokeTest/smokeTest";
export { ServerlessTemplate, type ServerlessTemplateArgs } from "./template/serverlessTemplate";
export { NetworkVolume, type NetworkVolumeArgs } from "./volume/networkVolume";
