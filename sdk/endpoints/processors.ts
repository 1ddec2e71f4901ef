import { CPU_INSTANCE } from "../contract/limits";
import { isGpuExclusion, splitList } from "./normalForms";

// Programs load this file when they start, so it imports no library.

/** Returns `gpuIds` as REST v2 writes them. */
export function v2GpuSelection(gpuIds: string): Readonly<Record<string, unknown>> {
  const parts = splitList(gpuIds);
  const excludedTypes = parts.filter(isGpuExclusion).map((part) => part.slice(1).trim());
  const pools = parts.filter((part) => !isGpuExclusion(part));
  return { "gpu.pools": pools, "gpu.excludedTypes": excludedTypes.length > 0 ? excludedTypes : undefined };
}

/** Returns `gpuIds` from the tiers and the excluded types of REST v2. */
export function gpuIdsOf(pools: unknown, excludedTypes: unknown): string[] {
  return [...textsIn(pools), ...textsIn(excludedTypes).map((type) => `-${type}`)];
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.map(String) : [];
}

/** Returns CPU instances as REST v2 writes them. It adds the memory, which the flavor decides. */
export function cpuSelection(instanceIds: string): Readonly<Record<string, unknown>> {
  const parts = splitList(instanceIds).map((each) => CPU_INSTANCE.exec(each) ?? []);
  return { cpu: parts.map(([, id, vcpuCount]) => ({ id, vcpuCount: Number(vcpuCount) })) };
}

/** Returns the ids of CPU instances, as GraphQL has them. */
export function instanceIdsOf(cpus: unknown): string[] {
  return (Array.isArray(cpus) ? cpus : []).map(({ id, vcpuCount, memory }) =>
    [id, vcpuCount, memory ?? vcpuCount * (String(id).endsWith("g") ? 4 : 2)].join("-"),
  );
}

/** Returns `true` for the settings of an endpoint that runs on CPUs. */
export function runsOnCpus({ instanceIds = "" }: Readonly<Record<string, unknown>>): boolean {
  return instanceIds !== "";
}

/** Returns `true` for a change between GPUs and CPUs. */
export function changesProcessor(from: string, to: string): boolean {
  return (from === "") !== (to === "");
}
