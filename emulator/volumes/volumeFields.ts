import { z } from "zod";
import type { V2Form } from "../model/fieldTable";
import {
  type Field,
  type OptionalInput,
  patchSchemaOf,
  type RequiredInput,
  requiredString,
  type Stored,
  seedSchemaOf,
  storedSchemasOf,
} from "../model/fieldTable";
import { NAME } from "../model/shapes";
import { property } from "../model/v2Form";

/** The minimum and maximum size of a volume, in GB. */
export const SIZES = { smallest: 10, largest: 4096 };

type Optional<Value> = Field<Value, Value | null | undefined>;

/** Declares a field that a change keeps if omitted. */
function kept<Value>(type: string, schema: z.ZodType<Value>, value: Value, v2: V2Form<Value, Value>): Optional<Value> {
  const store: Optional<Value>["store"] = (given, current) => given ?? current ?? value;
  return { output: type, input: type, schema: schema.nullish(), stored: schema, store, v2 };
}

/** All fields of a volume that clients can set. An update can only set `CHANGEABLE_FIELDS`. */
export const VOLUME_FIELDS = {
  /** The name. It need not be unique. */
  name: kept("String", z.string(), "", property("name", NAME)),
  /** The size in GB (integer). */
  size: kept("Int", z.int(), 0, property("size", { type: "integer", minimum: SIZES.smallest, maximum: SIZES.largest })),
  /** The id of the data center. It cannot be changed. */
  dataCenterId: requiredString("String", property("dataCenter", NAME)),
};

const { name, size } = VOLUME_FIELDS;
/** The fields that `updateNetworkVolume` accepts. */
export const CHANGEABLE_VOLUME_FIELDS = { name, size };

type Table = typeof VOLUME_FIELDS;

/** The fields of a network volume that clients can set. */
export interface VolumeFields extends Stored<Table> {}

/** A network volume as the service stores it. */
export interface VolumeRecord extends VolumeFields {
  /** Identifier, assigned when the volume was created. */
  readonly id: string;
  /** The kind of storage. `isNextGenStorage` determines it. */
  readonly storageType: "CEPH_FS" | "VAST";
}

/** The `input` of `createNetworkVolume`. */
export interface VolumeInput extends RequiredInput<Table>, OptionalInput<Table> {
  /** `true` for the fast storage tier. @default false */
  readonly isNextGenStorage?: boolean | null;
}

/** The `input` of `updateNetworkVolume`. */
export interface VolumeChange extends OptionalInput<typeof CHANGEABLE_VOLUME_FIELDS> {
  readonly id: string;
}

/** A network volume to create. */
export interface VolumeSeed extends VolumeInput {
  /** Id of the new volume. @default random */
  readonly id?: string | null;
}

/** The schema of a volume to create. */
export const volumeSeedSchema = seedSchemaOf<VolumeSeed>({
  ...VOLUME_FIELDS,
  isNextGenStorage: { schema: z.boolean().nullish() },
});
/** The schema of a change to a volume. */
export const volumePatchSchema = patchSchemaOf(VOLUME_FIELDS);
/** The schema of a volume in a data file. */
export const volumeRecordSchema = z.looseObject({
  ...storedSchemasOf(VOLUME_FIELDS),
  id: z.string(),
  storageType: z.enum(["CEPH_FS", "VAST"]),
});
