import { GPU_TIERS } from "../../sdk/contract/limits";
import { type CpuInstance, cpuInstances } from "./cpuInstances";
import { dataCentersOf } from "./dataCenters";
import { type EndpointRecord, gpuSelection, volumesOf } from "./endpointFields";

/** The place of a worker: a data center with a machine that fits its endpoint. */
export interface Place {
  /** Id of the data center. */
  readonly dataCenterId: string;
  /** The network volume of the endpoint that is in this data center; `null` for none. */
  readonly volumeId: string | null;
  /** GPUs of the worker; 0 on CPUs. */
  readonly gpuCount: number;
  /** The CPU instance of the worker; `null` on GPUs. */
  readonly cpu: CpuInstance | null;
}

/** The catalog and the volumes, which decide where workers can run. */
export interface Catalog {
  /** Ids of all data centers. */
  readonly dataCenters: readonly string[];
  /** Returns the data center of a volume, or `undefined` if the emulator does not know it. */
  dataCenterOf(volumeId: string): string | undefined;
}

/** Machines with the same drivers. */
interface Machines {
  readonly tiers: readonly string[];
  /** CUDA versions of their drivers. A machine has one of them. */
  readonly cudaVersions: readonly string[];
}

const CUDA_11 = ["11.8", "12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6", "12.7", "12.8"];

/** The machines of each data center (assumed; the newest GPUs need CUDA 12.8). */
const MACHINES: readonly Machines[] = [
  { tiers: [...GPU_TIERS, "HOPPER_141"], cudaVersions: CUDA_11 },
  { tiers: ["ADA_32_PRO", "BLACKWELL_96", "BLACKWELL_180"], cudaVersions: ["12.8", "12.9", "13.0"] },
];

/** The most GPUs of one machine (assumed). */
const MOST_GPUS = 8;

/** The data centers with machines for CPU workers (assumed: one client of the service knows it). */
const CPU_DATA_CENTERS = ["EU-RO-1"];

/** Returns the places where a worker of an endpoint can start, the preferred first. */
export function placesOf(record: Readonly<EndpointRecord>, { dataCenters, dataCenterOf }: Catalog): Place[] {
  const isOnCpus = record.computeType === "CPU";
  const cpu = (isOnCpus && cpuInstances(record.instanceIds)[0]) || null;
  if (isOnCpus ? cpu === null : !hasMachine(record)) return [];
  const gpuCount = isOnCpus ? 0 : (record.gpuCount ?? 1);
  const wanted = dataCentersOf(record.locations);
  const known = wanted.length > 0 ? wanted.filter((id) => dataCenters.includes(id)) : dataCenters;
  const fitting = isOnCpus ? known.filter((id) => CPU_DATA_CENTERS.includes(id)) : known;
  const volumes = volumesOf(record);
  if (volumes.length === 0) {
    return fitting.map((dataCenterId) => ({ dataCenterId, volumeId: null, gpuCount, cpu }));
  }
  return fitting.flatMap((dataCenterId) => {
    // A volume that the emulator does not know is wherever the worker is.
    const volumeId = volumes.find((id) => (dataCenterOf(id) ?? dataCenterId) === dataCenterId);
    return volumeId === undefined ? [] : [{ dataCenterId, volumeId, gpuCount, cpu }];
  });
}

/** Returns `true` if machines with the GPUs and the drivers of an endpoint exist. */
function hasMachine({ gpuIds, gpuCount, minCudaVersion, allowedCudaVersions }: Readonly<EndpointRecord>): boolean {
  if ((gpuCount ?? 1) > MOST_GPUS) return false;
  const { tiers } = gpuSelection(gpuIds);
  const allowed = (allowedCudaVersions ?? "").split(",").flatMap((version) => version.trim() || []);
  const isAccepted = (version: string) =>
    (allowed.length === 0 || allowed.includes(version)) && (!minCudaVersion || isAtLeast(version, minCudaVersion));
  return MACHINES.some(
    (machines) => machines.tiers.some((tier) => tiers.includes(tier)) && machines.cudaVersions.some(isAccepted),
  );
}

/** Compares versions by number: 12.11 is above 12.2. */
function isAtLeast(version: string, floor: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [floorMajor = 0, floorMinor = 0] = floor.trim().split(".").map(Number);
  return major === floorMajor ? minor >= floorMinor : major > floorMajor;
}

/** Returns the variables that tell a worker its place (observed). */
export function placeVariables({ dataCenterId, volumeId }: Place): Readonly<Record<string, string>> {
  return { RUNPOD_DC_ID: dataCenterId, ...(volumeId !== null && { RUNPOD_VOLUME_ID: volumeId }) };
}
