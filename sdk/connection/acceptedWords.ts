import { RUNPOD_LOCATIONS } from "../contract/enums";
import type { ApiSettings } from "./settings";

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
export function extraWords({ service, api, extraGpuTiers = [], extraLocations = [] }: ApiSettings & ExtraWords): {
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
    // The service's GraphQL schema declares `scalerValue` as an Int (observed). If no API is set, a
    // fraction is possible, because REST v2 may be used.
    wholeScalerValue: isRunpod && api?.trim() === "graphql",
  };
}
