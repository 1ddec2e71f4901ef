import * as z from "zod";
import { LIST_CAP } from "../contract/limits";
import type { RecordCalls } from "../records/calls";
import { readMyself, remove, save } from "../records/graphqlCalls";
import { type Kind, readRecords } from "../records/listed";
import { recordSchema, selectionOf } from "../records/wireFormat";
import type { GraphqlTransport } from "../transport/graphql";
import { VOLUME_FIELDS } from "./fields";
import type { Volume, VolumeChanges, VolumeSettings } from "./record";

/** The requests for network volumes, each of which sends one request, once. */
export type VolumeCalls = RecordCalls<Volume, VolumeSettings, Required<VolumeChanges>>;

export const OUTPUT_ONLY_FIELDS = {
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

const volumeSchema = recordSchema<Volume>(VOLUME_FIELDS, OUTPUT_ONLY_FIELDS);

const SELECTION = selectionOf(VOLUME_FIELDS, OUTPUT_ONLY_FIELDS);

export const VOLUME: Kind<Volume> = { noun: "network volume", one: "a network volume", schema: volumeSchema };

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
      return readRecords(VOLUME, myself, "networkVolumes", LIST_CAP);
    },
    create(operation, { highPerformance, ...settings }, attempt) {
      const input = { ...settings, ...(highPerformance ? { isNextGenStorage: true } : {}) };
      return save(
        transport,
        operation,
        { name: "createNetworkVolume", input, selection: SELECTION },
        volumeSchema,
        attempt,
      );
    },
    change(operation, { id }, { name, size }, attempt) {
      const mutation = { name: "updateNetworkVolume", input: { id, name, size }, selection: SELECTION };
      return save(transport, operation, mutation, volumeSchema, attempt);
    },
    delete: (operation, { id }, attempt) =>
      remove(transport, operation, "deleteNetworkVolume", { input: { id } }, attempt),
  };
}
