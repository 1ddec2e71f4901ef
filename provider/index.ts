/**
 * Resources and data sources for Pulumi programs.
 *
 * Resources: `ServerlessEndpoint`, `ServerlessTemplate`, `NetworkVolume`, `ContainerRegistryAuth`,
 * `Secret` and `SmokeTest`, plus `ServerlessGpuProvider` for additional accounts. Data sources: the
 * `get…` functions, each of which also has a `get…Output` form.
 *
 * @module pulumi-serverless-gpu
 */

import "../sdk/contract/requireNode";

export { EndpointType, FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "../sdk/contract/enums";
export * from "./dynamic/functions";
export type { InputsOf, InvokeOutputOptions } from "./dynamic/invoke";
export type { ContainerCommand } from "./dynamic/resources/containerArgs";
export { ContainerRegistryAuth, type ContainerRegistryAuthArgs } from "./dynamic/resources/containerRegistryAuth";
export { NetworkVolume, type NetworkVolumeArgs } from "./dynamic/resources/networkVolume";
export { ServerlessGpuProvider, type ServerlessGpuProviderArgs } from "./dynamic/resources/provider";
export {
  type RollOutArgs,
  RollOutFailureAction,
  type RollOutTest,
  type RollOutWatch,
} from "./dynamic/resources/rollOutArgs";
export type { ScheduleArgs, ScheduleRuleArgs } from "./dynamic/resources/scheduleArgs";
export { Secret, type SecretArgs } from "./dynamic/resources/secret";
export { ServerlessEndpoint, type ServerlessEndpointArgs } from "./dynamic/resources/serverlessEndpoint";
export { ServerlessTemplate, type ServerlessTemplateArgs } from "./dynamic/resources/serverlessTemplate";
export {
  SmokeTest,
  type SmokeTestArgs,
  type SmokeTestPolicy,
  type SmokeTestStorage,
} from "./dynamic/resources/smokeTest";
export type { RecordSelector } from "./functions/findRecord";
