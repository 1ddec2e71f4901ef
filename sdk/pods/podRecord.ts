import type { OpenEnum, POD_STATES } from "../contract/enums";

/** A GPU type and its prices (contract, GPU object). Prices are in credits per hour. */
export interface Gpu {
  /** Identifier of the GPU type, such as `NVIDIA RTX A5000`. */
  readonly id?: string | null;
  /** Number of GPUs (integer). */
  readonly count?: number | null;
  /** Display name of the type. */
  readonly displayName?: string | null;
  /** Price in the secure cloud. */
  readonly securePrice?: number | null;
  /** Price in the community cloud. */
  readonly communityPrice?: number | null;
  /** Price with a savings plan of one month. */
  readonly oneMonthPrice?: number | null;
  /** Price with a savings plan of three months. */
  readonly threeMonthPrice?: number | null;
  /** Price with a savings plan of six months. */
  readonly sixMonthPrice?: number | null;
  /** Price with a savings plan of one week. */
  readonly oneWeekPrice?: number | null;
  /** Price of an interruptible pod in the community cloud. */
  readonly communitySpotPrice?: number | null;
  /** Price of an interruptible pod in the secure cloud. */
  readonly secureSpotPrice?: number | null;
}

/** A type of CPU (contract, Machine object). */
export interface CpuType {
  /** Identifier of the type. */
  readonly id?: string | null;
  /** Display name of the type. */
  readonly displayName?: string | null;
  /** Identifier of the group that contains the type. */
  readonly groupId?: string | null;
  /** Number of cores (integer). */
  readonly cores?: number | null;
  /** Number of threads per core (integer). */
  readonly threadsPerCore?: number | null;
}

/** The host of a pod (contract, Machine object). */
export interface Machine {
  /** Minimum number of GPUs that a pod on the machine must have (integer). */
  readonly minPodGpuCount?: number | null;
  /** Identifier of the GPU type. */
  readonly gpuTypeId?: string | null;
  /** The GPU type. */
  readonly gpuType?: Gpu | null;
  /** Number of CPUs (integer). */
  readonly cpuCount?: number | null;
  /** Identifier of the CPU type. */
  readonly cpuTypeId?: string | null;
  /** The CPU type. */
  readonly cpuType?: CpuType | null;
  /** Location of the machine. */
  readonly location?: string | null;
  /** Identifier of the machine's data center. */
  readonly dataCenterId?: string | null;
  /** Disk throughput in megabytes per second. */
  readonly diskThroughputMBps?: number | null;
  /** Maximum download speed in megabits per second. */
  readonly maxDownloadSpeedMbps?: number | null;
  /** Maximum upload speed in megabits per second. */
  readonly maxUploadSpeedMbps?: number | null;
  /** `true` if pods on the machine can have a public IP address. */
  readonly supportPublicIp?: boolean | null;
  /** `true` if the machine is part of the secure cloud. */
  readonly secureCloud?: boolean | null;
  /** Start of the next maintenance. */
  readonly maintenanceStart?: string | null;
  /** End of the next maintenance. */
  readonly maintenanceEnd?: string | null;
  /** Note about the next maintenance. */
  readonly maintenanceNote?: string | null;
  /** Note about the machine. */
  readonly note?: string | null;
  /** Price of the machine in credits per hour. */
  readonly costPerHr?: number | null;
  /** Current price of one GPU of the machine in credits per hour. */
  readonly currentPricePerGpu?: number | null;
  /** Number of available GPUs (integer). */
  readonly gpuAvailable?: number | null;
  /** Display name of the GPU type. */
  readonly gpuDisplayName?: string | null;
}

/** A network volume (contract, Pod). */
export interface NetworkVolume {
  /** Identifier of the volume. */
  readonly id?: string | null;
  /** Name of the volume. */
  readonly name?: string | null;
  /** Size in GB (integer). */
  readonly size?: number | null;
  /** Identifier of the volume's data center. */
  readonly dataCenterId?: string | null;
}

/** A savings plan that lowers a pod's price (contract, Pod). */
export interface SavingsPlan {
  /** Identifier of the plan. */
  readonly id?: string | null;
  /** Identifier of the pod whose price the plan lowers. */
  readonly podId?: string | null;
  /** Identifier of the GPU type that the plan applies to. */
  readonly gpuTypeId?: string | null;
  /** Price with the plan in credits per hour. */
  readonly costPerHr?: number | null;
  /** Timestamp of the start. */
  readonly startTime?: string | null;
  /** Timestamp of the end. */
  readonly endTime?: string | null;
}

/** A pod (contract, Pod). Fields that the service leaves out are absent. */
export interface Pod {
  /** Pod identifier. */
  readonly id: string;
  /** Name that the user chose, at most 191 characters. It is not necessarily unique. */
  readonly name?: string | null;
  /** Container image tag. */
  readonly image?: string | null;
  /**
   * The status that the pod should currently have: `RUNNING`, `EXITED` or `TERMINATED`. Other
   * values are possible.
   */
  readonly desiredStatus?: OpenEnum<(typeof POD_STATES)[number]> | null;
  /** Effective price in credits per hour, after active savings plans. */
  readonly adjustedCostPerHr?: number | null;
  /** Price in credits per hour, before savings plans. */
  readonly costPerHr?: number | null;
  /** Legacy synonym for `endpointId`. */
  readonly aiApiId?: string | null;
  /** Identifier of the endpoint. Only set for serverless workers. */
  readonly endpointId?: string | null;
  /** Version of the endpoint (integer). Only set for serverless workers. */
  readonly slsVersion?: number | null;
  /** Identifier of the user who rents the pod. */
  readonly consumerUserId?: string | null;
  /** Container disk in GB (integer). It is wiped on restart. */
  readonly containerDiskInGb?: number | null;
  /** Identifier of the registry credential that the pod was created with, if any. */
  readonly containerRegistryAuthId?: string | null;
  /** Identifier of the CPU flavor. Only set for CPU pods. */
  readonly cpuFlavorId?: string | null;
  /** Overrides the image's ENTRYPOINT. If the list is empty, the image's ENTRYPOINT is used. */
  readonly dockerEntrypoint?: readonly string[] | null;
  /**
   * Overrides the image's start command. If the list is empty, the image's start command is used.
   */
  readonly dockerStartCmd?: readonly string[] | null;
  /**
   * Environment variables. They contain secrets; for example, a worker's pod contains an API key.
   */
  readonly env?: Readonly<Record<string, string>> | null;
  /** The pod's GPUs. */
  readonly gpu?: Gpu | null;
  /** `true` if the pod is cheaper but may be stopped at any time, `false` if it is reserved. */
  readonly interruptible?: boolean | null;
  /** UTC timestamp of the last start. */
  readonly lastStartedAt?: string | null;
  /** Description of the last lifecycle event. */
  readonly lastStatusChange?: string | null;
  /** `true` if the pod is locked, so that it cannot be stopped or reset. */
  readonly locked?: boolean | null;
  /** The host. Only set with `includeMachine`. */
  readonly machine?: Machine | null;
  /** Identifier of the host. */
  readonly machineId?: string | null;
  /** RAM in GB. */
  readonly memoryInGb?: number | null;
  /** The attached network volume. Only set with `includeNetworkVolume`. */
  readonly networkVolume?: NetworkVolume | null;
  /** The public port for each internal port (integer). Empty while the pod is initializing. */
  readonly portMappings?: Readonly<Record<string, number>> | null;
  /** Exposed ports, each as `<port number>/<protocol>` with the protocol `http` or `tcp`. */
  readonly ports?: readonly string[] | null;
  /** IPv4 address, or `null` until it is assigned. */
  readonly publicIp?: string | null;
  /** Active savings plans. Only set with `includeSavingsPlans`. */
  readonly savingsPlans?: readonly SavingsPlan[] | null;
  /** The template in RunPod's own format. Only set with `includeTemplate`. */
  readonly template?: Readonly<Record<string, unknown>> | null;
  /** Identifier of the template that the pod was created from, if any. */
  readonly templateId?: string | null;
  /** Number of virtual CPUs (integer). */
  readonly vcpuCount?: number | null;
  /** `true` if the local volume is encrypted. */
  readonly volumeEncrypted?: boolean | null;
  /** Pod volume in GB (integer). It is kept across restarts. */
  readonly volumeInGb?: number | null;
  /** Absolute mount path of the pod volume or network volume. */
  readonly volumeMountPath?: string | null;
}
