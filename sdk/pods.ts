import { z } from "zod";
import { type CallContext, makeCall } from "./call";
import { decode } from "./decode";
import type { CallOptions } from "./endpoints";
import type { OpenEnum } from "./enums";
import { addressOf, decodeJson, type Http, send } from "./http";
import { pathSegment } from "./pathSegment";
import type { Secret } from "./secret";
import type { POD_STATES } from "./spec";

/** A price or a count that the service may write as a number or as a numeric text. */
const numeric = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?[0-9]+(\.[0-9]+)?$/)
      .transform(Number),
  ])
  .nullish();
const text = z.string().nullish();
const flag = z.boolean().nullish();
const texts = z.array(z.string()).nullish();

/** A type of GPU and its prices in credits per hour (contract, GPU object). */
const gpuSchema = z.looseObject({
  /** Identifier of the GPU's type, such as `NVIDIA RTX A5000`. */
  id: text,
  /** Number of GPUs. */
  count: numeric,
  /** The type's name for people. */
  displayName: text,
  /** Price in the secure cloud. */
  securePrice: numeric,
  /** Price in the community cloud. */
  communityPrice: numeric,
  /** Price with a savings plan of one month. */
  oneMonthPrice: numeric,
  /** Price with a savings plan of three months. */
  threeMonthPrice: numeric,
  /** Price with a savings plan of six months. */
  sixMonthPrice: numeric,
  /** Price with a savings plan of one week. */
  oneWeekPrice: numeric,
  /** Price of an interruptible pod in the community cloud. */
  communitySpotPrice: numeric,
  /** Price of an interruptible pod in the secure cloud. */
  secureSpotPrice: numeric,
});

/** A type of CPU (contract, Machine object). */
const cpuTypeSchema = z.looseObject({
  /** Identifier of the type. */
  id: text,
  /** The type's name for people. */
  displayName: text,
  /** Identifier of the group of types that it belongs to. */
  groupId: text,
  /** Number of cores. */
  cores: numeric,
  /** Number of threads of each core. */
  threadsPerCore: numeric,
});

/** The host of a pod (contract, Machine object). */
const machineSchema = z.looseObject({
  /** Fewest GPUs that a pod may have on it. */
  minPodGpuCount: numeric,
  /** Identifier of its type of GPU. */
  gpuTypeId: text,
  /** Its type of GPU. */
  gpuType: gpuSchema.nullish(),
  /** Number of CPUs. */
  cpuCount: numeric,
  /** Identifier of its type of CPU. */
  cpuTypeId: text,
  /** Its type of CPU. */
  cpuType: cpuTypeSchema.nullish(),
  /** Where it stands. */
  location: text,
  /** Identifier of the data center where it stands. */
  dataCenterId: text,
  /** Megabytes per second. */
  diskThroughputMBps: numeric,
  /** Megabits per second. */
  maxDownloadSpeedMbps: numeric,
  /** Megabits per second. */
  maxUploadSpeedMbps: numeric,
  /** Whether its pods can have a public IP address. */
  supportPublicIp: flag,
  /** Whether it is part of the secure cloud. */
  secureCloud: flag,
  /** When its next maintenance begins. */
  maintenanceStart: text,
  /** When its next maintenance ends. */
  maintenanceEnd: text,
  /** What is said about its next maintenance. */
  maintenanceNote: text,
  /** What is said about the machine. */
  note: text,
  /** Credits per hour. */
  costPerHr: numeric,
  /** Credits per hour. */
  currentPricePerGpu: numeric,
  /** Number of GPUs that are free. */
  gpuAvailable: numeric,
  /** Its type of GPU, for people. */
  gpuDisplayName: text,
});

/** A network volume (contract, Pod). */
const networkVolumeSchema = z.looseObject({
  /** Identifier of the volume. */
  id: text,
  /** Its name. */
  name: text,
  /** GB. */
  size: numeric,
  /** Identifier of the data center where it is. */
  dataCenterId: text,
});

/** A savings plan that lowers a pod's price (contract, Pod). */
const savingsPlanSchema = z.looseObject({
  /** Identifier of the plan. */
  id: text,
  /** The pod whose price it lowers. */
  podId: text,
  /** The type of GPU that it is for. */
  gpuTypeId: text,
  /** Credits per hour. */
  costPerHr: numeric,
  /** When it begins, a timestamp. */
  startTime: text,
  /** When it ends, a timestamp. */
  endTime: text,
});

const podSchema = z
  .looseObject({
    /** Pod identifier. */
    id: z.string().min(1),
    /** User-defined; need not be unique; at most 191 characters. */
    name: text,
    /** Container image tag. */
    image: text,
    /** The currently expected status: `RUNNING`, `EXITED` or `TERMINATED`; other words may occur. */
    desiredStatus: z.custom<OpenEnum<(typeof POD_STATES)[number]>>((value) => typeof value === "string").nullish(),
    /** Effective credits per hour after active savings plans. */
    adjustedCostPerHr: numeric,
    /** Credits per hour; the effective price may be lower with savings plans. */
    costPerHr: numeric,
    /** Legacy synonym of `endpointId`. */
    aiApiId: text,
    /** The endpoint whose worker this pod is; only of serverless workers. */
    endpointId: text,
    /** Version of the endpoint; only of serverless workers. */
    slsVersion: z.number().nullish(),
    /** Identifier of the user who rents the pod. */
    consumerUserId: text,
    /** Container disk in GB; wiped on restart. */
    containerDiskInGb: z.number().nullish(),
    /** Set when the pod was created with a container registry auth. */
    containerRegistryAuthId: text,
    /** Set for CPU pods. */
    cpuFlavorId: text,
    /** Overrides the image's ENTRYPOINT; an empty list means the image's. */
    dockerEntrypoint: texts,
    /** Overrides the image's start command; an empty list means the image's. */
    dockerStartCmd: texts,
    /** Environment variables. They hold secrets: a worker's pod carries an API key. */
    env: z.record(z.string(), z.string()).nullish(),
    /** The pod's GPUs. */
    gpu: gpuSchema.nullish(),
    /** `true`: cheaper, may be stopped at any time. `false`: reserved. */
    interruptible: flag,
    /** UTC timestamp of the last start. */
    lastStartedAt: text,
    /** Free text describing the last lifecycle event. */
    lastStatusChange: text,
    /** When `true`, the pod cannot be stopped or reset. */
    locked: flag,
    /** The host; with `includeMachine`. */
    machine: machineSchema.nullish(),
    /** Identifier of the host. */
    machineId: text,
    /** RAM in GB. */
    memoryInGb: numeric,
    /** The attached network volume; with `includeNetworkVolume`. */
    networkVolume: networkVolumeSchema.nullish(),
    /** Map from internal port to public port; empty while the pod is initializing. */
    portMappings: z.record(z.string(), z.number()).nullish(),
    /** Each `<port number>/<protocol>`, the protocol `http` or `tcp`. */
    ports: texts,
    /** IPv4 address, or `null` while it is not determined. */
    publicIp: text,
    /** Active savings plans; with `includeSavingsPlans`. */
    savingsPlans: z.array(savingsPlanSchema).nullish(),
    /** The template, in the service's own shape; with `includeTemplate`. */
    template: z.looseObject({}).nullish(),
    /** Set when the pod was created from a template. */
    templateId: text,
    /** Number of virtual CPUs. */
    vcpuCount: numeric,
    /** Whether the local volume is encrypted. */
    volumeEncrypted: flag,
    /** Pod volume in GB; kept across restarts. */
    volumeInGb: z.number().nullish(),
    /** Absolute mount path of the pod volume or network volume. */
    volumeMountPath: text,
    /** Another name that `image` may come under. */
    imageName: text,
  })
  .transform(({ imageName, ...pod }) => (imageName == null ? pod : { ...pod, image: pod.image ?? imageName }));

/** A pod (contract, Pod). Fields that the service leaves out are missing; fields it adds are kept. */
export interface Pod extends z.infer<typeof podSchema> {}

/** What to add to a pod's record (contract, REST). Each defaults to `false`. */
export interface PodIncludes {
  /** Adds the machine that the pod runs on. */
  readonly includeMachine?: boolean;
  /** Adds the attached network volume, if any. */
  readonly includeNetworkVolume?: boolean;
  /** Adds the savings plans applied. */
  readonly includeSavingsPlans?: boolean;
  /** Adds the template that the pod uses, if any. */
  readonly includeTemplate?: boolean;
  /** Also finds pods that are serverless workers. */
  readonly includeWorkers?: boolean;
}

/** Looks pods up (contract, REST). */
export interface Pods {
  /**
   * Reads one pod.
   * @throws NotFoundError when there is no such pod
   * @throws InvalidInputError, before any call, when the id cannot be part of a path
   */
  get(podId: string, options?: PodIncludes & CallOptions): Promise<Pod>;
}

export interface PodsContext extends CallContext {
  readonly http: Http;
  /** Without the path `/v1`. */
  readonly restUrl: string;
  readonly apiKey: Secret;
}

const INCLUDES = [
  "includeMachine",
  "includeNetworkVolume",
  "includeSavingsPlans",
  "includeTemplate",
  "includeWorkers",
] as const satisfies readonly (keyof PodIncludes)[];

/** The REST interface of one account. */
export function createPods(context: PodsContext): Pods {
  return {
    async get(podId, { signal, ...includes } = {}) {
      const operation = `the look-up of pod ${podId}`;
      const url = new URL(`${context.restUrl}/v1/pods/${pathSegment("podId", podId)}`);
      for (const include of INCLUDES) if (includes[include]) url.searchParams.set(include, "true");
      return makeCall(context, {
        operation,
        repeatability: "safe",
        signal,
        async attempt(attempt) {
          const response = await send(context.http, {
            name: "getPod",
            operation,
            method: "GET",
            address: addressOf(url.href),
            headers: { authorization: `Bearer ${context.apiKey.reveal()}` },
            attempt,
          });
          return decode(podSchema, decodeJson(response, operation, context.clock.now()), operation);
        },
      });
    },
  };
}
