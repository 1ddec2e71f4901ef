export { FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "../sdk/enums";
export { type GetPodArgs, type GetPodOutputArgs, type GetPodResult, getPod, getPodOutput } from "./pods";
export { ServerlessEndpoint, type ServerlessEndpointArgs } from "./serverlessEndpoint";
