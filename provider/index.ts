/**
 * Resources and data sources for Pulumi programs.
 *
 * Resources: `ServerlessEndpoint`, `ServerlessTemplate`, `NetworkVolume`, `ContainerRegistryAuth`, `SmokeTest`, and
 * `ServerlessGpuProvider` for additional accounts. Data sources: `getEndpoint`, `getEndpoints`, `getEndpointHealth`,
 * `getServerlessTemplate`, `getNetworkVolume`, `getContainerRegistryAuth`, `getPod` and `getServerlessDiscount`, each also
 * as `…Output`.
 *
 * @module pulumi-serverless-gpu
 */

export { FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "../sdk/contract/enums";
export { ServerlessGpuProvider, type ServerlessGpuProviderArgs } from "./connection/provider";
export { ServerlessEndpoint, type ServerlessEndpointArgs } from "./endpoint/serverlessEndpoint";
export type { RecordSelector } from "./functions/findRecord";
export {
  type GetContainerRegistryAuthArgs,
  type GetContainerRegistryAuthResult,
  getContainerRegistryAuth,
  getContainerRegistryAuthOutput,
} from "./functions/getContainerRegistryAuth";
export {
  type GetEndpointArgs,
  type GetEndpointResult,
  getEndpoint,
  getEndpointOutput,
  getEndpoints,
  getEndpointsOutput,
} from "./functions/getEndpoint";
export {
  type GetEndpointHealthArgs,
  type GetEndpointHealthResult,
  getEndpointHealth,
  getEndpointHealthOutput,
} from "./functions/getEndpointHealth";
export {
  type GetNetworkVolumeArgs,
  type GetNetworkVolumeResult,
  getNetworkVolume,
  getNetworkVolumeOutput,
} from "./functions/getNetworkVolume";
export { type GetPodArgs, type GetPodResult, getPod, getPodOutput } from "./functions/getPod";
export { getServerlessDiscount, getServerlessDiscountOutput } from "./functions/getServerlessDiscount";
export {
  type GetServerlessTemplateArgs,
  type GetServerlessTemplateResult,
  getServerlessTemplate,
  getServerlessTemplateEnvOutput,
  getServerlessTemplateOutput,
} from "./functions/getServerlessTemplate";
export type { InputsOf, InvokeOutputOptions } from "./functions/invoke";
export { ContainerRegistryAuth, type ContainerRegistryAuthArgs } from "./registryAuth/containerRegistryAuth";
export { SmokeTest, type SmokeTestArgs, type SmokeTestPolicy, type SmokeTestStorage } from "./smokeTest/smokeTest";
export { type ContainerCommand, ServerlessTemplate, type ServerlessTemplateArgs } from "./template/serverlessTemplate";
export { NetworkVolume, type NetworkVolumeArgs } from "./volume/networkVolume";
