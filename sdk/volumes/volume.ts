import {
  type FieldTable,
  NEVER_CHANGES,
  type NormalForms,
  type SettingChanges,
  type ShownRecord,
  type TableOf,
} from "../records/fields";
import { kindOf } from "../records/kind";

// Programs load this file on startup, so it must not import any libraries.

/** The settings for creating a network volume. */
export interface VolumeInput {
  /** The name of the volume. It does not have to be unique. */
  readonly name: string;
  /**
   * The size in GB (integer, 10–4096). A volume can grow but not shrink, so a smaller size is
   * rejected.
   */
  readonly size: number;
  /**
   * The id of the data center, such as `EU-RO-1`. Workers that mount the volume run there. It
   * cannot be changed: declare another volume and copy the data.
   */
  readonly dataCenterId: string;
  /**
   * `true` for the faster storage tier. GraphQL does not show this setting. It cannot be changed:
   * declare another volume and copy the data.
   * @default false
   */
  readonly highPerformance?: boolean | null | undefined;
}

/** The settings of a new volume in normal form. */
export interface VolumeSettings extends NormalForms<VolumeInput> {}

/** Changes to a network volume. Fields that are left out keep their values. */
export interface VolumeChanges extends SettingChanges<Pick<VolumeInput, "name" | "size">> {}

/** A network volume as the service returns it. */
export interface Volume extends ShownRecord {
  /** The id that the service assigned to the volume. */
  readonly id: string;
  /** Name of the volume. */
  readonly name: string;
  /** Size in GB. */
  readonly size: number;
  /** The id of the data center. */
  readonly dataCenterId: string;
  /** `true` for the faster storage tier. GraphQL does not show it. */
  readonly highPerformance?: boolean | undefined;
  /**
   * The name that the service uses for the system that stores the volume, or `""` if the service
   * does not show it.
   */
  readonly storageType: string;
}

/** The range of sizes that a volume can have, in GB (observed). */
const VOLUME_SIZE = { min: 10, max: 4096 } as const;

export const VOLUME = kindOf("network volume", {});

const TABLE: TableOf<VolumeInput, VolumeSettings, "text" | "whole number" | "data center" | "boolean"> = {
  name: { type: "text", mustBe: "a name that is not empty", isInEveryRecord: true, v2: "name" },
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
    // The service may write the same place in lower case.
    normalize: (place) => place.toUpperCase(),
    v2: "dataCenter",
  },
  highPerformance: {
    type: "boolean",
    mustBe: "true or false",
    ...NEVER_CHANGES,
    default: false,
    selection: "",
    v2: {
      path: "type",
      read: (type) => (type === "HIGH_PERFORMANCE" || type === "STANDARD" ? type === "HIGH_PERFORMANCE" : undefined),
      write: (isFast) => ({ type: isFast ? "HIGH_PERFORMANCE" : undefined }),
    },
  },
};

/** All fields of a network volume that can be set, for code that treats all fields alike. */
export const VOLUME_FIELDS: FieldTable = TABLE;
