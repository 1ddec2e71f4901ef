import { withoutZero } from "../fields/withoutZero";
import { isVoid } from "../machine/machineRecord";
import { isObject, type Properties, pick } from "../properties";
import { differing, isVariable, mergedSettings, releaseOf, sameSettings, serves } from "./settings";

/** What this machine has recorded about an endpoint's last rollout. */
export interface RollOutRecord {
  /**
   * `judging`: the release was saved or was about to be saved. `restoring`: the release failed, and
   * the previous settings are being saved again. `refused`: the previous settings are rolled out.
   * `passed`: the release is in effect.
   */
  readonly phase: (typeof PHASES)[number];
  /** A digest of the program's inputs. */
  readonly inputs: string;
  /**
   * The settings that the run changed: `release` has the wanted values, `former` the previous
   * values.
   */
  readonly release: Properties;
  readonly former: Properties;
  /** Why the release failed; empty if it did not. */
  readonly reason: string;
  /**
   * The last write that was recorded in state. If state now has a different last write, the record
   * is void.
   */
  readonly after: string;
  /** The endpoint's version when the release passed, if RunPod shows versions. */
  readonly version?: number;
  /** The name of an endpoint that the program was about to adopt and that was not in state. */
  readonly adoption?: string;
}

export const PHASES = ["judging", "restoring", "refused", "passed"] as const;

/**
 * Returns `true` if a run left a release that is not in state. The release may have no verdict, its
 * restore may be unfinished, or it may have passed just before the run was killed.
 */
export function isOpen(record: RollOutRecord, state: Properties): boolean {
  const { phase, release } = record;
  if (isVoid(record, state)) return false;
  return phase === "judging" || phase === "restoring" || (phase === "passed" && !serves(release, state));
}

/** Returns `true` if the release failed, whether or not the restore has finished. */
export function wasRefused({ phase }: RollOutRecord): boolean {
  return phase === "restoring" || phase === "refused";
}

/** Everything that determines the next step of a rollout. */
export interface Sight {
  readonly record: RollOutRecord | undefined;
  /** A digest of the program's inputs. */
  readonly inputs: string;
  /** The settings that the program wants. */
  readonly wanted: Properties;
  /** The endpoint at RunPod, with all of its variables. */
  readonly now: Properties;
  /** The outputs in state. For an endpoint that is being adopted, this is the same as `now`. */
  readonly state: Properties;
  readonly isAdoption: boolean;
  /**
   * The settings from before a release that is in effect but that no run has judged, as recorded in
   * state.
   */
  readonly unjudged: Properties | undefined;
  /** Why the release was refused and rolled back earlier, if RunPod shows the refusal. */
  readonly shownRefusal: string | undefined;
}

/** What to do before an update is saved. `former` contains the settings to restore. */
type Step =
  /** This update contains no new release. */
  | { readonly do: "nothing" }
  /** Record the previous settings, save the release, then judge it. */
  | { readonly do: "release"; readonly release: Properties; readonly former: Properties }
  /** The release is already in effect, so it is judged without being saved. */
  | { readonly do: "judge"; readonly release: Properties; readonly former: Properties }
  /**
   * A refused release is in effect, or its restore is unfinished: restore the previous settings,
   * then refuse the release.
   */
  | { readonly do: "restore"; readonly record: RollOutRecord }
  /** Refuse the release without saving anything. */
  | { readonly do: "refuse"; readonly reason: string; readonly isShown: boolean };

/** Decides what an update with a `rollOut` does before it is saved. */
export function nextStep(sight: Sight): Step {
  const { record, inputs, wanted, now, shownRefusal } = sight;
  if (record?.inputs === inputs && wasRefused(record)) {
    const isOut = record.phase === "refused" && !serves(record.release, now);
    return isOut ? { do: "refuse", reason: record.reason, isShown: false } : { do: "restore", record };
  }
  const changes = differing(wanted, now);
  const before = sameSettings(changes, now);
  const recorded = record && record.phase !== "passed" && serves(record.release, now) ? record : undefined;
  if (serves(wanted, now)) {
    // A run on another machine may have made the release and been killed before judging it.
    const isUnknown = sight.isAdoption && !(record?.phase === "passed" && serves(record.release, now));
    const former = recorded?.former ?? (isUnknown ? {} : formerInState(sight));
    if (!former) return { do: "nothing" };
    const all = withoutZero(mergedSettings(before, former), now);
    return { do: "judge", release: sameSettings(all, mergedSettings(now, wanted)), former: all };
  }
  if (!recorded && shownRefusal !== undefined) return { do: "refuse", reason: shownRefusal, isShown: true };
  // The current release may come from a run on another machine that was killed before judging it.
  const former = withoutZero(mergedSettings(before, recorded?.former ?? lastInState(sight, changes)), now);
  return { do: "release", release: sameSettings(former, mergedSettings(now, wanted)), former };
}

/** Returns the settings from before the current release, as far as they are in state. */
function formerInState({ unjudged, wanted, now, state }: Sight): Properties | undefined {
  const changes = releaseOf(differing(wanted, state));
  const former = sameSettings(changes, state);
  // A refresh doesn't see the variables that the release added.
  if (unjudged && Object.keys(releaseOf(unjudged)).length > 0)
    return serves(unjudged, now) ? undefined : mergedSettings(former, unjudged);
  return Object.keys(changes).length > 0 ? former : undefined;
}

/**
 * Returns the release fields that change, with the values that they had in the last good version in
 * state.
 */
function lastInState({ unjudged, wanted, state }: Sight, changes: Properties): Properties {
  const changed = releaseOf(mergedSettings(changes, differing(wanted, state)));
  const known = pick(changed, (name) => !isVariable(name) || isObject(state.env));
  return mergedSettings(sameSettings(known, state), unjudged ?? {});
}
