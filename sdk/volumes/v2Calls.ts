import { z } from "zod";
import { deleteV2, given, listV2, patchRecord, requestRecord } from "../records/v2Calls";
import type { RestV2Transport } from "../transport/restV2";
import { pathSegment } from "../transport/urls";
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

const KIND = { ...VOLUME, schema: volumeV2Schema };

const pathOf = (id: string) => `/network-volumes/${pathSegment("id", id)}`;

/** Returns the requests over REST v2. A change sends only what differs. */
export function v2VolumeCalls(transport: RestV2Transport): VolumeCalls {
  return {
    names: {
      list: "listNetworkVolumes",
      create: "createNetworkVolume",
      change: "updateNetworkVolume",
      delete: "deleteNetworkVolume",
    },
    list(operation, attempt) {
      const list = { name: "listNetworkVolumes", operation, path: "/network-volumes", field: "networkVolumes" };
      return listV2(transport, KIND, list, attempt);
    },
    create(operation, { name, size, dataCenterId, highPerformance }, attempt) {
      const body = { name, size, dataCenter: dataCenterId, ...(highPerformance && { type: "HIGH_PERFORMANCE" }) };
      const request = {
        name: "createNetworkVolume",
        operation,
        method: "POST",
        path: "/network-volumes",
        body,
      } as const;
      return requestRecord(transport, KIND, request, attempt);
    },
    change(operation, { id, ...before }, { name, size }, attempt) {
      const body = given({
        name: name === before.name ? undefined : name,
        size: size === before.size ? undefined : size,
      });
      return patchRecord(transport, KIND, { name: "updateNetworkVolume", operation, path: pathOf(id), body }, attempt);
    },
    delete: (operation, { id }, attempt) =>
      deleteV2(transport, { name: "deleteNetworkVolume", operation, path: pathOf(id) }, attempt),
    // REST v2 shows the tier, and GraphQL the storage system.
    hiddenIn: () => ["storageType"],
  };
}
