import { VOLUME, VOLUME_FIELDS, type Volume } from "../volumes/volume";
import { VOLUME_OUTPUTS, type VolumeCalls } from "../volumes/volumes";
import { changedInV2, v2Body, v2RecordSchema } from "./format";
import { v2Requests } from "./requests";
import type { RestV2Transport } from "./transport";

export const VOLUME_LIST = {
  ...VOLUME,
  schema: v2RecordSchema<Volume>(VOLUME_FIELDS, VOLUME_OUTPUTS),
  names: {
    list: "listNetworkVolumes",
    read: "getNetworkVolume",
    create: "createNetworkVolume",
    change: "updateNetworkVolume",
    delete: "deleteNetworkVolume",
  },
  path: "/network-volumes",
  field: "networkVolumes",
};

/** Returns the requests over REST v2. A change sends only the fields that differ. */
export function v2VolumeCalls(transport: RestV2Transport): VolumeCalls {
  const requests = v2Requests(transport, VOLUME_LIST);
  return {
    ...requests,
    create: (operation, settings, attempt) => requests.create(operation, v2Body(VOLUME_FIELDS, settings), attempt),
    change: (operation, before, changes, attempt) =>
      requests.patch(
        operation,
        before.id,
        v2Body(VOLUME_FIELDS, changes, changedInV2(VOLUME_FIELDS, before, changes)),
        attempt,
      ),
    // REST v2 shows the storage tier, while GraphQL shows the storage system, so neither value can
    // be taken for the other.
    hiddenIn: () => ["storageType"],
  };
}
