import { CPU_INSTANCE } from "../contract/limits";
import { isGpuExclusion, splitList } from "./normalForms";

// Programs load this file on startup, so it must not import any libraries.

/** Returns `gpuIds` in the format of REST v2. */
export function v2GpuSelection(gpuIds: string): Readonly<Record<string, unknown>> {
  const parts = splitList(gpuIds);
  const excludedTypes = parts.filter(isGpuExclusion).map((part) => part.slice(1).trim());
  const pools = parts.filter((part) => !isGpuExclusion(part));
  return { "gpu.pools": pools, "gpu.excludedTypes": excludedTypes.length > 0 ? excludedTypes : undefined };
}

/** Returns `gpuIds` from the pools and excluded types of REST v2. */
export function gpuIdsOf(pools: unknown, excludedTypes: unknown): string[] {
  return [...textsIn(pools), ...textsIn(excludedTypes).map((type) => `-${type}`)];
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

/**
 * Returns CPU instances in the format of REST v2. The memory is left out, because the flavor
 * determines it.
 */
export function cpuSelection(instanceIds: string): Readonly<Record<string, unknown>> {
  const parts = splitList(instanceIds).map((each) => CPU_INSTANCE.exec(each) ?? []);
  return { cpu: parts.map(([, id, vcpuCount]) => ({ id, vcpuCount: Number(vcpuCount) })) };
}

/** Returns the ids of CPU instances in the format of GraphQL. */
export function instanceIdsOf(cpus: unknown): string[] {
  return (Array.isArray(cpus) ? cpus : []).map(({ id, vcpuCount, memory }) =>
    [id, vcpuCount, memory ?? vcpuCount * (String(id).endsWith("g") ? 4 : 2)].join("-"),
  );
}

/** Returns `true` if an endpoint with these settings runs on CPUs. */
export function runsOnCpus({ instanceIds = "" }: Readonly<Record<string, unknown>>): boolean {
  return instanceIds !== "";
}

/** Returns `true` if the endpoint changes from GPUs to CPUs or from CPUs to GPUs. */
export function changesProcessor(from: string, to: string): boolean {
  return (from === "") !== (to === "");
}
