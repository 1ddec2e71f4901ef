/**
 * An enum for which editors suggest the known values, but which accepts any other string, because
 * the service adds values over time.
 */
export type OpenEnum<T extends string> = T | (string & {});

/**
 * The known GPU pools. Each pool is named after its GPU generation and memory. The list contains
 * the pools of the contract (contract, Allowed values), which calls them GPU tiers, and the newer
 * pools `ADA_32_PRO`, `BLACKWELL_96`, `BLACKWELL_180` and `HOPPER_141` (observed).
 */
export const GpuTier = {
  /** 16 GB. */ AMPERE_16: "AMPERE_16",
  /** 24 GB. */ AMPERE_24: "AMPERE_24",
  /** 24 GB, Ada generation. */ ADA_24: "ADA_24",
  /** 32 GB, Ada generation, Pro. */ ADA_32_PRO: "ADA_32_PRO",
  /** 48 GB. */ AMPERE_48: "AMPERE_48",
  /** 48 GB, Ada generation, Pro. */ ADA_48_PRO: "ADA_48_PRO",
  /** 80 GB. */ AMPERE_80: "AMPERE_80",
  /** 80 GB, Ada generation, Pro. */ ADA_80_PRO: "ADA_80_PRO",
  /** 96 GB, Blackwell generation. */ BLACKWELL_96: "BLACKWELL_96",
  /** 141 GB, Hopper generation. */ HOPPER_141: "HOPPER_141",
  /** 180 GB, Blackwell generation. */ BLACKWELL_180: "BLACKWELL_180",
} as const;
/**
 * A known GPU pool.
 * @useDeclaredType
 */
export type GpuTier = keyof typeof GpuTier;

/** The countries that `locations` accepts (contract, Allowed values). */
export const Location = {
  /** Czechia. */ CZ: "CZ",
  /** France. */ FR: "FR",
  /** United Kingdom. */ GB: "GB",
  /** Norway. */ NO: "NO",
  /** Romania. */ RO: "RO",
  /** United States. */ US: "US",
} as const;
/**
 * A country that `locations` accepts.
 * @useDeclaredType
 */
export type Location = keyof typeof Location;

/**
 * The scaler types. Each determines what the number of workers depends on (contract, Allowed
 * values).
 */
export const ScalerType = {
  /** The number of workers depends on how long jobs wait. */ QUEUE_DELAY: "QUEUE_DELAY",
  /** The number of workers depends on the number of jobs. */ REQUEST_COUNT: "REQUEST_COUNT",
} as const;
/**
 * A scaler type, which determines what the number of workers depends on.
 * @useDeclaredType
 */
export type ScalerType = keyof typeof ScalerType;

/** The FLASHBOOT modes. `FLASHBOOT` is the only value in the contract. */
export const FlashBootType = {
  /** Makes cold starts faster. */ FLASHBOOT: "FLASHBOOT",
  /** Leaves cold starts at their normal speed (observed). */ OFF: "OFF",
  /**
   * Makes cold starts faster and gives them priority, for a price that the service does not publish
   * (observed).
   */
  PRIORITY_FLASHBOOT: "PRIORITY_FLASHBOOT",
} as const;
/**
 * A FLASHBOOT mode, which determines how fast cold starts are.
 * @useDeclaredType
 */
export type FlashBootType = keyof typeof FlashBootType;

/** The types of endpoints (observed). In the contract, every endpoint has a queue. */
export const EndpointType = {
  /** Jobs wait in a queue. */ QUEUE: "QUEUE",
  /** Requests go to an HTTP server in the workers. */ LOAD_BALANCER: "LOAD_BALANCER",
} as const;
/**
 * The type of an endpoint.
 * @useDeclaredType
 */
export type EndpointType = keyof typeof EndpointType;

/**
 * The job states (contract, States and transitions). A job whose state is not in this list has not
 * ended.
 */
const JOB_STATE_TABLE = {
  IN_QUEUE: { ended: false, retryable: false },
  IN_PROGRESS: { ended: false, retryable: false },
  COMPLETED: { ended: true, retryable: false },
  FAILED: { ended: true, retryable: true },
  CANCELLED: { ended: true, retryable: false },
  TIMED_OUT: { ended: true, retryable: true },
} as const;

/** A job state of the contract. */
export type JobState = keyof typeof JOB_STATE_TABLE;

/** A state in which a job has ended. */
export type EndedJobState = {
  [State in JobState]: (typeof JOB_STATE_TABLE)[State]["ended"] extends true ? State : never;
}[JobState];

/** All job states. */
export const JOB_STATES = Object.keys(JOB_STATE_TABLE) as readonly JobState[];

/** The job states that only a retry can change (contract, States and transitions). */
export const TERMINAL_JOB_STATES: readonly JobState[] = JOB_STATES.filter((state) => JOB_STATE_TABLE[state].ended);

/** The job states in which `/retry` is allowed (contract, Endpoints, rule 3). */
export const RETRYABLE_JOB_STATES: readonly JobState[] = JOB_STATES.filter((state) => JOB_STATE_TABLE[state].retryable);

/**
 * The values of a pod's `desiredStatus` (contract, Pod). GraphQL may return other values
 * (observed).
 */
export const POD_STATES = ["RUNNING", "EXITED", "TERMINATED"] as const;

/**
 * The values of `desiredStatus` for a pod that no longer works (observed). Deletions rely only on
 * the two values in the contract, `EXITED` and `TERMINATED`.
 */
export const ENDED_POD_STATES: readonly string[] = ["EXITED", "TERMINATED", "DEAD", "PAUSED"];

/**
 * The countries in which the named service `runpod` has data centers, in addition to the contract's
 * countries (CA observed, all others assumed).
 */
export const RUNPOD_LOCATIONS = ["AU", "CA", "IS", "JP", "NL", "SE"] as const;
