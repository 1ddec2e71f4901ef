import * as z from "zod";
import { DATA_CENTER_ID } from "../contract/limits";
import type { Endpoint } from "../endpoints/record";
import { InvalidInputError } from "../errors/errors";
import { DELETE_OPTIONS, UPDATE_OPTIONS } from "../records/callOptions";
import type { RecordCalls } from "../records/calls";
import type { Collection, UpdateRecordOptions, Writable } from "../records/collection";
import type { CreateRecordOptions } from "../records/createRecord";
import { type DeleteUnusedOptions, deleteUnused, unusedBy } from "../records/deleteUnused";
import { inputChecks, must } from "../records/input";
import type { Readers } from "../records/readers";
import { recordOperations } from "../records/records";
import type { ResponsePromise } from "../transport/responsePromise";
import {
  VOLUME,
  VOLUME_FIELDS,
  type Volume,
  type VolumeChanges,
  type VolumeInput,
  type VolumeSettings,
} from "./volume";

/**
 * Creates, changes, lists and deletes network volumes. The contract mentions only their ids
 * (observed).
 */
export interface Volumes extends Readers<Volume> {
  /**
   * Creates a network volume. If the response is lost, checks whether the volume was created before
   * trying again, so that a second volume is never created.
   * @throws InvalidInputError if a field is not valid; nothing was sent
   * @throws BusinessRuleError if the data center does not exist or does not support volumes; names
   * the data centers that support them
   * @throws CreateUncertainError if the client cannot tell whether the volume was created, or which
   * of several new volumes it is
   */
  create(input: VolumeInput, options?: CreateRecordOptions<Volume>): ResponsePromise<Volume>;
  /**
   * Changes the name or the size of a volume.
   * @throws InvalidInputError if the volume would shrink, or a field is not valid; nothing was
   * changed
   * @throws NotFoundError if the volume does not exist
   */
  update(id: string, changes: VolumeChanges, options?: UpdateRecordOptions<Volume>): ResponsePromise<Volume>;
  /**
   * Deletes a network volume with all its data and verifies that it is gone. A volume that does not
   * exist counts as deleted.
   * @throws InUseError immediately if an endpoint mounts the volume; names the endpoint
   * @throws UnexpectedResponseError if the client cannot tell whether an endpoint mounts the volume
   * @throws DELETE_TIMEOUT if the service does not accept the deletion in time
   */
  delete(id: string, options?: DeleteUnusedOptions): ResponsePromise<void>;
}

/** The fields of a volume that only the service sets. */
export const VOLUME_OUTPUTS = {
  id: { selection: "id", schema: z.string().min(1), v2: "id" },
  storageType: {
    selection: "storageType",
    schema: z
      .string()
      .nullish()
      .transform((type) => type ?? ""),
    v2: "type",
  },
};

/** The requests for network volumes. Each function sends one request, without retries. */
export type VolumeCalls = RecordCalls<Volume, VolumeSettings, Required<VolumeChanges>>;

/** Validates the settings and changes of a network volume. */
export const VOLUME_CHECKS = inputChecks<VolumeInput, VolumeSettings, VolumeChanges>(VOLUME, VOLUME_FIELDS, {
  types: { "data center": ({ mustBe }) => z.string(must(mustBe)).trim().regex(DATA_CENTER_ID, must(mustBe)) },
});

/**
 * Returns the functions that read and write the network volumes of one account. `endpoints` may
 * mount these volumes.
 */
export function createVolumes(
  volumes: Writable<Volume, VolumeSettings, Required<VolumeChanges>>,
  endpoints: Collection<Endpoint>,
): Volumes {
  const isUnused = unusedBy(endpoints, {
    isUser: (endpoint, volume: Volume) => endpoint.networkVolumeId.split(",").includes(volume.id),
    remedy:
      "Set the endpoint's networkVolumeId to another volume, or delete the endpoint if nobody needs it, then delete the volume again",
  });
  return recordOperations(volumes, {
    ...VOLUME_CHECKS,
    merge: withoutShrinking,
    // A volume's name alone does not identify it. Name, data center and size together identify a
    // new volume.
    isSame: (volume, wanted) =>
      (["dataCenterId", "size"] as const).every(
        (field) => volume.unshown?.includes(field) || volume[field] === wanted[field],
      ),
    isNamesake: (other, { dataCenterId }) => other.dataCenterId === dataCenterId,
    delete: (id, options) => deleteUnused(volumes, id, [isUnused], options),
    updateOptions: UPDATE_OPTIONS,
    deleteOptions: DELETE_OPTIONS,
  });
}

function withoutShrinking(volume: Volume, { name = volume.name, size = volume.size }: VolumeChanges) {
  if (size >= volume.size) return { name, size };
  const message = `is ${size}, less than the ${volume.size} GB that the volume has. A volume cannot shrink`;
  throw new InvalidInputError(`the change of network volume ${volume.id}`, [{ property: "size", message }]);
}
