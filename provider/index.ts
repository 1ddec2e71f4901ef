/**
 * Resources and look-ups for Pulumi programs.
 *
 * Resources: `ServerlessEndpoint`, `SmokeTest`, and `ServerlessGpuProvider` for further accounts. Look-ups: `getEndpoint`,
 * `getEndpoints`, `getEndpointHealth`, `getPod`, `getServerlessDiscount`, each with its `…Output` twin.
 *
 * @module pulumi-serverless-gpu
 */

export { FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "../sdk/enums";
export {
  type GetEndpointArgs,
  type GetEndpointResult,
  getEndpoint,
  getEndpointOutput,
  getEndpoints,
  getEndpointsOutput,
} from "./getEndpoint";
export {
  type GetEndpointHealthArgs,
  type GetEndpointHealthResult,
  getEndpointHealth,
  getEndpointHealthOutput,
} from "./getEndpointHealth";
export { type GetPodArgs, type GetPodResult, getPod, getPodOutput } from "./getPod";
export { getServerlessDiscount, getServerlessDiscountOutput } from "./getServerlessDiscount";
export type { InputsOf, LookUpOptions } from "./lookUp";
export { ServerlessGpuProvider, type ServerlessGpuProviderArgs } from "./provider";
export { ServerlessEndpoint, type ServerlessEndpointArgs } from "./serverlessEndpoint";
export { SmokeTest, type SmokeTestArgs } from "./smokeTest";
