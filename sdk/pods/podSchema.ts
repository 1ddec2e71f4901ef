import { z } from "zod";
import type { OpenEnum } from "../contract/enums";
import type { POD_STATES } from "../contract/limits";
import type { CpuType, Gpu, Machine, NetworkVolume, Pod, SavingsPlan } from "./podRecord";

// Fields that the service adds are kept.

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
}) satisfies z.ZodType<Gpu>;

const cpuTypeSchema = z.looseObject({
  id: text,
  displayName: text,
  groupId: text,
  cores: numeric,
  threadsPerCore: numeric,
}) satisfies z.ZodType<CpuType>;

const machineSchema = z.looseObject({
  minPodGpuCount: numeric,
  gpuTypeId: text,
  gpuType: gpuSchema.nullish(),
  cpuCount: numeric,
  cpuTypeId: text,
  cpuType: cpuTypeSchema.nullish(),
  location: text,
  dataCenterId: text,
  diskThroughputMBps: numeric,
  maxDownloadSpeedMbps: numeric,
  maxUploadSpeedMbps: numeric,
  supportPublicIp: flag,
  secureCloud: flag,
  maintenanceStart: text,
  maintenanceEnd: text,
  maintenanceNote: text,
  note: text,
  costPerHr: numeric,
  currentPricePerGpu: numeric,
  gpuAvailable: numeric,
  gpuDisplayName: text,
}) satisfies z.ZodType<Machine>;

const networkVolumeSchema = z.looseObject({
  id: text,
  name: text,
  size: numeric,
  dataCenterId: text,
}) satisfies z.ZodType<NetworkVolume>;

const savingsPlanSchema = z.looseObject({
  id: text,
  podId: text,
  gpuTypeId: text,
  costPerHr: numeric,
  startTime: text,
  endTime: text,
}) satisfies z.ZodType<SavingsPlan>;

export const podSchema: z.ZodType<Pod> = z
  .looseObject({
    id: z.string().min(1),
    name: text,
    image: text,
    desiredStatus: z.custom<OpenEnum<(typeof POD_STATES)[number]>>((value) => typeof value === "string").nullish(),
    adjustedCostPerHr: numeric,
    costPerHr: numeric,
    aiApiId: text,
    endpointId: text,
    slsVersion: z.number().nullish(),
    consumerUserId: text,
    containerDiskInGb: z.number().nullish(),
    containerRegistryAuthId: text,
    cpuFlavorId: text,
    dockerEntrypoint: texts,
    dockerStartCmd: texts,
    env: z.record(z.string(), z.string()).nullish(),
    gpu: gpuSchema.nullish(),
    interruptible: flag,
    lastStartedAt: text,
    lastStatusChange: text,
    locked: flag,
    machine: machineSchema.nullish(),
    machineId: text,
    memoryInGb: numeric,
    networkVolume: networkVolumeSchema.nullish(),
    portMappings: z.record(z.string(), z.number()).nullish(),
    ports: texts,
    publicIp: text,
    savingsPlans: z.array(savingsPlanSchema).nullish(),
    template: z.looseObject({}).nullish(),
    templateId: text,
    vcpuCount: numeric,
    volumeEncrypted: flag,
    volumeInGb: z.number().nullish(),
    volumeMountPath: text,
    /** Another name that `image` may come under. */
    imageName: text,
  })
  .transform(({ imageName, ...pod }) => (imageName == null ? pod : { ...pod, image: pod.image ?? imageName }));
