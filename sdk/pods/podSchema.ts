import * as z from "zod";
import type { OpenEnum, POD_STATES } from "../contract/enums";
import type { CpuType, Gpu, Machine, NetworkVolume, Pod, SavingsPlan } from "./podRecord";

// The objects are loose, so fields that the service adds are kept.

/**
 * A schema for each field of a record. If the schema of a field is missing, the code does not
 * compile.
 */
type Shape<T> = { readonly [K in keyof T]-?: z.ZodType<T[K]> };

/** A price or a count. The service writes it either as a number or as a numeric string. */
const numeric = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?[0-9]+(\.[0-9]+)?$/)
      .transform(Number),
  ])
  .nullish();
const string = z.string().nullish();
const flag = z.boolean().nullish();
const strings = z.array(z.string()).nullish();

const gpuSchema = z.looseObject({
  id: string,
  count: numeric,
  displayName: string,
  securePrice: numeric,
  communityPrice: numeric,
  oneMonthPrice: numeric,
  threeMonthPrice: numeric,
  sixMonthPrice: numeric,
  oneWeekPrice: numeric,
  communitySpotPrice: numeric,
  secureSpotPrice: numeric,
} satisfies Shape<Gpu>);

const cpuTypeSchema = z.looseObject({
  id: string,
  displayName: string,
  groupId: string,
  cores: numeric,
  threadsPerCore: numeric,
} satisfies Shape<CpuType>);

const machineSchema = z.looseObject({
  minPodGpuCount: numeric,
  gpuTypeId: string,
  gpuType: gpuSchema.nullish(),
  cpuCount: numeric,
  cpuTypeId: string,
  cpuType: cpuTypeSchema.nullish(),
  location: string,
  dataCenterId: string,
  diskThroughputMBps: numeric,
  maxDownloadSpeedMbps: numeric,
  maxUploadSpeedMbps: numeric,
  supportPublicIp: flag,
  secureCloud: flag,
  maintenanceStart: string,
  maintenanceEnd: string,
  maintenanceNote: string,
  note: string,
  costPerHr: numeric,
  currentPricePerGpu: numeric,
  gpuAvailable: numeric,
  gpuDisplayName: string,
} satisfies Shape<Machine>);

const networkVolumeSchema = z.looseObject({
  id: string,
  name: string,
  size: numeric,
  dataCenterId: string,
} satisfies Shape<NetworkVolume>);

const savingsPlanSchema = z.looseObject({
  id: string,
  podId: string,
  gpuTypeId: string,
  costPerHr: numeric,
  startTime: string,
  endTime: string,
} satisfies Shape<SavingsPlan>);

export const podSchema: z.ZodType<Pod> = z
  .looseObject({
    id: z.string().min(1),
    name: string,
    image: string,
    desiredStatus: z.custom<OpenEnum<(typeof POD_STATES)[number]>>((value) => typeof value === "string").nullish(),
    adjustedCostPerHr: numeric,
    costPerHr: numeric,
    aiApiId: string,
    endpointId: string,
    slsVersion: z.number().nullish(),
    consumerUserId: string,
    containerDiskInGb: z.number().nullish(),
    containerRegistryAuthId: string,
    cpuFlavorId: string,
    dockerEntrypoint: strings,
    dockerStartCmd: strings,
    env: z.record(z.string(), z.string()).nullish(),
    gpu: gpuSchema.nullish(),
    interruptible: flag,
    lastStartedAt: string,
    lastStatusChange: string,
    locked: flag,
    machine: machineSchema.nullish(),
    machineId: string,
    memoryInGb: numeric,
    networkVolume: networkVolumeSchema.nullish(),
    portMappings: z.record(z.string(), z.number()).nullish(),
    ports: strings,
    publicIp: string,
    savingsPlans: z.array(savingsPlanSchema).nullish(),
    template: z.looseObject({}).nullish(),
    templateId: string,
    vcpuCount: numeric,
    volumeEncrypted: flag,
    volumeInGb: z.number().nullish(),
    volumeMountPath: string,
    /** An alternative name that the service may use for `image`. */
    imageName: string,
  } satisfies Shape<Pod & { imageName?: string | null }>)
  .transform(({ imageName, ...pod }) => (imageName == null ? pod : { ...pod, image: pod.image ?? imageName }));
