import { v2Requests } from "../records/v2Calls";
import { changedInV2, v2Body, v2RecordSchema } from "../records/v2Format";
import type { RestV2Transport } from "../transport/restV2";
import { VOLUME_FIELDS } from "./fields";
import { OUTPUT_ONLY_FIELDS, VOLUME, type VolumeCalls } from "./graphqlCalls";
import type { Volume } from "./record";

export const VOLUME_LIST = {
  ...VOLUME,
  schema: v2RecordSchema<Volume>(VOLUME_FIELDS, OUTPUT_ONLY_FIELDS),
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

/** Returns the requests over REST v2. A change sends only what differs. */
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
    // REST v2 shows the tier, and GraphQL the storage system.
    hiddenIn: () => ["storageType"],
  };
}
