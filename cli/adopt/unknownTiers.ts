import { GpuTier } from "../../sdk/contract/enums";
import { isGpuExclusion, splitList } from "../../sdk/endpoints/normalForms";

/**
 * Returns the GPU tiers in these lists that this version does not know. Their names become part of
 * a shell command in the header of a program, so those with other characters are left out.
 */
export function unknownTiers(gpuIds: readonly string[]): string[] {
  const tiers = gpuIds.flatMap(splitList).filter((part) => !isGpuExclusion(part));
  return [...new Set(tiers)].filter((tier) => !Object.hasOwn(GpuTier, tier) && /^\w+$/.test(tier));
}
