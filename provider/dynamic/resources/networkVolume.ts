import * as pulumi from "@pulumi/pulumi";
import type { Volume, VolumeInput } from "../../../sdk/volumes/volume";
import { RECORD_TYPES } from "../../engine/resourceTypes";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import type { ArgsOf } from "./args";
import { type RecordClass, registration } from "./registration";

const VOLUME_CLASS: RecordClass<Volume> = {
  ...RECORD_TYPES.NetworkVolume,
  loadKind() {
    const { VOLUME_KIND }: typeof import("../../kinds/volumeKind") = require("../../kinds/volumeKind");
    return VOLUME_KIND;
  },
};

/** The arguments of a `NetworkVolume`. */
export interface NetworkVolumeArgs extends ArgsOf<Omit<VolumeInput, "name">> {
  /**
   * Name of the volume. RunPod allows duplicate names, but this provider requires the name to be
   * unique among the account's volumes in the data center.
   * @default the resource's logical name plus a hyphen and 7 hexadecimal digits, which are stable
   * across runs; followed by `-fast` if `highPerformance` is `true`
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Id of an existing volume to adopt instead of creating one. Adopting it changes it to match the
   * program. If you don't set `name`, the volume keeps its name. While `adoptId` is in state,
   * removing the resource releases the volume instead of deleting it. If you remove `adoptId`, the
   * next `up` makes it the stack's own. Only one resource in one stack can manage a volume.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * How long a deletion waits until RunPod releases the volume, in seconds (integer, ≥ 1).
   * @default 300 (5 minutes)
   */
  deleteTimeout?: pulumi.Input<number> | undefined;
}

/**
 * A network volume: storage that workers mount and that outlives them. RunPod charges for it as
 * long as it exists. Deleting it loses its contents, so set the option `protect: true`. With
 * `retainOnDelete: true`, the volume is kept at RunPod.
 *
 * The name and size change in place. The data center and the storage tier cannot change. Deleting a
 * volume fails if an endpoint mounts it. Otherwise, the deletion waits until RunPod releases the
 * volume, and verifies that it is gone.
 *
 * @example
 * const models = new NetworkVolume("models", { size: 50, dataCenterId: "EU-RO-1" }, { protect: true });
 * new ServerlessEndpoint("llama", {
 *   gpuIds: "ADA_24",
 *   templateId: "abc123",
 *   networkVolumeId: models.id,
 *   locations: models.dataCenterId,
 * });
 */
export class NetworkVolume extends pulumi.CustomResource {
  /**
   * The type by which policy packs recognize the class.
   * @internal
   */
  static readonly __pulumiType = VOLUME_CLASS.type;

  /** Name of the volume. */
  declare readonly name: pulumi.Output<string>;
  /** Size in GB. */
  declare readonly size: pulumi.Output<number>;
  /** The id of the data center. */
  declare readonly dataCenterId: pulumi.Output<string>;
  /** `true` if the program requested the faster storage tier. */
  declare readonly highPerformance: pulumi.Output<boolean>;
  /** The storage system, as RunPod names it; `""` if RunPod does not show it. */
  declare readonly storageType: pulumi.Output<string>;

  /**
   * Reads an existing volume without managing it, so Pulumi neither changes nor deletes it. Fails
   * if the volume does not exist.
   * @param name logical name of the resource
   * @param id id of the volume
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): NetworkVolume {
    return new NetworkVolume(name, undefined, { ...options, id });
  }

  /**
   * @param name logical name of the resource, unique in the stack
   * @param args only `undefined` together with `options.id`, as in `get`
   */
  constructor(name: string, args: NetworkVolumeArgs | undefined, options: pulumi.CustomResourceOptions = {}) {
    super(...registration(VOLUME_CLASS, name, args, options));
    warnOfSettings(this);
    followAdoption(this, args, VOLUME_CLASS);
  }
}
