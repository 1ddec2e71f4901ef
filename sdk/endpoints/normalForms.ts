import { FLASH_BOOT_NAME_SUFFIX } from "../contract/limits";

/** Parts of a comma list or of an array of such lists, without surrounding spaces and empty parts. */
export function splitList(value: string | readonly string[]): string[] {
  const text = typeof value === "string" ? value : value.join(",");
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/**
 * `gpuIds` as the service writes it: tiers in priority order, then exclusions of GPU types (with a leading minus) in
 * alphabetical order, each once. The order of tiers has a meaning, that of exclusions has none.
 */
export function normalizeGpuIds(value: string | readonly string[]): string {
  const parts = [...new Set(splitList(value))];
  const tiers = parts.filter((part) => !isGpuExclusion(part));
  const exclusions = parts.filter(isGpuExclusion).map((part) => `-${part.slice(1).trim()}`);
  return [...tiers, ...new Set(exclusions.sort())].join(",");
}

/** Whether a part of `gpuIds` excludes a GPU type (`-NVIDIA L4`) instead of naming a tier. */
export function isGpuExclusion(part: string): boolean {
  return part.startsWith("-");
}

/** `locations` as a sorted comma list, each once; the empty text means any region. */
export function normalizeLocations(value: string | readonly string[] | null | undefined): string {
  return [...new Set(splitList(value ?? ""))].sort().join(",");
}

/** An endpoint's name without the suffix that the service may append for FLASHBOOT, once or more often. */
export function normalizeName(name: string): string {
  let result = name;
  while (result.endsWith(FLASH_BOOT_NAME_SUFFIX)) result = result.slice(0, -FLASH_BOOT_NAME_SUFFIX.length);
  return result;
}
