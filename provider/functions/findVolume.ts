import type { Volume } from "../../sdk/volumes/record";
import type { DataSourceContext } from "./dataSource";
import { findSelected } from "./findRecord";

/** Selects a network volume by its id, or by its exact name and, if needed, its data center. */
export interface GetNetworkVolumeArgs {
  /** Id of the volume. Set either this or `name`. */
  readonly id?: string | undefined;
  /** Exact name of the volume. Only one volume may have it, in the data center if one is given. */
  readonly name?: string | undefined;
  /** Id of the data center. Only together with `name`. @default any */
  readonly dataCenterId?: string | undefined;
}

/** Returns a network volume by its id, or by its exact name and, if given, its data center. */
export function findVolume(
  { client }: DataSourceContext,
  { id, name, dataCenterId }: GetNetworkVolumeArgs,
): Promise<Volume> {
  return findSelected("getNetworkVolume", client.volumes, { id, name }, (volume) =>
    [undefined, volume.dataCenterId].includes(dataCenterId),
  );
}
