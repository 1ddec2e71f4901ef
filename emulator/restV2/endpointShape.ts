import { type EndpointContainer, shownContainer } from "../model/containerFields";
import { ENDPOINT_FIELDS, type EndpointRecord } from "../model/endpointFields";
import { OBSERVED_FIELDS, UNSET_OBSERVED_FIELDS } from "../model/observedFields";
import { shownByV2 } from "../model/v2Form";

/**
 * The parts of the body that the handlers themselves read when they create or change an endpoint.
 */
export interface EndpointBody {
  readonly name?: string;
  readonly type?: "QUEUE" | "LOAD_BALANCER";
  readonly templateId?: string;
  readonly image?: string;
  readonly gpu?: { readonly allowedCudaVersions?: readonly string[]; readonly minCudaVersion?: string };
  readonly scaling?: { readonly type: string };
  readonly workers?: { readonly idleTimeout?: number };
  readonly dataCenterIds?: readonly string[];
  readonly networkVolumes?: readonly string[];
}

const FIELDS = { ...ENDPOINT_FIELDS, ...OBSERVED_FIELDS };

/** Returns an endpoint as REST v2 shows it. It never shows a template. */
export function shownEndpoint(record: Readonly<EndpointRecord>, container: EndpointContainer): object {
  const { id, createdAt, observed = UNSET_OBSERVED_FIELDS } = record;
  return {
    id,
    ...shownByV2(FIELDS, { ...record, ...observed }),
    ...shownContainer(container),
    createdAt: new Date(createdAt).toISOString(),
  };
}
