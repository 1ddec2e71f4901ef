import { DATA_CENTER_ID, FLASH_BOOT_NAME_SUFFIX, GPU_TIERS, LOCATIONS, SCALER_TYPES } from "../../sdk/contract/limits";
import { BusinessError } from "../model/businessError";
import { cpuInstance } from "../model/cpuInstances";
import { type EndpointFields, type EndpointInput, type EndpointRecord, volumesOf } from "../model/endpointFields";
import type { Profile } from "../model/fidelity";

/** GPU pools that are newer than the contract (observed). */

/** Looks up the records that an endpoint refers to. */
export interface References {
  /** Throws a BusinessError if an endpoint cannot use the template. */
  assertTemplate(id: string): void;
  /** Throws a BusinessError if an endpoint cannot use the volume. */
  assertVolume(id: string): void;
  /** Returns a volume's data center, or `undefined` if the emulator does not know it. */
  dataCenterOf(volumeId: string): string | undefined;
}

/** Returns an endpoint's fields as GraphQL shows them. */
export function shown(record: EndpointRecord, profile: Profile) {
  // The contract only knows one value.
  if (profile === "contract") return { ...record, flashBootType: record.flashBootType && "FLASHBOOT" };
  return {
    ...record,
    name: record.flashBootType === "FLASHBOOT" ? record.name + FLASH_BOOT_NAME_SUFFIX : record.name,
    flashBootType: record.flashBootType ?? "OFF",
  };
}

/**
 * Checks that an input asks for either GPUs or CPUs.
 * @throws BusinessError if an endpoint on CPUs would get GPU fields
 */
export function assertOneKind(input: EndpointInput): void {
  const { instanceIds, gpuIds, gpuCount, minCudaVersion, allowedCudaVersions } = input;
  const ofGpus = [gpuIds || undefined, gpuCount, minCudaVersion, allowedCudaVersions];
  if (instanceIds?.length && ofGpus.some((value) => value != null)) {
    throw new BusinessError("An endpoint with instanceIds takes no GPUs and no CUDA versions", "save.cpu");
  }
}

/**
 * Checks the rules that depend on a single endpoint.
 * @param current the endpoint before the change; `undefined` if it is new
 * @throws BusinessError if a field violates a rule
 */
export function assertAllowed(
  fields: EndpointFields,
  current: EndpointRecord | undefined,
  references: References,
): void {
  if (fields.name.trim() === "") throw new BusinessError("Endpoint name must not be empty", "save.ranges");
  assertKind(fields, current);
  if (current ? current.computeType === "CPU" : fields.instanceIds?.length) assertOnCpus(fields);
  else assertOnGpus(fields);
  assertLocations(fields.locations);
  if (fields.templateId.trim() === "") throw new BusinessError("templateId must not be empty", "save.ranges");
  references.assertTemplate(fields.templateId);
  assertVolumes(fields, references);
  assertScaling(fields);
  if ((fields.executionTimeoutMs ?? 0) < 0)
    throw new BusinessError("executionTimeoutMs must not be negative", "save.ranges");
  if ((fields.modelReferences ?? []).length > 1)
    throw new BusinessError("An endpoint has at most one model reference", "save.models");
}

/** Checks the fields that cannot change after an endpoint was created. */
function assertKind({ type, gpuIds, instanceIds }: EndpointFields, current: EndpointRecord | undefined): void {
  if (type !== "QB" && type !== "LB") throw new BusinessError(`type "${type}" is not QB or LB`, "save.type");
  if (!current) return;
  if (type !== current.type) throw new BusinessError("The type of an endpoint cannot be changed", "save.type-fixed");
  const isOther = current.computeType === "CPU" ? gpuIds.trim() !== "" : (instanceIds ?? []).length > 0;
  if (!isOther) return;
  const kinds = current.computeType === "CPU" ? ["CPUs", "GPUs"] : ["GPUs", "CPUs"];
  throw new BusinessError(
    `The endpoint runs on ${kinds[0]} and cannot be changed to run on ${kinds[1]}`,
    "save.compute-fixed",
  );
}

function assertOnCpus({ instanceIds, modelReferences }: EndpointFields): void {
  const unknown = instanceIds?.find((id) => !cpuInstance(id));
  if (unknown !== undefined) throw new BusinessError(`No CPU instance has the id "${unknown}"`, "save.cpu-instances");
  if (modelReferences?.length) throw new BusinessError("An endpoint on CPUs takes no model references", "save.models");
}

function assertOnGpus(fields: EndpointFields): void {
  assertGpuIds(fields.gpuIds);
  if ((fields.gpuCount ?? 1) < 1) throw new BusinessError("gpuCount must be at least 1", "save.ranges");
  const versions = [fields.minCudaVersion ?? "", ...(fields.allowedCudaVersions ?? "").split(",")];
  const wrong = versions.map((version) => version.trim()).find((version) => !/^(\d+\.\d+)?$/.test(version));
  if (wrong !== undefined) throw new BusinessError(`"${wrong}" is not a CUDA version such as 12.8`, "save.cuda");
}

function assertVolumes(fields: EndpointFields, { assertVolume, dataCenterOf }: References): void {
  const ids = volumesOf(fields);
  for (const id of ids) assertVolume(id);
  const places = ids.flatMap((id) => dataCenterOf(id) ?? []);
  const twice = places.find((place, index) => places.indexOf(place) < index);
  if (twice !== undefined)
    throw new BusinessError(`Only one network volume in the data center ${twice} is allowed`, "save.volume-places");
}

function assertScaling(fields: EndpointFields): void {
  if (!SCALER_TYPES.includes(fields.scalerType)) {
    throw new BusinessError(
      `scalerType "${fields.scalerType}" is not one of ${SCALER_TYPES.join(", ")}`,
      "save.unknown-scaler-type",
    );
  }
  if (fields.scalerValue <= 0) throw new BusinessError("Scaler value cannot be less than 1.", "save.scaler-text");
  if (fields.idleTimeout < 0) throw new BusinessError("idleTimeout must not be negative", "save.ranges");
  if (fields.workersMin < 0) throw new BusinessError("workersMin must not be negative", "save.ranges");
  if (fields.workersMax < fields.workersMin)
    throw new BusinessError("workersMax must not be less than workersMin", "save.ranges");
}

function assertGpuIds(gpuIds: string): void {
  const tiers = gpuIds
    .split(",")
    .map((part) => part.trim())
    .filter((part) => !part.startsWith("-"));
  if (tiers.join("") === "") throw new BusinessError("gpuId(s) is required for a gpu endpoint", "save.unknown-tier");
  const unknown = tiers.find((tier) => !GPU_TIERS.some((known) => known === tier));
  if (unknown !== undefined) throw new BusinessError(`Invalid GPU Pool ID: ${unknown}`, "save.unknown-tier");
}

function assertLocations(locations: string): void {
  if (locations === "") return;
  const allowed: readonly string[] = LOCATIONS;
  const unknown = locations
    .split(",")
    .map((part) => part.trim())
    .find((part) => !allowed.includes(part) && !DATA_CENTER_ID.test(part));
  if (unknown !== undefined) {
    throw new BusinessError(
      `locations contains "${unknown}", which is neither one of ${LOCATIONS.join(", ")} nor a data center`,
      "save.unknown-location",
    );
  }
}
