/** A type of CPU machine. */
export interface CpuFlavor {
  /** GB of memory per vCPU. */
  readonly memoryPerVcpu: number;
  /** The highest number of vCPUs of an instance. */
  readonly maxVcpus: number;
  /** The price of one worker vCPU, in US dollars an hour (assumed). */
  readonly perVcpuHour: number;
}

/** The CPU flavors in the service's catalog. Its list changes over time. */
export const CPU_FLAVORS: Readonly<Record<string, CpuFlavor>> = {
  cpu3c: { memoryPerVcpu: 2, maxVcpus: 8, perVcpuHour: 0.03 },
  cpu3g: { memoryPerVcpu: 4, maxVcpus: 8, perVcpuHour: 0.04 },
  cpu5c: { memoryPerVcpu: 2, maxVcpus: 8, perVcpuHour: 0.035 },
  cpu5g: { memoryPerVcpu: 4, maxVcpus: 8, perVcpuHour: 0.045 },
};

/** A CPU instance, such as `cpu3g-4-16`. */
export interface CpuInstance {
  /** The flavor. */
  readonly id: string;
  /** Number of virtual CPUs, a power of two. */
  readonly vcpuCount: number;
  /** Memory in GB. */
  readonly memory: number;
}

/** Returns an instance by id, or `undefined` if the catalog does not contain it. */
export function cpuInstance(instanceId: string): CpuInstance | undefined {
  const [, id = "", vcpus, memory] = /^([a-z0-9]+)-(\d+)-(\d+)$/.exec(instanceId) ?? [];
  const instance = { id, vcpuCount: Number(vcpus), memory: Number(memory) };
  const flavor = Object.hasOwn(CPU_FLAVORS, id) ? CPU_FLAVORS[id] : undefined;
  if (!flavor || !isPowerOfTwo(instance.vcpuCount) || instance.vcpuCount > flavor.maxVcpus) return undefined;
  return instance.memory === instance.vcpuCount * flavor.memoryPerVcpu ? instance : undefined;
}

/** Returns instances by id, leaving out those that the catalog does not contain. */
export function cpuInstances(ids: readonly string[] | null): CpuInstance[] {
  return (ids ?? []).flatMap((id) => cpuInstance(id) ?? []);
}

/** Returns the id of an instance. The flavor determines the memory. */
export function instanceIdOf({ id, vcpuCount }: Pick<CpuInstance, "id" | "vcpuCount">): string {
  const { memoryPerVcpu = 0 } = Object.hasOwn(CPU_FLAVORS, id) ? (CPU_FLAVORS[id] as CpuFlavor) : {};
  return `${id}-${vcpuCount}-${vcpuCount * memoryPerVcpu}`;
}

/** Returns `true` for 1, 2, 4, 8, … */
export function isPowerOfTwo(number: number): boolean {
  return number >= 1 && Number.isInteger(Math.log2(number));
}
