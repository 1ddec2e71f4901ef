import { type CpuInstance, cpuInstances } from "./cpuInstances";
import { dataCentersOf } from "./dataCenters";
import { type EndpointRecord, gpuSelection, volumesOf } from "./endpointFields";
import { gpuTypesIn } from "./gpuTypes";
import { cudaRule, isInStock, type LevelOf } from "./stock";

/** Where a worker can run: a data center with a machine that fits its endpoint. */
export interface Place {
  /** The id of the data center. */
  readonly dataCenterId: string;
  /** The endpoint's network volume in this data center; `null` if there is none. */
  readonly volumeId: string | null;
  /** The worker's number of GPUs; 0 for a CPU worker. */
  readonly gpuCount: number;
  /** The worker's CPU instance; `null` for a GPU worker. */
  readonly cpu: CpuInstance | null;
}

/** The catalog and the volumes, which determine where workers can run. */
interface KnownPlaces {
  /** Ids of all data centers. */
  readonly dataCenters: readonly string[];
  /** Returns a volume's data center, or `undefined` if the emulator does not know it. */
  dataCenterOf(volumeId: string): string | undefined;
  /** Returns the stock of a GPU type. */
  readonly levelOf: LevelOf;
}

/** The data centers with machines for CPU workers (assumed, from one client of the service). */
export const CPU_DATA_CENTERS = ["EU-RO-1"];

/** Returns the places where an endpoint's worker can start, preferred first. */
export function placesOf(record: Readonly<EndpointRecord>, catalog: KnownPlaces): Place[] {
  const { dataCenters, dataCenterOf } = catalog;
  const isOnCpus = record.computeType === "CPU";
  const cpu = (isOnCpus && cpuInstances(record.instanceIds)[0]) || null;
  if (isOnCpus && cpu === null) return [];
  const gpuCount = isOnCpus ? 0 : (record.gpuCount ?? 1);
  const wanted = dataCentersOf(record.locations);
  const known = wanted.length > 0 ? wanted.filter((id) => dataCenters.includes(id)) : dataCenters;
  const hasMachine = isOnCpus ? (id: string) => CPU_DATA_CENTERS.includes(id) : freeMachines(record, catalog);
  const fitting = known.filter(hasMachine);
  const volumes = volumesOf(record);
  if (volumes.length === 0) {
    return fitting.map((dataCenterId) => ({ dataCenterId, volumeId: null, gpuCount, cpu }));
  }
  return fitting.flatMap((dataCenterId) => {
    // A volume that the emulator does not know counts as being in the worker's data center.
    const volumeId = volumes.find((id) => (dataCenterOf(id) ?? dataCenterId) === dataCenterId);
    return volumeId === undefined ? [] : [{ dataCenterId, volumeId, gpuCount, cpu }];
  });
}

/** Returns a function that tells whether a data center has a free machine for an endpoint. */
function freeMachines(
  { gpuIds, gpuCount, minCudaVersion, allowedCudaVersions }: Readonly<EndpointRecord>,
  { levelOf }: KnownPlaces,
): (dataCenterId: string) => boolean {
  const { tiers, excluded } = gpuSelection(gpuIds);
  const types = gpuTypesIn(tiers, excluded);
  const filter = { gpuCount: gpuCount ?? 1, accepts: cudaRule(allowedCudaVersions, minCudaVersion) };
  return (id) => types.some((type) => isInStock(levelOf(type, { ...filter, dataCenterIds: [id] })));
}

/** Returns the environment variables that tell a worker where it runs (observed). */
export function placeVariables({ dataCenterId, volumeId }: Place): Readonly<Record<string, string>> {
  return { RUNPOD_DC_ID: dataCenterId, ...(volumeId !== null && { RUNPOD_VOLUME_ID: volumeId }) };
}
