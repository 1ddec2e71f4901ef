import type { Changes, NormalForms } from "../records/fields";

/** The settings to create a network volume with. */
export interface VolumeInput {
  /** Name of the volume. Need not be unique. */
  readonly name: string;
  /**
   * Size in GB (integer, 10–4096). A volume can grow. It cannot shrink: a smaller size is refused.
   */
  readonly size: number;
  /**
   * Id of the data center, such as `EU-RO-1`. Workers that mount the volume run there. Fixed: a
   * change of the resource replaces the volume, and all data is lost.
   */
  readonly dataCenterId: string;
  /**
   * `true` for the faster tier of storage. The service does not return it. Fixed: a change of the
   * resource replaces the volume, and all data is lost.
   * @default false
   */
  readonly highPerformance?: boolean | null | undefined;
}

/** The settings of a new volume in normal form. */
export interface VolumeSettings extends NormalForms<VolumeInput> {}

/** Changes of a network volume. Fields that are left out keep their value. */
export interface VolumeChanges extends Changes<Pick<VolumeInput, "name" | "size">> {}

/** A network volume as the service has it. */
export interface Volume {
  /** Identifier that the service gave the volume. */
  readonly id: string;
  /** Name of the volume. */
  readonly name: string;
  /** Size in GB. */
  readonly size: number;
  /** Id of the data center. */
  readonly dataCenterId: string;
  /**
   * The system that stores the volume, in the service's own words; `""` if the service does not
   * tell it.
   */
  readonly storageType: string;
}
