import type { Endpoints } from "../endpoints/endpoints";
import { accessOf, bearerKey, type Keys } from "../io/auth";
import { type Call, decodeSegment, type HttpRequest, type HttpResponse, json } from "../io/http";
import { countryOf } from "../model/dataCenters";
import type { EndpointRecord } from "../model/endpointFields";
import type { Profile } from "../model/fidelity";
import type { Volumes } from "../volumes/volumes";
import { environmentOf } from "../workers/container";
import type { WorkerPod } from "../workers/worker";
import { completePod, GPU, type NetworkVolume, type Pod } from "./podRecord";
import type { Pods } from "./pods";

const INCLUDE_FLAGS = [
  "includeMachine",
  "includeNetworkVolume",
  "includeSavingsPlans",
  "includeTemplate",
  "includeWorkers",
] as const;
type Include = Record<(typeof INCLUDE_FLAGS)[number], boolean>;

export interface RestOptions {
  readonly profile: Profile;
  readonly keys: Keys;
  readonly pods: Pods;
  readonly endpoints: Endpoints;
  readonly volumes: Volumes;
}

/** Creates the REST API, a function that turns a request under `/v1/` into a call. */
export function createRest({ profile, keys, pods, endpoints, volumes }: RestOptions) {
  function find(id: string): Pod | undefined {
    const seeded = pods.get(id);
    if (seeded) return seeded;
    for (const { record, runtime } of endpoints.all()) {
      const worker = runtime.pods().find((pod) => pod.id === id);
      if (worker) return workerPod(worker, record, volumes);
    }
    return undefined;
  }

  function respond(request: HttpRequest, podId: string | undefined): HttpResponse {
    if (accessOf(bearerKey(request), keys) !== "granted") {
      return restError(401, "unauthorized", "rest.unauthorized-body");
    }
    if (podId === undefined) return restError(404, "not found", "rest.other-paths");
    if (request.method !== "GET") return restError(405, "method not allowed", "rest.get-only");
    const include = readFlags(request.query);
    if (Array.isArray(include)) return json(400, { error: "invalid request", problems: include }, "rest.bad-flag");
    const pod = find(podId);
    if (!pod || (pod.endpointId !== undefined && !include.includeWorkers)) {
      return restError(404, "pod not found", pod ? "rest.worker-needs-flag" : undefined);
    }
    return json(200, shownPod(pod, include, profile));
  }

  return function restCall(request: HttpRequest): Call {
    const podId = /^\/v1\/pods\/([^/]+)$/.exec(request.path)?.[1];
    const id = podId === undefined ? undefined : decodeSegment(podId);
    return {
      interface: "rest",
      operation: id === undefined ? "unknown" : "getPod",
      arguments: id === undefined ? {} : { podId: id, ...Object.fromEntries(request.query) },
      run: () => respond(request, id),
    };
  };
}

function restError(status: number, error: string, fidelity?: HttpResponse["fidelity"]): HttpResponse {
  return { ...json(status, { error, status }, fidelity), error };
}

/** Returns the five flags, or a list of problems. */
function readFlags(query: URLSearchParams): Include | string[] {
  const problems = INCLUDE_FLAGS.filter((flag) => ![null, "true", "false"].includes(query.get(flag))).map(
    (flag) => `query parameter ${flag} must be true or false`,
  );
  if (problems.length > 0) return problems;
  return Object.fromEntries(INCLUDE_FLAGS.map((flag) => [flag, query.get(flag) === "true"])) as Include;
}

/**
 * Returns a worker's pod with its endpoint's id and version (contract, Pod) and a key in `env`
 * (observed).
 */
function workerPod(worker: WorkerPod, endpoint: Readonly<EndpointRecord>, volumes: Volumes): Pod {
  const { container, place } = worker;
  const { dataCenterId, volumeId, cpu } = place;
  const location = { location: countryOf(dataCenterId), dataCenterId, secureCloud: true };
  return completePod({
    id: worker.id,
    name: `${endpoint.name} worker`,
    desiredStatus: worker.desiredStatus,
    endpointId: worker.endpointId,
    slsVersion: worker.slsVersion,
    templateId: container.templateId,
    image: container.imageName,
    containerDiskInGb: container.containerDiskInGb,
    ports: container.ports,
    ...(container.containerRegistryAuthId !== null && { containerRegistryAuthId: container.containerRegistryAuthId }),
    env: environmentOf(worker),
    lastStartedAt: new Date(worker.startedAt).toISOString(),
    lastStatusChange: worker.lastStatusChange,
    ...(cpu
      ? { cpuFlavorId: cpu.id, vcpuCount: cpu.vcpuCount, memoryInGb: cpu.memory, machine: location }
      : { gpu: { ...GPU, count: place.gpuCount }, machine: { gpuTypeId: GPU.id, ...location } }),
    template: { id: container.templateId, imageName: container.imageName },
    ...(volumeId !== null && { networkVolume: attachedVolume(volumeId, dataCenterId, volumes) }),
  });
}

function attachedVolume(id: string, dataCenterId: string, volumes: Volumes): NetworkVolume {
  const { name = id, size = 100 } = volumes.find(id) ?? {};
  return { id, name, size, dataCenterId };
}

function shownPod(pod: Pod, include: Include, profile: Profile): Record<string, unknown> {
  const { machine, networkVolume, savingsPlans, template, image, costPerHr, ...rest } = pod;
  return {
    ...rest,
    // Both spellings were observed at a running service.
    ...(profile === "observed" ? { imageName: image, costPerHr: String(costPerHr) } : { image, costPerHr }),
    ...(include.includeMachine && { machine: machine ?? {} }),
    ...(include.includeNetworkVolume && networkVolume && { networkVolume }),
    ...(include.includeSavingsPlans && { savingsPlans }),
    ...(include.includeTemplate && template && { template }),
  };
}
