import { defaultsOf, type FieldTable, NEVER_CHANGES, type TableOf } from "../records/fields";
import type { VolumeInput, VolumeSettings } from "./record";

// Programs load this file when they start, so it imports no library.

/** Sizes of a volume, in GB (observed). */
export const VOLUME_SIZE = { min: 10, max: 4096 } as const;

const TABLE: TableOf<VolumeInput, VolumeSettings, "text" | "whole number" | "data center" | "boolean"> = {
  name: { type: "text", mustBe: "a name, not empty", isInEveryRecord: true, v2: "name" },
  size: {
    type: "whole number",
    mustBe: `whole GB, ${VOLUME_SIZE.min} to ${VOLUME_SIZE.max}`,
    ...VOLUME_SIZE,
    isInEveryRecord: true,
    v2: "size",
  },
  dataCenterId: {
    type: "data center",
    mustBe: "the id of a data center, such as EU-RO-1",
    ...NEVER_CHANGES,
    isInEveryRecord: true,
    v2: "dataCenter",
  },
  highPerformance: {
    type: "boolean",
    mustBe: "true or false",
    ...NEVER_CHANGES,
    default: false,
    selection: "",
    v2: { path: "type", write: (isFast) => ({ type: isFast ? "HIGH_PERFORMANCE" : undefined }) },
  },
};

/** All fields of a network volume that can be set, for code that treats all fields alike. */
export const VOLUME_FIELDS: FieldTable = TABLE;

/** The default of each optional field. */
export const VOLUME_DEFAULTS = defaultsOf(VOLUME_FIELDS) as Pick<VolumeSettings, "highPerformance">;
