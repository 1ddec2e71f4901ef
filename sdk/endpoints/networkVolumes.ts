import type { InputProblem } from "../errors/errors";
import { normalizeSet } from "./normalForms";

// Programs load this file on startup, so it must not import any libraries.

/*
 * The network volumes of an endpoint: the setting `networkVolumeIds`, or its short form
 * `networkVolumeId`. Records have the same comma-separated list in both. Whichever of them a
 * program sets, it then shows all drift.
 */

/** The two settings for mounting network volumes. */
interface MountedVolumes {
  readonly networkVolumeId?: string | undefined;
  readonly networkVolumeIds?: string | undefined;
}

/** Returns `true` if a comma-separated list contains more than one value. */
export function areSeveral(commaList: string): boolean {
  return commaList.includes(",");
}

/** Returns a problem if an input sets both `networkVolumeId` and `networkVolumeIds`. */
export function volumeProblems({
  networkVolumeId,
  networkVolumeIds,
}: Readonly<Record<string, unknown>>): InputProblem[] {
  if (!networkVolumeId || !networkVolumeIds) return [];
  const message = "cannot be combined with networkVolumeId, which is its short form: remove one of them";
  return [{ property: "networkVolumeIds", message }];
}

/**
 * Returns the settings with both `networkVolumeId` and `networkVolumeIds` filled in, if either of
 * them is set.
 */
export function withBothForms<T extends MountedVolumes>(settings: T): T {
  const { networkVolumeId, networkVolumeIds } = settings;
  if (networkVolumeId === undefined && networkVolumeIds === undefined) return settings;
  // If there are several volumes, a service may show only one of them in `networkVolumeId`.
  const ids = normalizeSet([networkVolumeId ?? "", networkVolumeIds ?? ""]);
  return { ...settings, networkVolumeId: ids, networkVolumeIds: ids };
}

/**
 * Returns which of the two fields must not be sent over GraphQL. Several volumes are sent as a
 * list, and a single volume is sent as an id.
 */
export function unusedVolumeField({ networkVolumeIds = "" }: MountedVolumes): keyof MountedVolumes {
  return areSeveral(networkVolumeIds) ? "networkVolumeId" : "networkVolumeIds";
}
