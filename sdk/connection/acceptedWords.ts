import { RUNPOD_LOCATIONS } from "../contract/enums";
import type { ConnectionSettings } from "./settings";

/** GPU pools and countries that are accepted in addition to the known ones. */
export interface ExtraWords {
  /** GPU pools newer than this version to accept. */
  readonly extraGpuTiers?: readonly string[] | undefined;
  /** Countries newer than the contract to accept. Those of a named service are always accepted. */
  readonly extraLocations?: readonly string[] | undefined;
}

/** Returns the extra values of the settings and of the named service, and that service's rules. */
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
    // Its GraphQL schema declares scalerValue as an Int (observed).
    wholeScalerValue: isRunpod,
  };
}
