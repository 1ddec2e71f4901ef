import { FLASH_BOOT_NAME_SUFFIX } from "../contract/limits";

/**
 * Splits a comma-separated list, or an array of such lists. Trims the parts and leaves out empty
 * parts.
 */
export function splitList(value: string | readonly string[]): string[] {
  const list = typeof value === "string" ? value : value.join(",");
  return list
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/**
 * Returns `gpuIds` in the service's format, without duplicates. Pools come first, in priority
 * order. Excluded GPU types, each with a leading minus, follow in alphabetical order, because their
 * order does not matter.
 */
export function normalizeGpuIds(value: string | readonly string[]): string {
  const parts = [...new Set(splitList(value))];
  const tiers = parts.filter((part) => !isGpuExclusion(part));
  const exclusions = parts.filter(isGpuExclusion).map((part) => `-${part.slice(1).trim()}`);
  return [...tiers, ...new Set(exclusions.sort())].join(",");
}

/**
 * Returns `true` if a part of `gpuIds` excludes a GPU type (`-NVIDIA L4`) rather than naming a
 * pool.
 */
export function isGpuExclusion(part: string): boolean {
  return part.startsWith("-");
}

/** Returns a set as a sorted comma-separated list without duplicates. */
export function normalizeSet(value: string | readonly string[] | null | undefined): string {
  return [...new Set(splitList(value ?? ""))].sort().join(",");
}

/**
 * Returns a set of CUDA versions as a comma-separated list without duplicates, lowest version
 * first.
 */
export function normalizeCudaVersions(value: string | readonly string[]): string {
  return [...new Set(splitList(value))].sort(compareVersions).join(",");
}

/** Compares versions numerically, so that 12.11 is higher than 12.2. */
export function compareVersions(one: string, other: string): number {
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [numbersIn(one), numbersIn(other)];
  return major - otherMajor || minor - otherMinor;
}

function numbersIn(version: string): number[] {
  return version.split(".").map(Number);
}

/**
 * Returns an endpoint's name without the suffix that the service may append for FLASHBOOT. Removes
 * the suffix even if it occurs several times.
 */
export function normalizeName(name: string): string {
  let result = name;
  while (result.endsWith(FLASH_BOOT_NAME_SUFFIX)) result = result.slice(0, -FLASH_BOOT_NAME_SUFFIX.length);
  return result;
}
