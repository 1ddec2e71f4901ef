import { DATA_CENTER_ID } from "../contract/limits";
import { BusinessRuleError, type InputProblem, InvalidInputError, RejectedError } from "../errors/errors";
import type { NamedRecord } from "../records/listed";
import { splitList } from "./normalForms";
import type { Endpoint, EndpointSettings } from "./record";

/** A volume and its location, which determines which endpoints can mount it. */
interface PlacedVolume extends NamedRecord {
  readonly dataCenterId: string;
}

/**
 * Reads the volumes of the account. The result includes the last write to the volume with this id.
 */
export type ReadVolumes = (id: string) => Promise<readonly PlacedVolume[]>;

/**
 * Checks, before anything is written, that workers can run somewhere with the endpoint's volumes
 * and locations. Reads the volumes only if the change could be wrong. If a volume is in no list,
 * the service has to check it.
 * @throws InvalidInputError if a data center has none of the volumes, or two of them
 */
export async function checkVolumePlaces(
  readVolumes: ReadVolumes,
  before: Endpoint | undefined,
  settings: Partial<EndpointSettings>,
): Promise<void> {
  const { networkVolumeIds = "", locations = "" } = { ...before, ...settings };
  if (networkVolumeIds === before?.networkVolumeIds && locations === before.locations) return;
  const ids = splitList(networkVolumeIds);
  const places = splitList(locations).filter((place) => DATA_CENTER_ID.test(place));
  const [id] = ids;
  if (id === undefined || (ids.length === 1 && places.length === 0)) return;
  const known = await knownVolumes(readVolumes, id);
  const mounted = ids.flatMap((each) => known.find((volume) => volume.id === each) ?? []);
  if (mounted.length < ids.length) return;
  const problems = [...placeProblems(places, mounted), ...sharedPlaceProblems(mounted)];
  if (problems.length > 0) throw new InvalidInputError("the endpoint", problems);
}

/** Returns the volumes of the account, or an empty list if the service does not list them. */
async function knownVolumes(readVolumes: ReadVolumes, id: string): Promise<readonly PlacedVolume[]> {
  try {
    return await readVolumes(id);
  } catch (error) {
    if (error instanceof RejectedError || error instanceof BusinessRuleError) return [];
    throw error;
  }
}

function placeProblems(places: readonly string[], mounted: readonly PlacedVolume[]): InputProblem[] {
  const served = mounted.map(({ dataCenterId }) => dataCenterId);
  const others = places.filter((place) => !served.includes(place));
  if (others.length === 0) return [];
  const message =
    `contains ${others.join(", ")}, where the endpoint has no network volume, so no worker could start there. ` +
    `Its volumes are in ${served.join(", ")}`;
  return [{ property: "locations", message }];
}

function sharedPlaceProblems(mounted: readonly PlacedVolume[]): InputProblem[] {
  const second = mounted.find(
    (volume, index) => mounted.findIndex(({ dataCenterId }) => dataCenterId === volume.dataCenterId) < index,
  );
  if (!second) return [];
  const message = `contains more than one volume in ${second.dataCenterId}. An endpoint can have only one in each data center`;
  return [{ property: "networkVolumeIds", message }];
}
