import { GpuTier } from "../../sdk/contract/enums";
import { isGpuExclusion, splitList } from "../../sdk/endpoints/normalForms";

/**
 * Returns the GPU pools in these lists that this version does not know. Pool names with unusual
 * characters are left out, because the names become part of a shell command in the program's
 * header.
 */
export function unknownTiers(gpuIds: readonly string[]): string[] {
  const tiers = gpuIds.flatMap(splitList).filter((part) => !isGpuExclusion(part));
  return [...new Set(tiers)].filter((tier) => !Object.hasOwn(GpuTier, tier) && /^\w+$/.test(tier));
}
