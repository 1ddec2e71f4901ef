import { splitList } from "../endpoints/normalForms";
import type { Endpoint } from "../endpoints/record";
import type { EndpointFacts } from "./evidence";

/**
 * Returns the facts about an endpoint, from the settings that a response shows. Any setting may be
 * missing, because a diagnosis has to use whatever is available.
 */
export function factsOf(shown: Partial<Endpoint>, compliance: readonly string[] = []): EndpointFacts {
  const { name, type, scalerType, scalerValue, gpuIds = "", gpuCount = 1, locations = "" } = shown;
  const {
    workersMin = 0,
    workersMax = Number.POSITIVE_INFINITY,
    minCudaVersion = "",
    allowedCudaVersions = "",
  } = shown;
  return {
    name,
    isLoadBalancer: type === "LOAD_BALANCER",
    workersMin,
    workersMax,
    scalerType,
    scalerValue,
    gpuIds,
    gpuCount,
    minCudaVersion,
    allowedCudaVersions,
    compliance,
    locations: locations === "Any" ? "" : locations,
    volumeIds: splitList(shown.networkVolumeIds || shown.networkVolumeId || ""),
  };
}
