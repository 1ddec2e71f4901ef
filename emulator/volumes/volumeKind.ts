import { controlOf, type Kind, type RecordControl } from "../records/kind";
import {
  type VolumeFields,
  type VolumeRecord,
  type VolumeSeed,
  volumePatchSchema,
  volumeRecordSchema,
  volumeSeedSchema,
} from "./volumeFields";
import type { Volumes } from "./volumes";

/** Reads and changes network volumes directly. */
export interface VolumeControl extends RecordControl<VolumeSeed, VolumeFields, Readonly<VolumeRecord>> {}

export function volumeKind(volumes: Volumes): Kind<VolumeSeed, VolumeFields, VolumeRecord> {
  return {
    noun: "network volume",
    seedSchema: volumeSeedSchema,
    patchSchema: volumePatchSchema,
    snapshotSchema: volumeRecordSchema,
    control: controlOf(volumes, (record) => ({ ...record })),
    snapshot: volumes.snapshot,
    restore: (saved) => volumes.restore(saved as VolumeRecord[]),
    clear: volumes.clear,
  };
}
