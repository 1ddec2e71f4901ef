import { FLASH_BOOT_NAME_SUFFIX } from "../contract/limits";

/** Splits a comma list, or an array of them. Trims the parts and drops empty ones. */
export function splitList(value: string | readonly string[]): string[] {
  const list = typeof value === "string" ? value : value.join(",");
  return list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/**
 * Returns `gpuIds` as the service writes it: tiers in priority order, then exclusions of GPU types
 * (with a leading minus) in alphabetical order, without duplicates. The order of exclusions has no
 * meaning.
 */
export function normalizeGpuIds(value: string | readonly string[]): string {
  const parts = [...new Set(splitList(value))];
  const tiers = parts.filter((part) => !isGpuExclusion(part));
  const exclusions = parts.filter(isGpuExclusion).map((part) => `-${part.slice(1).trim()}`);
  return [...tiers, ...new Set(exclusions.sort())].join(",");
}

/**
 * Returns `true` if a part of `gpuIds` excludes a GPU type (`-NVIDIA L4`) and does not name a tier.
 */
export function isGpuExclusion(part: string): boolean {
  return part.startsWith("-");
}

/**
 * Returns `locations` as a sorted comma list without duplicates. An empty string means any region.
 */
export function normalizeLocations(value: string | readonly string[] | null | undefined): string {
  return [...new Set(splitList(value ?? ""))].sort().join(",");
}

/**
 * Returns an endpoint's name without the suffix that the service may append for FLASHBOOT, even
 * repeatedly.
 */
export function normalizeName(name: string): string {
  let result = name;
  while (result.endsWith(FLASH_BOOT_NAME_SUFFIX)) result = result.slice(0, -FLASH_BOOT_NAME_SUFFIX.length);
  return result;
}
