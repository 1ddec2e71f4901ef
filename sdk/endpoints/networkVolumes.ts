import type { InputProblem } from "../errors";
import { normalizeSet } from "./normalForms";

// Programs load this file when they start, so it imports no library.

/*
 * The network volumes of an endpoint: the setting `networkVolumeIds`, or its short form
 * `networkVolumeId`. Records have the same comma-separated list in both, so that each shows all
 * drift.
 */

/** The two settings. */
export interface MountedVolumes {
  readonly networkVolumeId?: string | undefined;
  readonly networkVolumeIds?: string | undefined;
}

/** Returns `true` for a comma-separated list of several. */
export function areSeveral(commaList: string): boolean {
  return commaList.includes(",");
}

/** Returns the problem of inputs that set both. */
export function volumeProblems({
  networkVolumeId,
  networkVolumeIds,
}: Readonly<Record<string, unknown>>): InputProblem[] {
  if (!networkVolumeId || !networkVolumeIds) return [];
  const message = "cannot be combined with networkVolumeId, which is its short form: remove one of them";
  return [{ property: "networkVolumeIds", message }];
}

/** Returns settings with both forms if they have one of them. */
export function withBothForms<T extends MountedVolumes>(settings: T): T {
  const { networkVolumeId, networkVolumeIds } = settings;
  if (networkVolumeId === undefined && networkVolumeIds === undefined) return settings;
  // A service may show one of several volumes as the single one.
  const ids = normalizeSet([networkVolumeId ?? "", networkVolumeIds ?? ""]);
  return { ...settings, networkVolumeId: ids, networkVolumeIds: ids };
}

/**
 * Returns the fields that GraphQL must not get together with the other form: several volumes are a
 * list, one is a single id.
 */
export function unusedVolumeField({ networkVolumeIds = "" }: MountedVolumes): keyof MountedVolumes {
  return areSeveral(networkVolumeIds) ? "networkVolumeId" : "networkVolumeIds";
}
