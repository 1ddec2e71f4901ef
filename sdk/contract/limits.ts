import { EndpointType, FlashBootType, GpuTier, Location, ScalerType } from "./enums";

/**
 * All limits of the service, one per line. The client and the emulator share no code outside this
 * folder. "Contract" refers to the service's published description, "observed" means that we
 * observed the value at a running service, and "assumed" means that we chose the value ourselves,
 * because neither source specifies it.
 */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const megabyte = 1_000_000;

/** The names of the known GPU pools. */
export const GPU_TIERS = Object.values(GpuTier);

/**
 * The country codes that `locations` accepts. The service also accepts data center ids such as
 * `EU-RO-1` (observed).
 */
export const LOCATIONS = Object.values(Location);

/**
 * The format of a data center id: region, country and number, as in `EU-RO-1` or `US-KS-2`
 * (observed).
 */
export const DATA_CENTER_ID = /^[A-Z]{2,4}-[A-Z]{2,3}-[0-9]+$/;

export const SCALER_TYPES = Object.values(ScalerType);

export const FLASH_BOOT_TYPES = Object.values(FlashBootType);

export const ENDPOINT_TYPES = Object.values(EndpointType);

/** The format of a CUDA version, such as `12.8` (observed). */
export const CUDA_VERSION = /^\d{1,3}\.\d{1,3}$/;

/**
 * The format of a CPU instance: flavor, number of vCPUs, and memory in GB, as in `cpu3g-4-16`
 * (observed).
 */
export const CPU_INSTANCE = /^([a-z][a-z0-9]*)-([1-9]\d*)-([1-9]\d*)$/;

/**
 * The values that `saveEndpoint` sets for omitted fields (observed). All other fields keep their
 * value.
 */
export const SAVE_ENDPOINT_DEFAULTS = { idleTimeout: 10, scalerValue: 4, workersMax: 3, workersMin: 0 } as const;

/**
 * The values of the optional fields that `saveEndpoint` does not set, if they were never set
 * (locations: contract; all others: assumed).
 */
export const UNSET_ENDPOINT_FIELDS = {
  locations: "",
  flashBootType: "OFF",
  scalerType: "QUEUE_DELAY",
  networkVolumeId: "",
} as const;

/**
 * A suffix that the service may append to an endpoint's name. It was once used to switch on
 * FLASHBOOT (observed).
 */
export const FLASH_BOOT_NAME_SUFFIX = " -fb";

/**
 * When an endpoint has had no jobs for `afterMs`, the service lowers the endpoint's `workersMax` to
 * the value given here (observed).
 */
export const IDLE_SCALE_DOWN = [
  { afterMs: 3 * day, workersMax: 2 },
  { afterMs: 7 * day, workersMax: 0 },
] as const;

/** The longest time by which a list of endpoints lags behind a write (assumed). */
export const LIST_LAG_MS = 5 * second;

/**
 * How long a record that cannot be read by its id must be missing from every list before it is
 * considered absent (assumed).
 */
export const ABSENCE_LAG_MS = 15 * second;

/**
 * The maximum number of records in a list over GraphQL. The list contains the oldest records
 * (endpoints: observed; all others: assumed).
 */
export const LIST_CAP = 400;

/** The maximum length of a pod's name, in characters (contract, Pod). */
export const POD_NAME_MAX_LENGTH = 191;

/** The maximum sizes of request bodies and chunks, in bytes (contract, Limits). */
export const RUN_BODY_MAX_BYTES = 10 * megabyte;
export const RUNSYNC_BODY_MAX_BYTES = 20 * megabyte;
export const STREAM_CHUNK_MAX_BYTES = 1 * megabyte;

/** The query parameter `wait` of `/runsync`, in milliseconds (contract, Limits). */
export const RUNSYNC_WAIT_MS = { min: 1 * second, max: 300 * second, default: 90 * second } as const;

/** The job setting `policy.executionTimeout`, in milliseconds (contract, Limits). */
export const EXECUTION_TIMEOUT_MS = { min: 5 * second, max: 7 * day, default: 10 * minute } as const;

/**
 * The job setting `policy.ttl`, in milliseconds: queue time plus execution time (contract, Limits).
 */
export const JOB_TTL_MS = { min: 10 * second, max: 7 * day, default: 24 * hour } as const;

/** How long a result is kept after its job has completed (contract, Limits). */
export const RUN_RESULT_RETENTION_MS = 30 * minute;
export const RUNSYNC_RESULT_RETENTION_MS = { default: 1 * minute, max: 5 * minute } as const;

/**
 * Webhook deliveries: the total number of attempts, the pause between them, and the status that
 * counts as success (contract, Events).
 */
export const WEBHOOK = { tries: 3, pauseMs: 10 * second, successStatus: 200 } as const;

/**
 * The maximum size, in bytes, of the body of a request to a load-balancing endpoint and of the body
 * of the response (observed).
 */
export const LOAD_BALANCER_BODY_MAX_BYTES = 30 * megabyte;

/**
 * The time limits of a load-balancing endpoint, in milliseconds (observed): how long a request is
 * held until a worker is ready for it (`strictHold` if the request names a worker), how long a
 * worker may take to respond, and how long a worker with wrong ports keeps running.
 */
export const LOAD_BALANCER_MS = {
  hold: 2 * minute,
  strictHold: 5 * minute,
  processing: 5.5 * minute,
  wrongPorts: 8 * minute,
} as const;

/**
 * The header with the id of a worker, in requests to a load-balancing endpoint and in its responses
 * (observed).
 */
export const WORKER_ID_HEADER = "x-runpod-worker-id";

/** The window of all rate limits (contract, Limits). */
export const RATE_WINDOW_MS = 10 * second;

/**
 * The maximum number of requests per window and of concurrent requests, per endpoint and operation
 * (contract, Limits).
 */
export const RATE_LIMITS = {
  runsync: { perWindow: 2000, concurrent: 400 },
  run: { perWindow: 1000, concurrent: 200 },
  status: { perWindow: 2000, concurrent: 400 },
  stream: { perWindow: 2000, concurrent: 400 },
  cancel: { perWindow: 100, concurrent: 20 },
  "purge-queue": { perWindow: 2, concurrent: Number.POSITIVE_INFINITY },
  openai: { perWindow: 2000, concurrent: 400 },
  requests: { perWindow: 10, concurrent: 2 },
} as const;

/**
 * The value of `requests_per_worker` in the dynamic rate limit (assumed, because the contract does
 * not specify the value).
 */
export const DEFAULT_REQUESTS_PER_WORKER = 50;

/** The URLs of the named service `runpod` (observed). */
export const RUNPOD_ADDRESSES = {
  graphqlUrl: "https://api.runpod.io",
  restUrl: "https://rest.runpod.io",
  queueUrl: "https://api.runpod.ai",
} as const;

/** A management API: `graphql`, or `v2` for REST v2. */
export type ManagementApi = "graphql" | "v2";

/** The management APIs: GraphQL and its successor, REST v2. */
export const MANAGEMENT_APIS: readonly ManagementApi[] = ["graphql", "v2"];

/**
 * The management API used for each service, unless a setting selects another one. REST v2 is known
 * from observation; the contract only has GraphQL.
 */
export const DEFAULT_API = { runpod: "graphql", other: "graphql" } as const satisfies Record<string, ManagementApi>;

/** The name of a known service. */
export type ServiceName = "runpod";

/**
 * The named services that have retired REST v1. RunPod announced it for 2026-11-15, and it ended on
 * 2026-11-16 (one source).
 */
const ENDED_REST_V1: readonly ServiceName[] = ["runpod"];

/** Returns `true` if the service still has REST v1. */
export function hasRestV1(service: string | undefined): boolean {
  return !ENDED_REST_V1.some((name) => name === service);
}

/** The number of GraphQL requests that each named service accepts per minute (announced). */
export const GRAPHQL_PER_MINUTE = { runpod: 180 } as const satisfies Record<ServiceName, number>;

/** When each named service will shut down GraphQL (announced). */
export const END_OF_GRAPHQL = { runpod: "early 2027" } as const satisfies Record<ServiceName, string>;
