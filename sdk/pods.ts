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
  id: text,
  count: numeric,
  displayName: text,
  securePrice: numeric,
  communityPrice: numeric,
  oneMonthPrice: numeric,
  threeMonthPrice: numeric,
  sixMonthPrice: numeric,
  oneWeekPrice: numeric,
  communitySpotPrice: numeric,
  secureSpotPrice: numeric,
});

/** The host of a pod (contract, Machine object). */
const machineSchema = z.looseObject({
  minPodGpuCount: numeric,
  gpuTypeId: text,
  gpuType: gpuSchema.nullish(),
  cpuCount: numeric,
  cpuTypeId: text,
  cpuType: z
    .looseObject({ id: text, displayName: text, groupId: text, cores: numeric, threadsPerCore: numeric })
    .nullish(),
  location: text,
  dataCenterId: text,
  /** Megabytes per second. */
  diskThroughputMBps: numeric,
  /** Megabits per second. */
  maxDownloadSpeedMbps: numeric,
  /** Megabits per second. */
  maxUploadSpeedMbps: numeric,
  supportPublicIp: flag,
  secureCloud: flag,
  maintenanceStart: text,
  maintenanceEnd: text,
  maintenanceNote: text,
  note: text,
  /** Credits per hour. */
  costPerHr: numeric,
  /** Credits per hour. */
  currentPricePerGpu: numeric,
  gpuAvailable: numeric,
  gpuDisplayName: text,
});

/** A savings plan that lowers a pod's price (contract, Pod). */
const savingsPlanSchema = z.looseObject({
  /** Credits per hour. */
  costPerHr: numeric,
  /** Timestamp. */
  endTime: text,
  gpuTypeId: text,
  id: text,
  podId: text,
  /** Timestamp. */
  startTime: text,
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
    /** The attached network volume, its size in GB; with `includeNetworkVolume`. */
    networkVolume: z.looseObject({ id: text, name: text, size: numeric, dataCenterId: text }).nullish(),
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
export type Pod = z.infer<typeof podSchema>;

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
