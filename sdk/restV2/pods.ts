import * as z from "zod";
import { NotFoundError } from "../errors/errors";
import type { Pod } from "../pods/podRecord";
import type { PodCalls } from "../pods/pods";
import { decode } from "../transport/decode";
import { type RestV2Transport, requestV2 } from "./transport";

const text = z.string().nullish();
const number = z.number().nullish();

const podV2Schema: z.ZodType<Pod> = z
  .looseObject({
    id: z.string().min(1),
    name: text,
    status: text,
    image: text,
    disk: number,
    mounts: z
      .looseObject({
        persistent: z.looseObject({ size: number, path: text }).nullish(),
        network: z.array(z.looseObject({ volumeId: text, path: text })).nullish(),
      })
      .nullish(),
    ports: z.array(z.string()).nullish(),
    env: z.record(z.string(), z.string()).nullish(),
    registry: text,
    gpu: z.looseObject({ id: text, count: number }).nullish(),
    cpu: z.looseObject({ id: text, vcpuCount: number, memory: number }).nullish(),
    dataCenterId: text,
    template: text,
    cost: number,
    locked: z.boolean().nullish(),
    runtime: z
      .looseObject({
        ports: z.array(z.looseObject({ private: number, public: number, type: text, ip: text })).nullish(),
      })
      .nullish(),
    startedAt: text,
  })
  .transform(({ runtime, mounts, cpu, ...pod }) => {
    const ports = runtime?.ports ?? [];
    const [network] = mounts?.network ?? [];
    const { persistent } = mounts ?? {};
    const mapped = ports.flatMap(({ private: inner, public: outer }) =>
      inner == null || outer == null ? [] : [[String(inner), outer] as const],
    );
    return {
      id: pod.id,
      name: pod.name,
      image: pod.image,
      desiredStatus: pod.status,
      costPerHr: pod.cost,
      containerDiskInGb: pod.disk,
      containerRegistryAuthId: pod.registry,
      env: pod.env,
      gpu: pod.gpu && { id: pod.gpu.id, count: pod.gpu.count },
      cpuFlavorId: cpu?.id,
      vcpuCount: cpu?.vcpuCount,
      memoryInGb: cpu?.memory,
      lastStartedAt: pod.startedAt,
      locked: pod.locked,
      machine: { dataCenterId: pod.dataCenterId, ...(pod.gpu && { gpuTypeId: pod.gpu.id }) },
      networkVolume: network && { id: network.volumeId },
      portMappings: Object.fromEntries(mapped),
      ports: pod.ports,
      publicIp: ports.find(({ ip }) => ip != null)?.ip ?? null,
      templateId: pod.template,
      volumeInGb: persistent?.size,
      volumeMountPath: persistent?.path ?? network?.path,
    };
  });

/**
 * Returns the requests over REST v2. The `include…` options have no effect, because REST v2 always
 * returns everything it has. REST v2 does not treat workers as pods.
 */
export function v2PodCalls(transport: RestV2Transport): PodCalls {
  return {
    async get(operation, podId, { includeWorkers }, attempt) {
      const request = { name: "getPod", operation, method: "GET", path: `/pods/${podId}` } as const;
      try {
        return decode(podV2Schema, await requestV2(transport, request, attempt), operation);
      } catch (error) {
        if (!includeWorkers || !(error instanceof NotFoundError)) throw error;
        throw new NotFoundError(`${error.message}. REST v2 does not find the pods of serverless workers by their id`);
      }
    },
  };
}
