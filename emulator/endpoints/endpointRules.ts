import { DATA_CENTER_ID, FLASH_BOOT_NAME_SUFFIX, GPU_TIERS, LOCATIONS, SCALER_TYPES } from "../../sdk/contract/limits";
import { BusinessError } from "../model/businessError";
import type { EndpointFields, EndpointRecord } from "../model/endpointFields";
import type { Profile } from "../model/fidelity";

/** Tiers that are newer than the contract (observed). */
const observedGpuTiers = ["ADA_32_PRO", "HOPPER_141", "BLACKWELL_96", "BLACKWELL_180"];

/** The records that an endpoint refers to by id. */
export interface References {
  /** Throws a BusinessError if an endpoint cannot have the template. */
  assertTemplate(id: string): void;
  /** Throws a BusinessError if an endpoint cannot have the volume. */
  assertVolume(id: string): void;
}

/** Returns the fields of an endpoint as GraphQL shows them. */
export function shown(record: EndpointRecord, profile: Profile) {
  if (profile === "contract") return { ...record };
  const flashBoot = record.flashBootType === "FLASHBOOT";
  return {
    ...record,
    name: flashBoot ? record.name + FLASH_BOOT_NAME_SUFFIX : record.name,
    flashBootType: flashBoot ? "FLASHBOOT" : "OFF",
  };
}

/**
 * Checks the rules that concern one endpoint alone.
 * @throws BusinessError if a field breaks a rule
 */
export function assertAllowed(
  fields: EndpointFields,
  { profile, runsOnCpus }: { readonly profile: Profile; readonly runsOnCpus: boolean },
  references: References,
): void {
  if (fields.name.trim() === "") throw new BusinessError("Endpoint name must not be empty", "save.ranges");
  if (!runsOnCpus) assertGpuIds(fields.gpuIds, profile);
  assertLocations(fields.locations);
  if (fields.templateId.trim() === "") throw new BusinessError("templateId must not be empty", "save.ranges");
  references.assertTemplate(fields.templateId);
  if (fields.networkVolumeId !== null) references.assertVolume(fields.networkVolumeId);
  if (!SCALER_TYPES.includes(fields.scalerType)) {
    throw new BusinessError(
      `scalerType "${fields.scalerType}" is not one of ${SCALER_TYPES.join(", ")}`,
      "save.unknown-scaler-type",
    );
  }
  if (fields.scalerValue <= 0) throw new BusinessError("scalerValue must be greater than 0", "save.ranges");
  if (fields.idleTimeout < 0) throw new BusinessError("idleTimeout must not be negative", "save.ranges");
  if (fields.workersMin < 0) throw new BusinessError("workersMin must not be negative", "save.ranges");
  if (fields.workersMax < fields.workersMin)
    throw new BusinessError("workersMax must not be less than workersMin", "save.ranges");
}

function assertGpuIds(gpuIds: string, profile: Profile): void {
  const known = [...GPU_TIERS, ...(profile === "observed" ? observedGpuTiers : [])];
  const tiers = gpuIds
    .split(",")
    .map((part) => part.trim())
    .filter((part) => !part.startsWith("-"));
  if (tiers.length === 0) throw new BusinessError("gpuIds must name at least one GPU tier", "save.unknown-tier");
  const unknown = tiers.find((tier) => !known.includes(tier));
  if (unknown !== undefined)
    throw new BusinessError(`gpuIds holds "${unknown}", which is not one of ${known.join(", ")}`, "save.unknown-tier");
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
      `locations holds "${unknown}", which is neither one of ${LOCATIONS.join(", ")} nor a data center`,
      "save.unknown-location",
    );
  }
}
