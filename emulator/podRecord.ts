import { POD_NAME_MAX_LENGTH, POD_STATES } from "../sdk/spec";

/** A pod as the REST interface keeps it (contract, Pod). A pod with an `endpointId` is a worker of that endpoint. */
export interface Pod {
  readonly id: string;
  /** At most 191 characters; need not be unique. */
  readonly name: string;
  readonly image: string;
  readonly desiredStatus: (typeof POD_STATES)[number];
  /** Credits per hour after savings plans. */
  readonly adjustedCostPerHr: number;
  /** Credits per hour. */
  readonly costPerHr: number;
  readonly consumerUserId: string;
  /** GB. */
  readonly containerDiskInGb: number;
  readonly dockerEntrypoint: readonly string[];
  readonly dockerStartCmd: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly interruptible: boolean;
  /** A UTC timestamp. */
  readonly lastStartedAt: string;
  readonly lastStatusChange: string;
  readonly locked: boolean;
  readonly machineId: string;
  /** GB. */
  readonly memoryInGb: number;
  /** From internal to public port. */
  readonly portMappings: Readonly<Record<string, number>>;
  /** `<port>/http` or `<port>/tcp`. */
  readonly ports: readonly string[];
  readonly publicIp: string | null;
  readonly vcpuCount: number;
  readonly volumeEncrypted: boolean;
  /** GB. */
  readonly volumeInGb: number;
  readonly volumeMountPath: string;
  readonly aiApiId?: string;
  readonly endpointId?: string;
  readonly slsVersion?: number;
  readonly containerRegistryAuthId?: string;
  readonly cpuFlavorId?: string;
  readonly templateId?: string;
  readonly gpu?: Gpu;
  /** Shown with `includeMachine`. */
  readonly machine?: Machine;
  /** Shown with `includeNetworkVolume`. */
  readonly networkVolume?: NetworkVolume;
  /** Shown with `includeSavingsPlans`. */
  readonly savingsPlans: readonly SavingsPlan[];
  /** Shown with `includeTemplate`. Its fields are unknown. */
  readonly template?: Readonly<Record<string, unknown>>;
}

type Price =
  | "securePrice"
  | "communityPrice"
  | "oneMonthPrice"
  | "threeMonthPrice"
  | "sixMonthPrice"
  | "oneWeekPrice"
  | "communitySpotPrice"
  | "secureSpotPrice";

/** Contract, Pod, GPU object. */
export interface Gpu extends Partial<Readonly<Record<Price, number>>> {
  readonly id: string;
  readonly count: number;
  readonly displayName: string;
}

type MachineNumber =
  | "minPodGpuCount"
  | "cpuCount"
  | "diskThroughputMBps"
  | "maxDownloadSpeedMbps"
  | "maxUploadSpeedMbps"
  | "costPerHr"
  | "currentPricePerGpu"
  | "gpuAvailable";
type MachineText =
  | "gpuTypeId"
  | "cpuTypeId"
  | "location"
  | "dataCenterId"
  | "maintenanceStart"
  | "maintenanceEnd"
  | "maintenanceNote"
  | "note"
  | "gpuDisplayName";

/** Contract, Pod, Machine object. */
export interface Machine extends Partial<Readonly<Record<MachineNumber, number> & Record<MachineText, string>>> {
  readonly supportPublicIp?: boolean;
  readonly secureCloud?: boolean;
  readonly gpuType?: Gpu;
  readonly cpuType?: Partial<
    Readonly<Record<"id" | "displayName" | "groupId", string> & Record<"cores" | "threadsPerCore", number>>
  >;
}

/** Contract, Pod, `networkVolume`. */
export interface NetworkVolume {
  readonly id: string;
  readonly name: string;
  /** GB. */
  readonly size: number;
  readonly dataCenterId: string;
}

/** Contract, Pod, `savingsPlans`. */
export interface SavingsPlan {
  readonly id: string;
  readonly podId: string;
  readonly gpuTypeId: string;
  readonly costPerHr: number;
  readonly startTime: string;
  readonly endTime: string;
}

/** A pod to add: an id, and whatever should differ from the defaults. */
export type PodSeed = Partial<Pod> & Pick<Pod, "id">;

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
