/**
 * A typed client for the service's three interfaces (GraphQL, REST, queue). It works without Pulumi.
 *
 * Begin with `createClient`. Every error is a `ServerlessGpuError` with a stable `code`.
 *
 * @module pulumi-serverless-gpu/sdk
 */

export type { CallOptions } from "./call";
export { type Client, type ClientOptions, createClient } from "./client";
export type { Clock } from "./clock";
export { type ConnectionSettings, type EnvironmentSettings, type ServiceName, settingsFromEnvironment } from "./config";
export type { CreateOptions } from "./createEndpoint";
export type { DeleteOptions, DeleteProgress } from "./deleteEndpoint";
export type { EndpointInput, EndpointSettings } from "./endpointInput";
export type { Endpoint, ServerlessDiscount } from "./endpointRecord";
export type { Endpoints, FindOptions, UpdateOptions } from "./endpoints";
export { FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "./enums";
export * from "./errors";
export type { Logger, RequestEvent } from "./events";
export type { RateLimitOptions } from "./gate";
export * from "./jobErrors";
export type { JobHandle, StatusOptions, StreamOptions, WaitOptions } from "./jobHandle";
export type { OutputSchema } from "./jobOutput";
export type { JobPolicy, JobRequest, S3Config } from "./jobRequest";
export {
  type CompletedJob,
  type EndpointHealth,
  isCompleted,
  isRetryable,
  isTerminal,
  type Job,
  type JobCounts,
  type JobState,
  type JobStatus,
  type PurgeResult,
  type StreamItem,
  type WorkerCounts,
} from "./jobs";
export type { ListedEndpoints, UnreadableEndpoint } from "./listRecords";
export type { OpenAiOptions, OpenAiRequest } from "./openai";
export type { CpuType, Gpu, Machine, NetworkVolume, Pod, SavingsPlan } from "./podRecord";
export type { PodIncludes, Pods } from "./pods";
export type { EndpointQueue, JobOptions, RunOptions, RunSyncOptions } from "./queue";
export type { RetryPolicy } from "./retry";
export type { SubmitOptions } from "./submit";
export { createWebhookReceiver, type WebhookReceiver, type WebhookReceiverOptions } from "./webhookReceiver";
