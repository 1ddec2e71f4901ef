/**
 * A typed client for RunPod's serverless GPU endpoints, and for any other service with the same
 * APIs (GraphQL or REST v2, REST v1, queue). It works without Pulumi.
 *
 * Start with `createClient`. All errors are instances of `ServerlessGpuError` and have a stable
 * `code`.
 *
 * @module pulumi-serverless-gpu/sdk
 */

import "./contract/requireNode";

export type { RunManyOptions } from "./batches/batch";
export type { BatchInputs } from "./batches/batchInputs";
export type { Batch, BatchCounts, BatchFailure, BatchItem, BatchResult, BatchSuccess } from "./batches/batchResults";
export type { JournalOptions } from "./batches/journalOptions";
export type { Account, Catalog, GpuOptions } from "./catalog/catalog";
export type {
  AccountLimits,
  CatalogCpu,
  CatalogDataCenter,
  CatalogGpu,
  CatalogPool,
  OfferedCuda,
  PlacedStock,
  Spend,
  SpendGroup,
  StockLevel,
} from "./catalog/record";
export type { SpendOptions } from "./catalog/spend";
export {
  type Client,
  type ClientEndpoints,
  type ClientOptions,
  createClient,
  createJobs,
  type EndpointAccess,
  type JobsClient,
} from "./client/client";
export type { EndpointQueue } from "./client/queue";
export {
  type ConnectionSettings,
  type EnvironmentSettings,
  type ManagementApi,
  type ServiceName,
  settingsFromEnvironment,
} from "./connection/settings";
export type { Clock } from "./contract/clock";
export { EndpointType, FlashBootType, GpuTier, Location, type OpenEnum, ScalerType } from "./contract/enums";
export type { CauseId, Certainty } from "./diagnosis/causes";
export type { Diagnoses } from "./diagnosis/diagnosis";
export type {
  AwaitedWork,
  DiagnoseOptions,
  Diagnosis,
  Fact,
  FoundCause,
  MissingFact,
} from "./diagnosis/record";
export type { DeleteOptions, DeleteProgress } from "./endpoints/deleteOptions";
export type { Endpoints, ReleasesOptions } from "./endpoints/endpoints";
export type { ScaleDownOptions } from "./endpoints/putBack";
export type {
  CreateEndpointOptions,
  Endpoint,
  EndpointChanges,
  EndpointInput,
  EndpointPod,
  EndpointSettings,
  ServerlessDiscount,
} from "./endpoints/record";
export type { RecycleOptions } from "./endpoints/recycleWorkers";
export type { EndpointRelease, EndpointWorker, ReleaseChange } from "./endpoints/releases";
export type { WorkerLimits } from "./endpoints/workerLimits";
export * from "./errors/errors";
export * from "./jobs/jobErrors";
export { JobHandle, WaitTimeoutError } from "./jobs/jobHandle";
export type { StatusOptions, StreamOptions, WaitOptions } from "./jobs/jobHandleOptions";
export type {
  OutputSchema,
  ParsingSchema,
  StandardIssue,
  StandardPathPart,
  StandardResult,
  StandardSchema,
} from "./jobs/jobOutput";
export type { JobOptions, JobQueue, RunOptions, RunSyncOptions } from "./jobs/jobQueue";
export {
  type CompletedJob,
  type EndpointHealth,
  isCompleted,
  isRetryable,
  isTerminal,
  type Job,
  type JobCounts,
  type JobStatus,
  type PurgeResult,
  type StreamItem,
  type WorkerCounts,
} from "./jobs/jobRecord";
export type { JobPolicy, JobRequest, S3Config } from "./jobs/jobRequest";
export type { ProgressListener, StatusListener } from "./jobs/statusChanges";
export type { SubmitOptions } from "./jobs/submit";
export { fileJournal } from "./journal/fileJournal";
export type {
  AgainState,
  Journal,
  JournalBatch,
  JournalChange,
  JournalEntry,
  JournalKey,
  JournalState,
  OpenJournal,
} from "./journal/journal";
export {
  JournalDamagedError,
  JournalLockedError,
  JournalRefusedError,
  JournalUnavailableError,
  type UnrecordedJob,
} from "./journal/journalErrors";
export {
  type PostgresJournal,
  type PostgresJournalOptions,
  type PostgresPool,
  type PostgresQuery,
  type PostgresRows,
  postgresJournal,
} from "./journal/postgresJournal";
export { POSTGRES_SCHEMA } from "./journal/postgresSql";
export { type RefusedJob, recordJobs } from "./journal/recordJobs";
export type { FetchBody, FetchOptions, WorkerChoice } from "./loadBalancer/fetchOptions";
export { type LoadBalancer, workerIdOf } from "./loadBalancer/loadBalancer";
export * from "./loadBalancer/loadBalancerErrors";
export type { LogOptions, Logs } from "./logs/logs";
export type { LogLine } from "./logs/record";
export type { OpenAiOptions, OpenAiRequest } from "./openai/openai";
export type { CpuType, Gpu, Machine, NetworkVolume, Pod, SavingsPlan } from "./pods/podRecord";
export type { PodIncludes, Pods } from "./pods/pods";
export type { KnownSettings } from "./records/calls";
export type { FindOptions, KnownOptions, ListOptions, SaveOptions, UpdateRecordOptions } from "./records/collection";
export type { CreateRecordOptions } from "./records/createRecord";
export type { DeleteUnusedOptions, DeletionWait } from "./records/deleteUnused";
export type { Listed, NamedRecord, UnreadableRecord } from "./records/listed";
export type { Readers } from "./records/readers";
export type { RegistryAuth, RegistryAuthInput, RegistryLogin } from "./registryAuths/registryAuth";
export type { RegistryAuths } from "./registryAuths/registryAuths";
export type { SecretChanges, SecretInput, SecretRecord } from "./secrets/secret";
export type { Secrets } from "./secrets/secrets";
export type { Template, TemplateChanges, TemplateInput, TemplateSettings } from "./templates/template";
export type { Templates } from "./templates/templates";
export type { RateLimitOptions } from "./transport/gate";
export type {
  LogFunction,
  Logger,
  LogLevel,
  RateLimitEvent,
  RequestEvent,
  RetryEvent,
  WarningEvent,
} from "./transport/observers";
export type { RequestOptions } from "./transport/requestOptions";
export type { ResponseInfo } from "./transport/responseInfo";
export type { ResponsePromise, WithResponse } from "./transport/responsePromise";
export type { RetryPolicy } from "./transport/retryPolicy";
export type { Volume, VolumeChanges, VolumeInput } from "./volumes/volume";
export type { Volumes } from "./volumes/volumes";
export {
  type ConfirmingQueue,
  createWebhookReceiver,
  type WebhookDelivery,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from "./webhooks/webhookReceiver";
