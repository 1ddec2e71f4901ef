import { isDeepStrictEqual } from "node:util";
import { fieldOfRelease, variablesOfRelease } from "../../sdk/endpoints/releaseSettings";
import type { EndpointRelease, ReleaseChange } from "../../sdk/endpoints/releases";
import { objectOrEmpty, type Properties } from "../properties";
import { nested, releaseOf } from "./settings";

/*
 * On a machine without a record, the service's releases tell whether a release was refused: it was
 * followed by one that takes all of its changes back, soon after it.
 */

/** The time allowed for a test and a restore, in addition to the time of the watch. */
const ALLOWANCE_MS = 10 * 60_000;

/** A refusal that can be seen in the list of releases. */
interface ShownRefusals {
  /** How many times in a row the release was made and rolled back. */
  readonly count: number;
  /** When the release was last made and when it was last rolled back, in RunPod's format. */
  readonly madeAt: string;
  readonly restoredAt: string;
}

/**
 * Returns how often a release with these changes was made and rolled back, counting back from the
 * latest release.
 * @param releases the releases, newest first
 * @param changes the settings that an update would change
 */
export function shownRefusals(
  releases: readonly EndpointRelease[],
  changes: Properties,
  watchSeconds: number,
): ShownRefusals | undefined {
  const wanted = nested(releaseOf(changes));
  let count = 0;
  let last: Pick<ShownRefusals, "madeAt" | "restoredAt"> | undefined;
  for (let index = 0; index + 1 < releases.length; index += 2) {
    const [restore, made] = [releases[index], releases[index + 1]];
    if (!restore || !made || !takesBack(restore, made, watchSeconds) || !hasChanges(made, wanted)) break;
    last ??= { madeAt: made.createdAt ?? "", restoredAt: restore.createdAt ?? "" };
    count += 1;
  }
  return last && { count, ...last };
}

function takesBack(restore: EndpointRelease, made: EndpointRelease, watchSeconds: number): boolean {
  const tookMs = Date.parse(restore.createdAt ?? "") - Date.parse(made.createdAt ?? "");
  if (!(tookMs >= 0 && tookMs <= watchSeconds * 1000 + ALLOWANCE_MS)) return false;
  const isTakenBack = (change: ReleaseChange) =>
    restore.changes.some(
      (each) =>
        each.field === change.field &&
        isDeepStrictEqual(each.new, change.old) &&
        isDeepStrictEqual(each.old, change.new),
    );
  return made.changes.length > 0 && made.changes.length === restore.changes.length && made.changes.every(isTakenBack);
}

/**
 * Returns `true` if a release made exactly these changes. Fields whose values are not known count
 * as different.
 */
function hasChanges(made: EndpointRelease, wanted: Properties): boolean {
  const names = Object.keys(wanted);
  if (names.length !== made.changes.length) return false;
  return names.every((name) => {
    const change = made.changes.find(({ field }) => fieldOfRelease(field) === name);
    return change !== undefined && isValue(name, wanted[name], change.new);
  });
}

function isValue(name: string, wanted: unknown, shown: unknown): boolean {
  if (name !== "env") return inOneForm(wanted) === inOneForm(shown);
  const variables = variablesOfRelease(shown);
  return Object.entries(objectOrEmpty(wanted)).every(([key, value]) => (variables[key] ?? null) === value);
}

function inOneForm(value: unknown): string {
  if (value === null || value === undefined) return "";
  const list = Array.isArray(value) ? value.map(String) : String(value).split(",");
  return list
    .map((each) => each.trim())
    .sort()
    .join();
}
