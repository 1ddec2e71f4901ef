import * as z from "zod";
import { CAPABILITIES } from "../contract/capabilities";
import { EXECUTION_TIMEOUT_MS } from "../contract/limits";
import { InvalidInputError } from "../errors";
import { withoutUndefined } from "../records/v2Calls";
import type { DataCenters } from "./dataCenters";
import { ENDPOINT_DEFAULTS } from "./fields";
import { type LimitedSettings, limitProblems } from "./interfaceLimits";
import { isGpuExclusion, normalizeGpuIds, normalizeLocations, normalizeName, splitList } from "./normalForms";
import type { Endpoint, EndpointSettings } from "./record";

const texts = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);

const wireSchema = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  gpu: z.looseObject({ pools: texts, excludedTypes: texts }).nullish(),
  workers: z.looseObject({ min: z.number(), max: z.number(), idleTimeout: z.number().nullish() }),
  scaling: z.looseObject({
    type: z.string(),
    queueDelay: z.number().nullish(),
    requestCount: z.number().nullish(),
  }),
  dataCenterIds: texts,
  networkVolumes: texts,
  flashboot: z.string().nullish(),
  registry: z.string().nullish(),
});

/** The schema of an endpoint in a response of REST v2. Its template and its pods are in other places, or nowhere. */
export const endpointV2Schema: z.ZodType<Endpoint> = wireSchema.transform(
  ({ id, name, gpu, workers, scaling, dataCenterIds, networkVolumes, flashboot, registry }) => ({
    id,
    name: normalizeName(name),
    gpuIds: normalizeGpuIds([...(gpu?.pools ?? []), ...(gpu?.excludedTypes ?? []).map((type) => `-${type}`)]),
    templateId: "",
    idleTimeout: workers.idleTimeout ?? ENDPOINT_DEFAULTS.idleTimeout,
    locations: normalizeLocations(dataCenterIds),
    flashBootType: flashboot ?? ENDPOINT_DEFAULTS.flashBootType,
    scalerType: scaling.type,
    scalerValue: scaling.queueDelay ?? scaling.requestCount ?? ENDPOINT_DEFAULTS.scalerValue,
    workersMin: workers.min,
    workersMax: workers.max,
    // One endpoint of ours has at most one. Several, which others have set, show as a comma list.
    networkVolumeId: networkVolumes.join(","),
    pods: [],
    ...(registry != null && { ownRegistryAuthId: registry }),
  }),
);

/** Returns the settings that REST v2 does not show of an endpoint. */
export function hiddenInV2({ scalerType }: Pick<Endpoint, "scalerType">): (keyof EndpointSettings)[] {
  return scalerType === "REQUEST_COUNT" ? ["templateId", "idleTimeout"] : ["templateId"];
}

/**
 * Returns the body that creates an endpoint.
 * @throws InvalidInputError if REST v2 does not accept a value
 */
export function toCreateBody(settings: Partial<EndpointSettings>, dataCenters: DataCenters): Record<string, unknown> {
  const wanted = { ...ENDPOINT_DEFAULTS, ...settings } as EndpointSettings;
  refuseUnsupported(wanted);
  return {
    name: wanted.name,
    type: "QUEUE",
    templateId: wanted.templateId,
    gpu: { ...gpuOf(wanted), count: 1 },
    scaling: scalingOf(wanted),
    workers: {
      min: wanted.workersMin,
      max: wanted.workersMax,
      ...(wanted.scalerType !== "REQUEST_COUNT" && { idleTimeout: wanted.idleTimeout }),
    },
    dataCenterIds: dataCenters.idsOf(wanted.locations),
    flashboot: wanted.flashBootType,
    networkVolumes: splitList(wanted.networkVolumeId),
    // Without it, the service may set none.
    timeout: EXECUTION_TIMEOUT_MS.default,
  };
}

/**
 * Returns the body that changes an endpoint: only what differs. A scaler and a selection of GPUs are wholes.
 * @throws InvalidInputError if REST v2 does not accept a value
 */
export function toPatchBody(
  before: Endpoint,
  changes: Partial<EndpointSettings>,
  dataCenters: DataCenters,
): Record<string, unknown> {
  const after: EndpointSettings = { ...before, ...changes };
  const differs = (...fields: (keyof EndpointSettings)[]) => fields.some((field) => before[field] !== after[field]);
  const byCount = after.scalerType === "REQUEST_COUNT";
  // A scaler that counts requests hides the timeout, so its value is not known.
  const setsTimeout =
    !byCount && changes.idleTimeout !== undefined && (differs("idleTimeout") || before.scalerType === "REQUEST_COUNT");
  const workers = withoutUndefined({
    min: differs("workersMin") ? after.workersMin : undefined,
    max: differs("workersMax") ? after.workersMax : undefined,
    idleTimeout: setsTimeout ? after.idleTimeout : undefined,
  });
  refuseUnsupported({
    scalerType: after.scalerType,
    ...(setsTimeout && { idleTimeout: after.idleTimeout }),
    ...(differs("scalerType", "scalerValue") && { scalerValue: after.scalerValue }),
  });
  const ids = differs("locations") ? dataCenters.idsOf(after.locations) : [];
  const movesPlace = differs("locations") && normalizeLocations(ids) !== before.locations;
  return withoutUndefined({
    name: differs("name") ? after.name : undefined,
    templateId: differs("templateId") ? after.templateId : undefined,
    gpu: differs("gpuIds") ? gpuOf(after) : undefined,
    scaling: differs("scalerType", "scalerValue") ? scalingOf(after) : undefined,
    workers: Object.keys(workers).length > 0 ? workers : undefined,
    dataCenterIds: movesPlace ? ids : undefined,
    flashboot: differs("flashBootType") ? after.flashBootType : undefined,
    networkVolumes: differs("networkVolumeId") ? splitList(after.networkVolumeId) : undefined,
  });
}

function gpuOf({ gpuIds }: Pick<EndpointSettings, "gpuIds">): Record<string, unknown> {
  const parts = splitList(gpuIds);
  const excludedTypes = parts.filter(isGpuExclusion).map((part) => part.slice(1).trim());
  const pools = parts.filter((part) => !isGpuExclusion(part));
  return { pools, ...(excludedTypes.length > 0 && { excludedTypes }) };
}

function scalingOf({ scalerType, scalerValue }: Pick<EndpointSettings, "scalerType" | "scalerValue">): object {
  return scalerType === "REQUEST_COUNT"
    ? { type: scalerType, requestCount: scalerValue }
    : { type: scalerType, queueDelay: scalerValue };
}

/** Refuses values that GraphQL accepts and REST v2 does not. `sent` are those that are sent. */
function refuseUnsupported(sent: LimitedSettings): void {
  const problems = limitProblems(CAPABILITIES.v2.endpointLimits, sent);
  if (problems.length > 0) throw new InvalidInputError("the endpoint", problems);
}
