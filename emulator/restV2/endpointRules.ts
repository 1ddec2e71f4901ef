import { isPowerOfTwo } from "../model/cpuInstances";
import type { EndpointRecord } from "../model/endpointFields";
import { gpuTypesIn } from "../model/gpuTypes";
import type { EndpointBody } from "./endpointShape";
import { V2Refusal } from "./problem";

/**
 * Checks the REST v2 rules for a create or update that the body's shape cannot express.
 * @param before the endpoint before the change; `undefined` if it is new
 * @param dataCenters the data centers in the catalog
 */
export function assertBody(
  body: EndpointBody,
  before: Readonly<EndpointRecord> | undefined,
  dataCenters: readonly string[],
): void {
  assertProcessors(body, before);
  assertScaling(body, before);
  const unknown = body.dataCenterIds?.find((id) => !dataCenters.includes(id));
  if (unknown !== undefined) throw new V2Refusal(400, `unknown data center "${unknown}"`, "v2.data-centers");
  if (!before && body.templateId === undefined && body.image === undefined) {
    throw new V2Refusal(422, INVALID, "v2.image", ["$: missing property 'image'"]);
  }
}

function assertProcessors({ gpu, cpu }: EndpointBody, before: Readonly<EndpointRecord> | undefined): void {
  if (before ? gpu && cpu : !gpu === !cpu) throw new V2Refusal(400, "exactly one of gpu and cpu is needed", "v2.gpu");
  if (before && (before.computeType === "CPU" ? gpu : cpu)) {
    throw new V2Refusal(
      400,
      `the endpoint runs on ${before.computeType}s, which cannot be changed`,
      "v2.compute-fixed",
    );
  }
  if (gpu?.pools) assertExclusions(gpu.pools, gpu.excludedTypes ?? []);
  const { allowedCudaVersions = [], minCudaVersion } = gpu ?? {};
  if (allowedCudaVersions.length > 0 && minCudaVersion) {
    throw new V2Refusal(400, "allowedCudaVersions and minCudaVersion cannot be combined", "v2.cuda");
  }
  const problems = (cpu ?? []).flatMap(({ id, vcpuCount }, index, all) => [
    ...(isPowerOfTwo(vcpuCount) ? [] : [`$.cpu[${index}].vcpuCount: must be a power of two`]),
    ...(all.findIndex((other) => other.id === id && other.vcpuCount === vcpuCount) < index
      ? [`$.cpu[${index}]: must be unique`]
      : []),
  ]);
  if (problems.length > 0) throw new V2Refusal(422, INVALID, "v2.cpu", problems);
}

function assertExclusions(pools: readonly string[], excluded: readonly string[]): void {
  const types = gpuTypesIn(pools).map(({ id }) => id);
  const outside = excluded.find((type) => !types.includes(type));
  if (outside !== undefined) {
    throw new V2Refusal(400, `excluded type "${outside}" is in none of the pools ${pools.join(", ")}`, "v2.exclusions");
  }
  if (excluded.length > 0 && types.every((type) => excluded.includes(type))) {
    throw new V2Refusal(400, `the exclusions leave no GPU type of ${pools.join(", ")}`, "v2.exclusions");
  }
}

function assertScaling({ type, scaling, workers }: EndpointBody, before: Readonly<EndpointRecord> | undefined): void {
  const isLoadBalancer = type === undefined ? before?.type === "LB" : type === "LOAD_BALANCER";
  const scaler = scaling?.type ?? before?.scalerType;
  if (isLoadBalancer && scaling && scaler !== "REQUEST_COUNT") {
    throw new V2Refusal(422, INVALID, "v2.load-balancer-scaling", ["$.scaling: LOAD_BALANCER needs REQUEST_COUNT"]);
  }
  if (!isLoadBalancer && scaler === "REQUEST_COUNT" && workers?.idleTimeout !== undefined) {
    const reason = "idleTimeout does not apply to queue-based endpoints scaling on requestCount";
    throw new V2Refusal(422, reason, "v2.idle-timeout");
  }
}

const INVALID = "Request validation failed.";
