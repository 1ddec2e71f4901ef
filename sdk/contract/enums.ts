/**
 * An enum whose values editors suggest, and that accepts any other string, because the service adds
 * values over time.
 */
export type OpenEnum<T extends string> = T | (string & {});

/**
 * The known GPU pools, each named by its GPU generation and memory: those of the contract
 * (contract, Allowed values), where they are called GPU tiers, and the newer ones `ADA_32_PRO`,
 * `BLACKWELL_96`, `BLACKWELL_180` and `HOPPER_141` (observed).
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

/** The countries of the contract (contract, Allowed values) that `locations` accepts. */
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

/** Scaler types: what the number of workers follows (contract, Allowed values). */
export const ScalerType = {
  /** The number of workers follows the time that jobs wait. */ QUEUE_DELAY: "QUEUE_DELAY",
  /** The number of workers follows the number of jobs. */ REQUEST_COUNT: "REQUEST_COUNT",
} as const;
/**
 * A scaler type: what the number of workers follows.
 * @useDeclaredType
 */
export type ScalerType = keyof typeof ScalerType;

/** The modes of FLASHBOOT. `FLASHBOOT` is the contract's only value. */
export const FlashBootType = {
  /** Faster cold starts. */ FLASHBOOT: "FLASHBOOT",
  /** Ordinary cold starts (observed). */ OFF: "OFF",
  /** Faster cold starts with priority, at a price that the service does not publish (observed). */
  PRIORITY_FLASHBOOT: "PRIORITY_FLASHBOOT",
} as const;
/**
 * A mode of FLASHBOOT, which makes cold starts faster.
 * @useDeclaredType
 */
export type FlashBootType = keyof typeof FlashBootType;

/** Kinds of endpoints (observed). The contract has only those with a queue. */
export const EndpointType = {
  /** Jobs wait in a queue. */ QUEUE: "QUEUE",
  /** Requests go to an HTTP server in the workers. */ LOAD_BALANCER: "LOAD_BALANCER",
} as const;
/**
 * A kind of endpoint.
 * @useDeclaredType
 */
export type EndpointType = keyof typeof EndpointType;

/** Job states (contract, States and transitions). A job in any other state has not ended. */
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

/** All job states. */
export const JOB_STATES = Object.keys(JOB_STATE_TABLE) as readonly JobState[];

/** Job states that change only through a retry (contract, States and transitions). */
export const TERMINAL_JOB_STATES: readonly JobState[] = JOB_STATES.filter((state) => JOB_STATE_TABLE[state].ended);

/** Job states that `/retry` accepts (contract, Endpoints, rule 3). */
export const RETRYABLE_JOB_STATES: readonly JobState[] = JOB_STATES.filter((state) => JOB_STATE_TABLE[state].retryable);

/** Values of a pod's `desiredStatus` (contract, Pod). GraphQL may return others (observed). */
export const POD_STATES = ["RUNNING", "EXITED", "TERMINATED"] as const;

/**
 * Values of `desiredStatus` of a pod that no longer works (observed). A deletion relies on those of
 * the contract, `EXITED` and `TERMINATED`.
 */
export const ENDED_POD_STATES: readonly string[] = ["EXITED", "TERMINATED", "DEAD", "PAUSED"];

/**
 * Countries of the data centers of the named service `runpod` in addition to the contract's (CA
 * observed, others assumed).
 */
export const RUNPOD_LOCATIONS = ["AU", "CA", "IS", "JP", "NL", "SE"] as const;
