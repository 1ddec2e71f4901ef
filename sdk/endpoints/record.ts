import { z } from "zod";
import type { OpenEnum } from "../contract/enums";
import type { POD_STATES } from "../contract/limits";
import { EnumValue, type Literal } from "../transport/graphql";
import { ENDPOINT_DEFAULTS, type EndpointSettings } from "./input";
import { normalizeGpuIds, normalizeLocations, normalizeName } from "./normalForms";

/** An endpoint as the service has it, in normal form. */
export interface Endpoint extends EndpointSettings {
  /** Identifier that the service gave the endpoint. */
  readonly id: string;
  /** The endpoint's pods: its workers, those that are leaving among them. */
  readonly pods: readonly {
    /** `RUNNING`, `EXITED` or `TERMINATED`; other words may occur. */
    readonly desiredStatus: OpenEnum<(typeof POD_STATES)[number]>;
  }[];
}

/** A discount on serverless prices (contract, Serverless endpoint). */
export interface ServerlessDiscount {
  /** The discount's size. The contract does not show its unit. */
  readonly discountFactor: number | null;
  /** The kind of discount, in the service's own words. */
  readonly type: string | null;
  /** When it ends, as the service writes it. */
  readonly expirationDate: string | null;
}

/** The fields of an endpoint, as a GraphQL selection. */
export const ENDPOINT_SELECTION =
  "id name gpuIds templateId idleTimeout locations flashBootType scalerType scalerValue workersMin workersMax networkVolumeId pods { desiredStatus }";

/** The input of `saveEndpoint`: every field that is set, cleared ones in the way the service takes. */
export function toSaveInput(
  fields: Partial<EndpointSettings>,
  clearFlashBootWith: "null" | "OFF",
): Record<string, Literal | undefined> {
  const { flashBootType, networkVolumeId } = fields;
  const flashBootOff = clearFlashBootWith === "OFF" ? new EnumValue("OFF") : null;
  return {
    name: fields.name,
    gpuIds: fields.gpuIds,
    templateId: fields.templateId,
    idleTimeout: fields.idleTimeout,
    locations: fields.locations,
    flashBootType:
      flashBootType === undefined ? undefined : flashBootType === "OFF" ? flashBootOff : new EnumValue(flashBootType),
    scalerType: fields.scalerType,
    scalerValue: fields.scalerValue,
    workersMin: fields.workersMin,
    workersMax: fields.workersMax,
    networkVolumeId: networkVolumeId === "" ? null : networkVolumeId,
  };
}

/** What a field may come back as when it was never set. */
function unset<K extends keyof typeof ENDPOINT_DEFAULTS, T>(schema: z.ZodType<T>, field: K) {
  return schema.nullish().transform((value) => value ?? (ENDPOINT_DEFAULTS[field] as T));
}

export const endpointSchema: z.ZodType<Endpoint> = z.looseObject({
  id: z.string().min(1),
  name: z.string().transform(normalizeName),
  gpuIds: z
    .string()
    .nullish()
    .transform((value) => normalizeGpuIds(value ?? "")),
  templateId: z
    .string()
    .nullish()
    .transform((value) => value ?? ""),
  idleTimeout: unset(z.number(), "idleTimeout"),
  locations: z.string().nullish().transform(normalizeLocations),
  flashBootType: unset(z.string(), "flashBootType"),
  scalerType: unset(z.string(), "scalerType"),
  scalerValue: unset(z.number(), "scalerValue"),
  workersMin: unset(z.number(), "workersMin"),
  workersMax: unset(z.number(), "workersMax"),
  networkVolumeId: unset(z.string(), "networkVolumeId"),
  pods: z
    .array(z.looseObject({ desiredStatus: z.string() }))
    .nullish()
    .transform((pods) => pods ?? []),
});

export const discountSchema = z.looseObject({
  discountFactor: z.number().nullable(),
  type: z.string().nullable(),
  expirationDate: z.string().nullable(),
});
