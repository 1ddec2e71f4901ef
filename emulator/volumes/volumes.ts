import { BusinessError } from "../model/businessError";
import type { Profile } from "../model/fidelity";
import { fieldsAfter } from "../model/fieldTable";
import { randomId } from "../model/random";
import { createRecords, type StoredRecords } from "../records/records";
import type { EmulatorClock } from "../time/virtualClock";
import {
  SIZES,
  VOLUME_FIELDS,
  type VolumeChange,
  type VolumeFields,
  type VolumeInput,
  type VolumeRecord,
  type VolumeSeed,
} from "./volumeFields";

/** The parts of the account that volumes use. */
interface VolumeSurroundings {
  readonly clock: EmulatorClock;
  readonly profile: Profile;
  readonly random: () => number;
  readonly changed: () => void;
  /** Describes the endpoints and pods that use a volume. */
  readonly usersOf: (volumeId: string) => readonly string[];
  /** The data centers that support network volumes. */
  readonly dataCenters: readonly string[];
}

/** The network volumes of the account. */
export interface Volumes extends StoredRecords<VolumeRecord, VolumeSeed, VolumeFields> {
  /**
   * Changes a volume's name or size in the same way as `updateNetworkVolume`.
   * @throws BusinessError if the change violates a rule of the service
   */
  update(input: VolumeChange): VolumeRecord;
  /**
   * Deletes a volume in the same way as `deleteNetworkVolume`.
   * @throws BusinessError if it does not exist or is in use
   */
  delete(id: string): void;
}

/**
 * The data centers that support network volumes, unless an option names others. The service's list
 * changes over time.
 */
export const VOLUME_DATA_CENTERS = ["EU-CZ-1", "EU-RO-1", "EUR-IS-1", "US-CA-2", "US-GA-2", "US-KS-2", "US-TX-3"];

export function createVolumes({ dataCenters, usersOf, ...around }: VolumeSurroundings): Volumes {
  const { profile, random } = around;
  const records = createRecords<VolumeRecord>({
    ...around,
    noun: "network volume",
    newId: () => randomId(random, 10),
  });

  function volumeWithId(id: string, action: string): VolumeRecord {
    const record = records.find(id);
    if (!record) throw new BusinessError(`Tried to ${action} nonexistent network volume`, "volume.nonexistent");
    return record;
  }

  function create({ isNextGenStorage, ...input }: VolumeInput, id?: string): VolumeRecord {
    const fields = fieldsAfter(VOLUME_FIELDS, undefined, input, profile);
    assertSize(fields.size);
    if (!dataCenters.includes(fields.dataCenterId)) {
      throw new BusinessError(
        `Data center "${fields.dataCenterId}" not found or does not support network volumes. Available data centers: ${dataCenters.join(", ")}.`,
        "volume.data-center",
      );
    }
    return records.add({ ...fields, storageType: isNextGenStorage ? "VAST" : "CEPH_FS" }, id);
  }

  return {
    ...records,
    create: ({ id, ...input }) => create(input, id ?? undefined),
    update({ id, ...input }) {
      const current = volumeWithId(id, "update");
      const fields = fieldsAfter(VOLUME_FIELDS, current, { ...input, dataCenterId: current.dataCenterId }, profile);
      assertSize(fields.size);
      if (profile === "contract" && fields.size < current.size) {
        throw new BusinessError(
          `A network volume cannot shrink: it has ${current.size} GB, ${fields.size} GB asked for`,
          "volume.shrink",
        );
      }
      return records.change(current, fields);
    },
    delete(id) {
      volumeWithId(id, "delete");
      const [user] = usersOf(id);
      if (user) throw new BusinessError(`Network volume is in use by ${user} and cannot be deleted`, "volume.in-use");
      records.remove(id);
    },
    change: (id, patch) => records.change(volumeWithId(id, "change"), patch),
  };
}

function assertSize(size: number): void {
  if (size >= SIZES.smallest && size <= SIZES.largest) return;
  throw new BusinessError(
    `The size of a network volume must be between ${SIZES.smallest} and ${SIZES.largest} GB`,
    "volume.size",
  );
}
