import { type EndpointContainer, shownContainer } from "../model/containerFields";
import { ENDPOINT_FIELDS, type EndpointRecord } from "../model/endpointFields";
import { shownByV2 } from "../model/v2Form";

/** The parts of a body that the handlers read directly. */
export interface EndpointBody {
  readonly name?: string;
  readonly type?: "QUEUE" | "LOAD_BALANCER";
  readonly templateId?: string;
  readonly image?: string;
  readonly cpu?: readonly { readonly id: string; readonly vcpuCount: number }[];
  readonly gpu?: {
    readonly pools?: readonly string[];
    readonly excludedTypes?: readonly string[];
    readonly allowedCudaVersions?: readonly string[];
    readonly minCudaVersion?: string;
  };
  readonly scaling?: { readonly type: string };
  readonly workers?: { readonly idleTimeout?: number };
  readonly dataCenterIds?: readonly string[];
}

/**
 * Returns an endpoint in the form of REST v2, which never shows a template.
 * @param origin the emulator's URL, where requests to the endpoint go
 */
export function shownEndpoint(record: Readonly<EndpointRecord>, container: EndpointContainer, origin: string): object {
  const { id, createdAt } = record;
  return {
    id,
    ...shownByV2(ENDPOINT_FIELDS, record),
    requestUrls: requestUrls(record, origin),
    ...shownContainer(container),
    createdAt: new Date(createdAt).toISOString(),
  };
}

function requestUrls({ id, type }: Readonly<EndpointRecord>, origin: string): Readonly<Record<string, string>> {
  const queue = `${origin}/v2/${id}`;
  const health = `${queue}/health`;
  if (type === "LB") return { base: `${origin}/lb/${id}`, health };
  const job = (operation: string) => `${queue}/${operation}/{job_id}`;
  return {
    run: `${queue}/run`,
    runSync: `${queue}/runsync`,
    status: job("status"),
    stream: job("stream"),
    cancel: job("cancel"),
    retry: job("retry"),
    purgeQueue: `${queue}/purge-queue`,
    health,
  };
}
