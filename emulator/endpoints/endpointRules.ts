import {
  DATA_CENTER_ID,
  FLASH_BOOT_NAME_SUFFIX,
  GPU_TIERS,
  LOCATIONS,
  SCALER_TYPES,
  UNSET_ENDPOINT_FIELDS,
} from "../../sdk/contract/limits";
import type { EndpointRecord, Profile } from "../model";
import type { FidelityId } from "../server/fidelity";

/** What a client can set of an endpoint. */
export interface EndpointFields extends Omit<EndpointRecord, "id" | "createdAt" | "version"> {}

/** The `input` of `saveEndpoint`, with the service's defaults in the four fields that have one. */
export interface EndpointInput {
  /** Identifier of the endpoint to change; without one, an endpoint is created. */
  readonly id?: string | null;
  /** Name of the endpoint, not empty. */
  readonly name: string;
  /** GPU tiers in priority order, then exclusions, as a comma list. */
  readonly gpuIds: string;
  /** Id of the serverless template. */
  readonly templateId: string;
  /** Seconds before an idle worker shuts down under `QUEUE_DELAY`, 0 or more. */
  readonly idleTimeout: number;
  /** Target of the scaler, above 0. */
  readonly scalerValue: number;
  /** Workers that always run, 0 or more. */
  readonly workersMin: number;
  /** Workers that may run at once, at least `workersMin`. */
  readonly workersMax: number;
  /** Countries or data centers as a comma list; `""` and `null` for any region. */
  readonly locations?: string | null;
  /** `QUEUE_DELAY` or `REQUEST_COUNT`. */
  readonly scalerType?: string | null;
  /** `FLASHBOOT` for faster cold starts. */
  readonly flashBootType?: "FLASHBOOT" | "OFF" | null;
  /** Network volume to mount; `""` and `null` for none. */
  readonly networkVolumeId?: string | null;
}

/** Tiers that are newer than the contract (observed). */
const observedGpuTiers = ["ADA_32_PRO", "HOPPER_141", "BLACKWELL_96", "BLACKWELL_180"];

/** Thrown for a request that is well formed and that the service refuses; GraphQL shows it with the code `RUNPOD`. */
export class BusinessError extends Error {
  constructor(
    message: string,
    /** The row of the fidelity table that says so. */
    readonly fidelity: FidelityId,
  ) {
    super(message);
    this.name = "BusinessError";
  }
}

/** The fields that an endpoint has after `input` was saved over `current`, or as a new one. */
export function overlay(current: EndpointRecord | undefined, input: EndpointInput, profile: Profile): EndpointFields {
  return {
    name: profile === "observed" ? withoutSuffix(input.name) : input.name,
    gpuIds: input.gpuIds,
    templateId: input.templateId,
    idleTimeout: input.idleTimeout,
    scalerValue: input.scalerValue,
    workersMin: input.workersMin,
    workersMax: input.workersMax,
    // Only undefined means "left out" and keeps the value; null and "" clear it.
    locations: (input.locations === undefined ? current?.locations : input.locations) ?? "",
    networkVolumeId: (input.networkVolumeId === undefined ? current?.networkVolumeId : input.networkVolumeId) || null,
    scalerType: (input.scalerType ??
      current?.scalerType ??
      UNSET_ENDPOINT_FIELDS.scalerType) as EndpointRecord["scalerType"],
    flashBootType: flashBootType(current?.flashBootType ?? null, input.flashBootType, profile),
  };
}

/** The contract knows no value that clears FLASHBOOT, so null does; the observed service has OFF and ignores null. */
function flashBootType(
  current: EndpointRecord["flashBootType"],
  given: EndpointInput["flashBootType"],
  profile: Profile,
): EndpointRecord["flashBootType"] {
  if (given === "OFF") return null;
  if (given === null && profile === "contract") return null;
  return given ?? current;
}

function withoutSuffix(name: string): string {
  return name.endsWith(FLASH_BOOT_NAME_SUFFIX) ? name.slice(0, -FLASH_BOOT_NAME_SUFFIX.length) : name;
}

/** An endpoint's fields as GraphQL shows them. */
export function shown(record: EndpointRecord, profile: Profile) {
  if (profile === "contract") return { ...record };
  const flashBoot = record.flashBootType === "FLASHBOOT";
  return {
    ...record,
    name: flashBoot ? record.name + FLASH_BOOT_NAME_SUFFIX : record.name,
    flashBootType: flashBoot ? "FLASHBOOT" : "OFF",
  };
}

/** Refuses fields that break a rule of one endpoint by itself. */
export function assertAllowed(fields: EndpointFields, profile: Profile, templates: ReadonlySet<string>): void {
  if (fields.name.trim() === "") throw new BusinessError("Endpoint name must not be empty", "save.ranges");
  assertGpuIds(fields.gpuIds, profile);
  assertLocations(fields.locations);
  assertTemplate(fields.templateId, templates);
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

function assertTemplate(templateId: string, templates: ReadonlySet<string>): void {
  if (templateId.trim() === "") throw new BusinessError("templateId must not be empty", "save.ranges");
  if (templates.size > 0 && !templates.has(templateId))
    throw new BusinessError(`Unknown template "${templateId}"`, "save.unknown-template");
}
