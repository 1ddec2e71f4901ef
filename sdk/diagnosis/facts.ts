import * as z from "zod";
import { splitList } from "../endpoints/normalForms";
import type { Endpoint } from "../endpoints/record";

const text = z.string().catch("");
const settings = z.object({
  name: z.string().optional(),
  workersMin: z.number().catch(0),
  workersMax: z.number().catch(Number.POSITIVE_INFINITY),
  scalerType: z.string().optional(),
  scalerValue: z.number().optional(),
  gpuCount: z.number().catch(1),
  /** The GPU pools, in normal form. Empty if the endpoint runs on CPUs. */
  gpuIds: text,
  locations: text,
  minCudaVersion: text,
  allowedCudaVersions: text,
});

/** The settings of an endpoint that determine whether its workers start. */
export interface EndpointFacts extends Readonly<z.infer<typeof settings>> {
  readonly isLoadBalancer: boolean;
  readonly volumeIds: readonly string[];
}

/**
 * Returns the facts about an endpoint, from the settings that a response shows. Any setting may be
 * missing, because a diagnosis has to use whatever is available.
 */
export function factsOf(shown: Partial<Endpoint>): EndpointFacts {
  const volumeIds = splitList(shown.networkVolumeIds || shown.networkVolumeId || "");
  const facts = settings.parse({ ...shown, locations: shown.locations === "Any" ? "" : shown.locations });
  return { ...facts, isLoadBalancer: shown.type === "LOAD_BALANCER", volumeIds };
}
