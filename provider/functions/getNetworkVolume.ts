import type * as pulumi from "@pulumi/pulumi";
import type { Volume } from "../../sdk/volumes/record";
import type { GetNetworkVolumeArgs } from "./findVolume";
import { type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";
import { VOLUME } from "./sources";

export type { GetNetworkVolumeArgs };

/** A network volume at the service. */
export interface GetNetworkVolumeResult extends Volume {}

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
