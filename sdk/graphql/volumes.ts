import { LIST_CAP } from "../contract/limits";
import { decodeRecords, type ReadableKind } from "../records/listed";
import { VOLUME, VOLUME_FIELDS, type Volume } from "../volumes/volume";
import { VOLUME_OUTPUTS, type VolumeCalls } from "../volumes/volumes";
import { recordSchema, selectionOf } from "./format";
import { readMyself, sendDeletion, sendSave } from "./requests";
import type { GraphqlTransport } from "./transport";

const volumeSchema = recordSchema<Volume>(VOLUME_FIELDS, VOLUME_OUTPUTS);

const SELECTION = selectionOf(VOLUME_FIELDS, VOLUME_OUTPUTS);

const KIND: ReadableKind<Volume> = { ...VOLUME, schema: volumeSchema };

/** Returns the requests over GraphQL. */
export function graphqlVolumeCalls(transport: GraphqlTransport): VolumeCalls {
  return {
    names: {
      list: "myself",
      create: "createNetworkVolume",
      change: "updateNetworkVolume",
      delete: "deleteNetworkVolume",
    },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `networkVolumes { ${SELECTION} }`, attempt);
      return decodeRecords(KIND, myself, "networkVolumes", LIST_CAP);
    },
    create(operation, { highPerformance, ...settings }, attempt) {
      const input = { ...settings, ...(highPerformance ? { isNextGenStorage: true } : {}) };
      return sendSave(
        transport,
        operation,
        { name: "createNetworkVolume", input, selection: SELECTION },
        volumeSchema,
        attempt,
      );
    },
    change(operation, { id }, { name, size }, attempt) {
      const mutation = { name: "updateNetworkVolume", input: { id, name, size }, selection: SELECTION };
      return sendSave(transport, operation, mutation, volumeSchema, attempt);
    },
    delete: (operation, { id }, attempt) =>
      sendDeletion(transport, operation, "deleteNetworkVolume", { input: { id } }, attempt),
  };
}
