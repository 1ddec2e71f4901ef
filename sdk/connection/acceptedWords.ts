import { RUNPOD_LOCATIONS } from "../contract/enums";
import type { ConnectionSettings } from "./settings";

/** GPU pools and countries to accept in addition to the known ones. */
export interface ExtraWords {
  /** Additional GPU pools to accept that are newer than this version. */
  readonly extraGpuTiers?: readonly string[] | undefined;
  /**
   * Additional countries to accept that are newer than the contract. The countries of a named
   * service are accepted in any case.
   */
  readonly extraLocations?: readonly string[] | undefined;
}

/**
 * Returns the additional values from the settings and from the named service, and the rules of that
 * service.
 */
export function extraWords({ service, extraGpuTiers = [], extraLocations = [] }: ConnectionSettings & ExtraWords): {
  extraGpuTiers: string[];
  extraLocations: string[];
  acceptsNewTiers: boolean;
  wholeScalerValue: boolean;
} {
  const isRunpod = service?.trim() === "runpod";
  return {
    extraGpuTiers: [...new Set(extraGpuTiers)],
    extraLocations: [...new Set([...(isRunpod ? RUNPOD_LOCATIONS : []), ...extraLocations])],
    acceptsNewTiers: isRunpod,
    // The service's GraphQL schema declares `scalerValue` as an Int (observed).
    wholeScalerValue: isRunpod,
  };
}
