import { z } from "zod";
import { POD_STATES } from "../../sdk/contract/enums";
import { POD_NAME_MAX_LENGTH } from "../../sdk/contract/limits";
import { EXAMPLE_IMAGE } from "../workers/container";

/** A pod (contract, Pod). A pod with an `endpointId` is a worker of that endpoint. */
export interface Pod {
  /** Pod identifier. */
  readonly id: string;
  /** The name, at most 191 characters. It need not be unique. */
  readonly name: string;
  /** Container image tag. */
  readonly image: string;
  /** The expected status. */
  readonly desiredStatus: (typeof POD_STATES)[number];
  /** Credits per hour after savings plans. */
  readonly adjustedCostPerHr: number;
  /** Credits per hour. */
  readonly costPerHr: number;
  /** Identifier of the user who rents the pod. */
  readonly consumerUserId: string;
  /** Container disk in GB; wiped on restart. */
  readonly containerDiskInGb: number;
  /** Overrides the ENTRYPOINT of the image unless it is empty. */
  readonly dockerEntrypoint: readonly string[];
  /** Overrides the start command of the image unless it is empty. */
  readonly dockerStartCmd: readonly string[];
  /** Environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** `true` if the pod is cheaper and may be stopped at any time. */
  readonly interruptible: boolean;
  /** UTC timestamp of the last start. */
  readonly lastStartedAt: string;
  /** Description of the last lifecycle event. */
  readonly lastStatusChange: string;
  /** `true` if the pod is locked, so that it cannot be stopped or reset. */
  readonly locked: boolean;
  /** Identifier of the host. */
  readonly machineId: string;
  /** RAM in GB. */
  readonly memoryInGb: number;
  /** Map from internal port to public port. */
  readonly portMappings: Readonly<Record<string, number>>;
  /** Exposed ports, each `<port>/http` or `<port>/tcp`. */
  readonly ports: readonly string[];
  /** IPv4 address, or `null` while it is unknown. */
  readonly publicIp: string | null;
  /** Number of virtual CPUs. */
  readonly vcpuCount: number;
  /** `true` if the local volume is encrypted. */
  readonly volumeEncrypted: boolean;
  /** Pod volume in GB; kept across restarts. */
  readonly volumeInGb: number;
  /** Absolute mount path of the pod volume or network volume. */
  readonly volumeMountPath: string;
  /** Legacy synonym for `endpointId`. */
  readonly aiApiId?: string;
  /** The id of the endpoint that the pod is a worker of. */
  readonly endpointId?: string;
  /** The version of that endpoint. */
  readonly slsVersion?: number;
  /** The id of the registry credential that the pod was created with. */
  readonly containerRegistryAuthId?: string;
  /** Id of the CPU flavor, for CPU pods. */
  readonly cpuFlavorId?: string;
  /** Id of the template that the pod was created from. */
  readonly templateId?: string;
  /** The pod's GPUs. */
  readonly gpu?: Gpu;
  /** The host; shown with `includeMachine`. */
  readonly machine?: Machine;
  /** The attached network volume; shown with `includeNetworkVolume`. */
  readonly networkVolume?: NetworkVolume;
  /** Active savings plans; shown with `includeSavingsPlans`. */
  readonly savingsPlans: readonly Readonly<Record<string, unknown>>[];
  /** The template; shown with `includeTemplate`. Its fields are unknown. */
  readonly template?: Readonly<Record<string, unknown>>;
}

/** The GPUs of a pod. */
export interface Gpu {
  /** Id of the GPU type. */
  readonly id: string;
  /** Number of GPUs. */
  readonly count: number;
  /** Name of the GPU type. */
  readonly displayName: string;
  /** The prices, which the emulator returns as they are. */
  readonly [price: string]: unknown;
}

/** The machine of a pod. Fields that are not listed are returned as they are. */
export interface Machine {
  /** Id of the GPU type. */
  readonly gpuTypeId?: string;
  /** Id of the data center. */
  readonly dataCenterId?: string;
  readonly [field: string]: unknown;
}

/** A network volume (contract, Pod). */
export interface NetworkVolume {
  /** Identifier of the volume. */
  readonly id: string;
  /** Name of the volume. */
  readonly name: string;
  /** Size in GB. */
  readonly size: number;
  /** Identifier of the data center of the volume. */
  readonly dataCenterId: string;
}

/** A pod to add: its id, and the fields that differ from the defaults. */
export type PodSeed = Partial<Pod> & Pick<Pod, "id">;

/** The schema of a pod to add: the fields that `completePod` reads. */
export const podSeedSchema = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  ports: z.array(z.string()).optional(),
  costPerHr: z.number().optional(),
});

/** The GPU of all pods and workers. */
export const GPU: Gpu = { id: "NVIDIA RTX A5000", count: 1, displayName: "RTX A5000" };

/**
 * Returns a pod with defaults for the omitted fields.
 * @throws RangeError if a field violates a rule of the contract
 */
export function completePod(seed: PodSeed): Pod {
  const pod: Pod = {
    name: seed.id,
    image: EXAMPLE_IMAGE,
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
    gpu: seed.cpuFlavorId === undefined ? GPU : undefined,
    ...(seed.endpointId === undefined ? {} : { aiApiId: seed.endpointId, slsVersion: 0 }),
    ...seed,
  };
  if (pod.id === "") throw new RangeError("The id of a pod must not be empty.");
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
