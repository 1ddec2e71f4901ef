import * as pulumi from "@pulumi/pulumi";
import type { Volume, VolumeInput } from "../../../sdk/volumes/volume";
import { RECORD_TYPES } from "../../resourceTypes";
import { followAdoption } from "../program/preview";
import { warnOfSettings } from "../program/settingsWarnings";
import type { ArgsOf } from "./args";
import { type RecordClass, registration } from "./registration";

const VOLUME_CLASS: RecordClass<Volume> = {
  ...RECORD_TYPES.NetworkVolume,
  loadKind() {
    const { VOLUME_KIND }: typeof import("../../volume/volumeKind") = require("../../volume/volumeKind");
    return VOLUME_KIND;
  },
};

/** The arguments of a `NetworkVolume`. */
export interface NetworkVolumeArgs extends ArgsOf<Omit<VolumeInput, "name">> {
  /**
   * Name of the volume. Unique among the account's volumes in its data center, but not at the
   * service.
   * @default the resource's logical name, a hyphen and 7 hexadecimal digits, the same on every run;
   * `-fast` follows if `highPerformance` is `true`
   */
  name?: pulumi.Input<string | undefined>;
  /**
   * Id of an existing volume. A new resource adopts it, and changes it to match the program,
   * instead of creating one. Without `name` the volume keeps its name. Each volume belongs to one
   * resource of one stack.
   */
  adoptId?: pulumi.Input<string> | undefined;
  /**
   * How long a deletion waits until the service releases the volume, in seconds (integer, ≥ 1).
   * @default 300 (5 minutes)
   */
  deleteTimeout?: pulumi.Input<number> | undefined;
}

/**
 * A network volume: storage that workers mount and that outlives them. You are charged for it as
 * long as it exists, and deleting it loses its content. Set the option `protect: true`; with
 * `retainOnDelete: true` it stays at the service.
 *
 * Name and size change in place. A deletion fails at once if an endpoint mounts the volume.
 * Otherwise it waits until the service releases it, and verifies that it is gone.
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
  /** Name of the volume. */
  declare readonly name: pulumi.Output<string>;
  /** Size in GB. */
  declare readonly size: pulumi.Output<number>;
  /** Id of the data center. */
  declare readonly dataCenterId: pulumi.Output<string>;
  /** `true` if the program asked for the faster storage tier. */
  declare readonly highPerformance: pulumi.Output<boolean>;
  /**
   * The system that stores the volume, in the service's own words; `""` if the service does not
   * show it.
   */
  declare readonly storageType: pulumi.Output<string>;

  /**
   * Reads a volume without managing it: Pulumi neither changes nor deletes it. Fails if no volume
   * has this id.
   * @param name logical name of the resource
   * @param id id of the volume
   */
  static get(name: string, id: pulumi.Input<pulumi.ID>, options?: pulumi.CustomResourceOptions): NetworkVolume {
    return new NetworkVolume(name, undefined, { ...options, id });
  }

  /**
   * @param name logical name of the resource, unique in the stack
   * @param args `undefined` only together with `options.id`, as in `get`
   */
  constructor(name: string, args: NetworkVolumeArgs | undefined, options: pulumi.CustomResourceOptions = {}) {
    super(...registration(VOLUME_CLASS, name, args, options));
    warnOfSettings(this);
    followAdoption(this, args, VOLUME_CLASS);
  }
}
