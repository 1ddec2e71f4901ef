import * as z from "zod";
import { given, v2Requests } from "../records/v2Calls";
import type { RestV2Transport } from "../transport/restV2";
import { VOLUME, type VolumeCalls } from "./graphqlCalls";
import type { Volume } from "./record";

const volumeV2Schema: z.ZodType<Volume> = z
  .looseObject({
    id: z.string().min(1),
    name: z.string(),
    size: z.number(),
    dataCenter: z.string(),
    type: z.string().nullish(),
  })
  .transform(({ id, name, size, dataCenter, type }) => ({
    id,
    name,
    size,
    dataCenterId: dataCenter,
    storageType: type ?? "",
  }));

export const VOLUME_LIST = {
  ...VOLUME,
  schema: volumeV2Schema,
  names: {
    list: "listNetworkVolumes",
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
    create(operation, { name, size, dataCenterId, highPerformance }, attempt) {
      const body = { name, size, dataCenter: dataCenterId, ...(highPerformance && { type: "HIGH_PERFORMANCE" }) };
      return requests.create(operation, body, attempt);
    },
    change(operation, { id, ...before }, { name, size }, attempt) {
      const body = given({
        name: name === before.name ? undefined : name,
        size: size === before.size ? undefined : size,
      });
      return requests.patch(operation, id, body, attempt);
    },
    // REST v2 shows the tier, and GraphQL the storage system.
    hiddenIn: () => ["storageType"],
  };
}
