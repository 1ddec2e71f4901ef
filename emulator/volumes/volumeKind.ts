import { type Kind, type RecordControl, recordKind } from "../records/kind";
import {
  type VolumeFields,
  type VolumeRecord,
  type VolumeSeed,
  volumePatchSchema,
  volumeRecordSchema,
  volumeSeedSchema,
} from "./volumeFields";
import type { Volumes } from "./volumes";

/** Reads and changes network volumes directly, without a request. */
export interface VolumeControl extends RecordControl<VolumeSeed, VolumeFields, Readonly<VolumeRecord>> {}

export function volumeKind(volumes: Volumes): Kind<VolumeSeed, VolumeFields, VolumeRecord> {
  return recordKind(volumes, (record) => ({ ...record }), {
    seedSchema: volumeSeedSchema,
    patchSchema: volumePatchSchema,
    snapshotSchema: volumeRecordSchema,
  });
}
