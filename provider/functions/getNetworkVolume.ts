import type * as pulumi from "@pulumi/pulumi";
import type { Volume } from "../../sdk/volumes/record";
import { findSelected } from "./findRecord";
import { type DataSource, type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";

/** Selects a network volume by its id, or by its exact name and, if needed, its data center. */
export interface GetNetworkVolumeArgs {
  /** Id of the volume. Set either this or `name`. */
  readonly id?: string | undefined;
  /** Exact name of the volume. Only one volume may have it, in the data center if one is given. */
  readonly name?: string | undefined;
  /** Id of the data center. Only together with `name`. @default any */
  readonly dataCenterId?: string | undefined;
}

/** A network volume at the service. */
export interface GetNetworkVolumeResult extends Volume {}

const VOLUME: DataSource<GetNetworkVolumeArgs, GetNetworkVolumeResult> = {
  name: "getNetworkVolume",
  find: ({ client }, { id, name, dataCenterId }) =>
    findSelected("getNetworkVolume", client.volumes, { id, name }, (volume) =>
      [undefined, volume.dataCenterId].includes(dataCenterId),
    ),
};

/**
 * Returns a network volume by its id or by its exact name.
 * @throws NotFoundError if there is none
 * @throws InvalidInputError if several volumes have the name; it lists their ids
 * @throws AuthenticationError if the service does not accept the key
 */
export function getNetworkVolume(args: GetNetworkVolumeArgs): Promise<GetNetworkVolumeResult> {
  return invoke(VOLUME, args);
}

/** Does the same as `getNetworkVolume` for arguments that are outputs. The result is unknown until they are known. */
export function getNetworkVolumeOutput(
  args: InputsOf<GetNetworkVolumeArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetNetworkVolumeResult> {
  return invokeOutput(VOLUME, args, options);
}
