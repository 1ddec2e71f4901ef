import { z } from "zod";
import { POD_NAME_MAX_LENGTH, POD_STATES } from "../../sdk/contract/limits";

/** A pod as the REST interface keeps it (contract, Pod). A pod with an `endpointId` is a worker of that endpoint. */
export interface Pod {
  /** Pod identifier. */
  readonly id: string;
  /** Name; at most 191 characters; need not be unique. */
  readonly name: string;
  /** Container image tag. */
  readonly image: string;
  /** The currently expected status. */
  readonly desiredStatus: (typeof POD_STATES)[number];
  /** Credits per hour after savings plans. */
  readonly adjustedCostPerHr: number;
  /** Credits per hour. */
  readonly costPerHr: number;
  /** Identifier of the user who rents the pod. */
  readonly consumerUserId: string;
  /** Container disk in GB; wiped on restart. */
  readonly containerDiskInGb: number;
  /** Overrides the image's ENTRYPOINT; an empty list means the image's. */
  readonly dockerEntrypoint: readonly string[];
  /** Overrides the image's start command; an empty list means the image's. */
  readonly dockerStartCmd: readonly string[];
  /** Environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** `true`: cheaper, may be stopped at any time. `false`: reserved. */
  readonly interruptible: boolean;
  /** UTC timestamp of the last start. */
  readonly lastStartedAt: string;
  /** Free text describing the last lifecycle event. */
  readonly lastStatusChange: string;
  /** When `true`, the pod cannot be stopped or reset. */
  readonly locked: boolean;
  /** Identifier of the host. */
  readonly machineId: string;
  /** RAM in GB. */
  readonly memoryInGb: number;
  /** Map from internal port to public port. */
  readonly portMappings: Readonly<Record<string, number>>;
  /** Each `<port>/http` or `<port>/tcp`. */
  readonly ports: readonly string[];
  /** IPv4 address, or `null` while it is not determined. */
  readonly publicIp: string | null;
  /** Number of virtual CPUs. */
  readonly vcpuCount: number;
  /** Whether the local volume is encrypted. */
  readonly volumeEncrypted: boolean;
  /** Pod volume in GB; kept across restarts. */
  readonly volumeInGb: number;
  /** Absolute mount path of the pod volume or network volume. */
  readonly volumeMountPath: string;
  /** Legacy synonym of `endpointId`. */
  readonly aiApiId?: string;
  /** The endpoint whose worker this pod is. */
  readonly endpointId?: string;
  /** Version of that endpoint. */
  readonly slsVersion?: number;
  /** Set when the pod was created with a container registry auth. */
  readonly containerRegistryAuthId?: string;
  /** Set for CPU pods. */
  readonly cpuFlavorId?: string;
  /** Set when the pod was created from a template. */
  readonly templateId?: string;
  /** The pod's GPUs. */
  readonly gpu?: Gpu;
  /** The host; shown with `includeMachine`. */
  readonly machine?: Machine;
  /** The attached network volume; shown with `includeNetworkVolume`. */
  readonly networkVolume?: NetworkVolume;
  /** Active savings plans; shown with `includeSavingsPlans`. */
  readonly savingsPlans: readonly SavingsPlan[];
  /** The template; shown with `includeTemplate`. Its fields are unknown. */
  readonly template?: Readonly<Record<string, unknown>>;
}

/** A type of GPU and its prices in credits per hour (contract, GPU object). */
export interface Gpu {
  /** Identifier of the type, such as `NVIDIA RTX A5000`. */
  readonly id: string;
  /** Number of GPUs. */
  readonly count: number;
  /** The type's name for people. */
  readonly displayName: string;
  /** Price in the secure cloud. */
  readonly securePrice?: number;
  /** Price in the community cloud. */
  readonly communityPrice?: number;
  /** Price with a savings plan of one month. */
  readonly oneMonthPrice?: number;
  /** Price with a savings plan of three months. */
  readonly threeMonthPrice?: number;
  /** Price with a savings plan of six months. */
  readonly sixMonthPrice?: number;
  /** Price with a savings plan of one week. */
  readonly oneWeekPrice?: number;
  /** Price of an interruptible pod in the community cloud. */
  readonly communitySpotPrice?: number;
  /** Price of an interruptible pod in the secure cloud. */
  readonly secureSpotPrice?: number;
}

/** A type of CPU (contract, Machine object). */
export interface Cpu {
  /** Identifier of the type. */
  readonly id?: string;
  /** The type's name for people. */
  readonly displayName?: string;
  /** Identifier of the group of types that it belongs to. */
  readonly groupId?: string;
  /** Number of cores. */
  readonly cores?: number;
  /** Number of threads of each core. */
  readonly threadsPerCore?: number;
}

/** The host of a pod (contract, Machine object). */
export interface Machine {
  /** Fewest GPUs that a pod may have on it. */
  readonly minPodGpuCount?: number;
  /** Identifier of its type of GPU. */
  readonly gpuTypeId?: string;
  /** Its type of GPU. */
  readonly gpuType?: Gpu;
  /** Number of CPUs. */
  readonly cpuCount?: number;
  /** Identifier of its type of CPU. */
  readonly cpuTypeId?: string;
  /** Its type of CPU. */
  readonly cpuType?: Cpu;
  /** Where it stands. */
  readonly location?: string;
  /** Identifier of the data center where it stands. */
  readonly dataCenterId?: string;
  /** Megabytes per second. */
  readonly diskThroughputMBps?: number;
  /** Megabits per second. */
  readonly maxDownloadSpeedMbps?: number;
  /** Megabits per second. */
  readonly maxUploadSpeedMbps?: number;
  /** Whether its pods can have a public IP address. */
  readonly supportPublicIp?: boolean;
  /** Whether it is part of the secure cloud. */
  readonly secureCloud?: boolean;
  /** When its next maintenance begins. */
  readonly maintenanceStart?: string;
  /** When its next maintenance ends. */
  readonly maintenanceEnd?: string;
  /** What is said about its next maintenance. */
  readonly maintenanceNote?: string;
  /** What is said about the machine. */
  readonly note?: string;
  /** Credits per hour. */
  readonly costPerHr?: number;
  /** Credits per hour. */
  readonly currentPricePerGpu?: number;
  /** Number of GPUs that are free. */
  readonly gpuAvailable?: number;
  /** Its type of GPU, for people. */
  readonly gpuDisplayName?: string;
}

/** A network volume (contract, Pod). */
export interface NetworkVolume {
  /** Identifier of the volume. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** GB. */
  readonly size: number;
  /** Identifier of the data center where it is. */
  readonly dataCenterId: string;
}

/** A savings plan that lowers a pod's price (contract, Pod). */
export interface SavingsPlan {
  /** Identifier of the plan. */
  readonly id: string;
  /** The pod whose price it lowers. */
  readonly podId: string;
  /** The type of GPU that it is for. */
  readonly gpuTypeId: string;
  /** Credits per hour. */
  readonly costPerHr: number;
  /** When it begins, a timestamp. */
  readonly startTime: string;
  /** When it ends, a timestamp. */
  readonly endTime: string;
}

/** A pod to add: an id, and whatever should differ from the defaults. */
export type PodSeed = Partial<Pod> & Pick<Pod, "id">;

/** The schema of a pod to add: the fields that `completePod` reads. */
export const podSeedSchema = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  ports: z.array(z.string()).optional(),
  costPerHr: z.number().optional(),
});

/** Fills in the fields that are left out. Throws a RangeError when a field breaks the contract. */
export function completePod(seed: PodSeed): Pod {
  const pod: Pod = {
    name: seed.id,
    image: "example/image:latest",
    desiredStatus: "RUNNING",
    adjustedCostPerHr: seed.costPerHr ?? 0.44,
    costPerHr: 0.44,
    consumerUserId: "emulator-user",
    containerDiskInGb: 50,
    dockerEntrypoint: [],
    dockerStartCmd: [],
    env: {},
    interruptible: false,
    lastStartedAt: new Date(0).toISOString(),
    lastStatusChange: "Rented by User",
    locked: false,
    machineId: "emulator-machine",
    memoryInGb: 62,
    portMappings: {},
    ports: [],
    publicIp: null,
    vcpuCount: 16,
    volumeEncrypted: false,
    volumeInGb: 20,
    volumeMountPath: "/workspace",
    savingsPlans: [],
    gpu: seed.cpuFlavorId === undefined ? { id: "NVIDIA RTX A5000", count: 1, displayName: "RTX A5000" } : undefined,
    ...(seed.endpointId === undefined ? {} : { aiApiId: seed.endpointId, slsVersion: 0 }),
    ...seed,
  };
  if (pod.id === "") throw new RangeError("A pod needs an id that is not empty.");
  if (pod.name.length > POD_NAME_MAX_LENGTH) {
    throw new RangeError(
      `Pod "${pod.id}": the name has ${pod.name.length} characters, at most ${POD_NAME_MAX_LENGTH} are allowed.`,
    );
  }
  if (!POD_STATES.includes(pod.desiredStatus)) {
    throw new RangeError(
      `Pod "${pod.id}": desiredStatus "${pod.desiredStatus}" is not one of ${POD_STATES.join(", ")}.`,
    );
  }
  const badPort = pod.ports.find((port) => !/^\d+\/(http|tcp)$/.test(port));
  if (badPort !== undefined)
    throw new RangeError(`Pod "${pod.id}": port "${badPort}" is not <port number>/http or /tcp.`);
  return pod;
}
