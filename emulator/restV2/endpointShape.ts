import type { EndpointContainer, EndpointFields, EndpointRecord } from "../model/endpointFields";
import { type ObservedFields, UNSET_OBSERVED_FIELDS } from "../model/observedFields";
import { dataCentersOf } from "./dataCenters";

/** The container fields of a body. */
export interface ContainerBody {
  readonly image?: string;
  readonly args?: string;
  readonly disk?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly registry?: string | null;
}

interface GpuBody {
  readonly pools?: readonly string[];
  readonly excludedTypes?: readonly string[];
  readonly count?: number;
  readonly allowedCudaVersions?: readonly string[];
  readonly minCudaVersion?: string;
}

/** The body of a create or a change of an endpoint. */
export interface EndpointBody extends ContainerBody {
  readonly name?: string;
  readonly type?: "QUEUE" | "LOAD_BALANCER";
  readonly templateId?: string;
  readonly gpu?: GpuBody;
  readonly scaling?: { readonly type: string; readonly queueDelay?: number; readonly requestCount?: number };
  readonly workers?: { readonly min?: number; readonly max?: number; readonly idleTimeout?: number };
  readonly dataCenterIds?: readonly string[];
  readonly flashboot?: string;
  readonly networkVolumes?: readonly string[];
  readonly timeout?: number;
}

/** Returns the fields of a container that a body sets. */
export function containerOf(body: ContainerBody): Partial<EndpointContainer> {
  const { image, args, disk, env, ports, registry } = body;
  return {
    ...(image !== undefined && { imageName: image }),
    ...(args !== undefined && { dockerArgs: args }),
    ...(disk !== undefined && { containerDiskInGb: disk }),
    ...(env !== undefined && { env }),
    ...(ports !== undefined && { ports }),
    ...(registry !== undefined && { containerRegistryAuthId: registry }),
  };
}

/** Returns the fields of an endpoint that a body sets. A selection of GPUs is one whole: without exclusions, there are none. */
export function fieldsOf({ name, gpu, scaling, workers, ...body }: EndpointBody): Partial<EndpointFields> {
  const { dataCenterIds, flashboot, networkVolumes } = body;
  return {
    ...(name !== undefined && { name }),
    ...(gpu?.pools && { gpuIds: [...gpu.pools, ...(gpu.excludedTypes ?? []).map((type) => `-${type}`)].join(",") }),
    ...(scaling && {
      scalerType: scaling.type as EndpointFields["scalerType"],
      scalerValue: scaling.queueDelay ?? scaling.requestCount ?? 0,
    }),
    ...(workers?.min !== undefined && { workersMin: workers.min }),
    ...(workers?.max !== undefined && { workersMax: workers.max }),
    ...(workers?.idleTimeout !== undefined && { idleTimeout: workers.idleTimeout }),
    ...(dataCenterIds && { locations: dataCenterIds.join(",") }),
    ...(flashboot !== undefined && { flashBootType: flashboot as EndpointFields["flashBootType"] }),
    ...(networkVolumes && { networkVolumeId: networkVolumes[0] ?? null }),
  };
}

/** Returns the further fields of an endpoint that a body sets. They have no effect. */
export function observedOf({ gpu = {}, networkVolumes, timeout, type }: EndpointBody): Partial<ObservedFields> {
  return {
    ...(type !== undefined && { type: type === "QUEUE" ? "QB" : "LB" }),
    ...(gpu.count !== undefined && { gpuCount: gpu.count }),
    ...(gpu.allowedCudaVersions && { allowedCudaVersions: gpu.allowedCudaVersions.join(",") || null }),
    ...(gpu.minCudaVersion !== undefined && { minCudaVersion: gpu.minCudaVersion || null }),
    ...(networkVolumes && {
      networkVolumeIds: networkVolumes.map((networkVolumeId) => ({ networkVolumeId })),
    }),
    ...(timeout !== undefined && { executionTimeoutMs: timeout }),
  };
}

/** Returns an endpoint as REST v2 shows it. It never shows a template. */
export function shownEndpoint(record: Readonly<EndpointRecord>, container: EndpointContainer): object {
  const observed = record.observed ?? UNSET_OBSERVED_FIELDS;
  const parts = record.gpuIds.split(",").flatMap((part) => part.trim() || []);
  const byCount = record.scalerType === "REQUEST_COUNT";
  const isQueue = observed.type !== "LB";
  return {
    id: record.id,
    name: record.name,
    type: isQueue ? "QUEUE" : "LOAD_BALANCER",
    gpu: {
      pools: parts.filter((part) => !part.startsWith("-")),
      excludedTypes: parts.filter((part) => part.startsWith("-")).map((part) => part.slice(1)),
      count: observed.gpuCount ?? 1,
      allowedCudaVersions: observed.allowedCudaVersions?.split(",") ?? [],
      minCudaVersion: observed.minCudaVersion,
    },
    workers: {
      min: record.workersMin,
      max: record.workersMax,
      ...(!(byCount && isQueue) && { idleTimeout: record.idleTimeout }),
    },
    scaling: byCount
      ? { type: "REQUEST_COUNT", requestCount: record.scalerValue }
      : { type: "QUEUE_DELAY", queueDelay: record.scalerValue },
    dataCenterIds: dataCentersOf(record.locations),
    networkVolumes: record.networkVolumeId === null ? [] : [record.networkVolumeId],
    timeout: observed.executionTimeoutMs ?? 0,
    flashboot: record.flashBootType ?? "OFF",
    ...shownContainer(container),
    createdAt: new Date(record.createdAt).toISOString(),
  };
}

/** Returns a container as REST v2 shows it. */
export function shownContainer(container: EndpointContainer): object {
  const { imageName, dockerArgs, containerDiskInGb, ports, env, containerRegistryAuthId } = container;
  return {
    image: imageName,
    args: dockerArgs,
    disk: containerDiskInGb,
    ports,
    env,
    registry: containerRegistryAuthId,
  };
}
