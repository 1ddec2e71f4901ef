export { type Client, type ClientOptions, createClient } from "./client";
export type { Clock } from "./clock";
export type { DeleteOptions, DeleteProgress } from "./deleteEndpoint";
export type { EndpointInput, EndpointSettings } from "./endpointInput";
export type { CallOptions, Endpoint, Endpoints, ServerlessDiscount } from "./endpoints";
export { FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "./enums";
export * from "./errors";
export type { Pod, PodIncludes, Pods } from "./pods";
export type { RetryPolicy } from "./retry";
