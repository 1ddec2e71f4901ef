import type { OpenEnum } from "../contract/enums";
import type { POD_STATES } from "../contract/limits";

/** A type of GPU and its prices in credits per hour (contract, GPU object). */
export interface Gpu {
  /** Identifier of the GPU's type, such as `NVIDIA RTX A5000`. */
  readonly id?: string | null;
  /** Number of GPUs. */
  readonly count?: number | null;
  /** The type's name for people. */
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
  /** The type's name for people. */
  readonly displayName?: string | null;
  /** Identifier of the group of types that it belongs to. */
  readonly groupId?: string | null;
  /** Number of cores. */
  readonly cores?: number | null;
  /** Number of threads of each core. */
  readonly threadsPerCore?: number | null;
}

/** The host of a pod (contract, Machine object). */
export interface Machine {
  /** Fewest GPUs that a pod may have on it. */
  readonly minPodGpuCount?: number | null;
  /** Identifier of its type of GPU. */
  readonly gpuTypeId?: string | null;
  /** Its type of GPU. */
  readonly gpuType?: Gpu | null;
  /** Number of CPUs. */
  readonly cpuCount?: number | null;
  /** Identifier of its type of CPU. */
  readonly cpuTypeId?: string | null;
  /** Its type of CPU. */
  readonly cpuType?: CpuType | null;
  /** Where it stands. */
  readonly location?: string | null;
  /** Identifier of the data center where it stands. */
  readonly dataCenterId?: string | null;
  /** Megabytes per second. */
  readonly diskThroughputMBps?: number | null;
  /** Megabits per second. */
  readonly maxDownloadSpeedMbps?: number | null;
  /** Megabits per second. */
  readonly maxUploadSpeedMbps?: number | null;
  /** Whether its pods can have a public IP address. */
  readonly supportPublicIp?: boolean | null;
  /** Whether it is part of the secure cloud. */
  readonly secureCloud?: boolean | null;
  /** When its next maintenance begins. */
  readonly maintenanceStart?: string | null;
  /** When its next maintenance ends. */
  readonly maintenanceEnd?: string | null;
  /** What is said about its next maintenance. */
  readonly maintenanceNote?: string | null;
  /** What is said about the machine. */
  readonly note?: string | null;
  /** Credits per hour. */
  readonly costPerHr?: number | null;
  /** Credits per hour. */
  readonly currentPricePerGpu?: number | null;
  /** Number of GPUs that are free. */
  readonly gpuAvailable?: number | null;
  /** Its type of GPU, for people. */
  readonly gpuDisplayName?: string | null;
}

/** A network volume (contract, Pod). */
export interface NetworkVolume {
  /** Identifier of the volume. */
  readonly id?: string | null;
  /** Its name. */
  readonly name?: string | null;
  /** GB. */
  readonly size?: number | null;
  /** Identifier of the data center where it is. */
  readonly dataCenterId?: string | null;
}

/** A savings plan that lowers a pod's price (contract, Pod). */
export interface SavingsPlan {
  /** Identifier of the plan. */
  readonly id?: string | null;
  /** The pod whose price it lowers. */
  readonly podId?: string | null;
  /** The type of GPU that it is for. */
  readonly gpuTypeId?: string | null;
  /** Credits per hour. */
  readonly costPerHr?: number | null;
  /** When it begins, a timestamp. */
  readonly startTime?: string | null;
  /** When it ends, a timestamp. */
  readonly endTime?: string | null;
}

/** A pod (contract, Pod). Fields that the service leaves out are missing. */
export interface Pod {
  /** Pod identifier. */
  readonly id: string;
  /** User-defined; need not be unique; at most 191 characters. */
  readonly name?: string | null;
  /** Container image tag. */
  readonly image?: string | null;
  /** The currently expected status: `RUNNING`, `EXITED` or `TERMINATED`; other words may occur. */
  readonly desiredStatus?: OpenEnum<(typeof POD_STATES)[number]> | null;
  /** Effective credits per hour after active savings plans. */
  readonly adjustedCostPerHr?: number | null;
  /** Credits per hour; the effective price may be lower with savings plans. */
  readonly costPerHr?: number | null;
  /** Legacy synonym of `endpointId`. */
  readonly aiApiId?: string | null;
  /** The endpoint whose worker this pod is; only of serverless workers. */
  readonly endpointId?: string | null;
  /** Version of the endpoint; only of serverless workers. */
  readonly slsVersion?: number | null;
  /** Identifier of the user who rents the pod. */
  readonly consumerUserId?: string | null;
  /** Container disk in GB; wiped on restart. */
  readonly containerDiskInGb?: number | null;
  /** Set when the pod was created with a container registry auth. */
  readonly containerRegistryAuthId?: string | null;
  /** Set for CPU pods. */
  readonly cpuFlavorId?: string | null;
  /** Overrides the image's ENTRYPOINT; an empty list means the image's. */
  readonly dockerEntrypoint?: readonly string[] | null;
  /** Overrides the image's start command; an empty list means the image's. */
  readonly dockerStartCmd?: readonly string[] | null;
  /** Environment variables. They hold secrets: a worker's pod carries an API key. */
  readonly env?: Readonly<Record<string, string>> | null;
  /** The pod's GPUs. */
  readonly gpu?: Gpu | null;
  /** `true`: cheaper, may be stopped at any time. `false`: reserved. */
  readonly interruptible?: boolean | null;
  /** UTC timestamp of the last start. */
  readonly lastStartedAt?: string | null;
  /** Free text describing the last lifecycle event. */
  readonly lastStatusChange?: string | null;
  /** When `true`, the pod cannot be stopped or reset. */
  readonly locked?: boolean | null;
  /** The host; with `includeMachine`. */
  readonly machine?: Machine | null;
  /** Identifier of the host. */
  readonly machineId?: string | null;
  /** RAM in GB. */
  readonly memoryInGb?: number | null;
  /** The attached network volume; with `includeNetworkVolume`. */
  readonly networkVolume?: NetworkVolume | null;
  /** Map from internal port to public port; empty while the pod is initializing. */
  readonly portMappings?: Readonly<Record<string, number>> | null;
  /** Each `<port number>/<protocol>`, the protocol `http` or `tcp`. */
  readonly ports?: readonly string[] | null;
  /** IPv4 address, or `null` while it is not determined. */
  readonly publicIp?: string | null;
  /** Active savings plans; with `includeSavingsPlans`. */
  readonly savingsPlans?: readonly SavingsPlan[] | null;
  /** The template, in the service's own shape; with `includeTemplate`. */
  readonly template?: Readonly<Record<string, unknown>> | null;
  /** Set when the pod was created from a template. */
  readonly templateId?: string | null;
  /** Number of virtual CPUs. */
  readonly vcpuCount?: number | null;
  /** Whether the local volume is encrypted. */
  readonly volumeEncrypted?: boolean | null;
  /** Pod volume in GB; kept across restarts. */
  readonly volumeInGb?: number | null;
  /** Absolute mount path of the pod volume or network volume. */
  readonly volumeMountPath?: string | null;
}
