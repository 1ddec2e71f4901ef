import { isVoid } from "../machine/machineRecord";
import { isObject, type Properties, pick } from "../properties";
import { differing, isVariable, mergedSettings, releaseOf, sameSettings, serves } from "./settings";

/** What this machine recorded of the last rollout of an endpoint. */
export interface RollOutRecord {
  /**
   * `judging`: the release was, or was about to be, saved. `restoring`: it has failed, and the
   * former settings are saved again. `refused`: they are out. `passed`: it serves.
   */
  readonly phase: (typeof PHASES)[number];
  /** The program's inputs, as a digest. */
  readonly inputs: string;
  /** The settings that the run changed, as it wanted them, and as they were before. */
  readonly release: Properties;
  readonly former: Properties;
  /** Why it failed; empty unless it did. */
  readonly reason: string;
  /** The last write that state had. If it has another one, the record is void. */
  readonly after: string;
  /** The endpoint's version when the release passed, where the service shows it. */
  readonly version?: number;
  /** The name of an endpoint that was not in state: the program was about to adopt it. */
  readonly adoption?: string;
}

export const PHASES = ["judging", "restoring", "refused", "passed"] as const;

/**
 * Returns `true` if a run has left a release that state does not have: without a verdict, with an
 * unfinished restore, or killed after the release had passed.
 */
export function isOpen(record: RollOutRecord, state: Properties): boolean {
  const { phase, release } = record;
  if (isVoid(record, state)) return false;
  return phase === "judging" || phase === "restoring" || (phase === "passed" && !serves(release, state));
}

/** Returns `true` if the release has failed, whether its restore has ended or not. */
export function wasRefused({ phase }: RollOutRecord): boolean {
  return phase === "restoring" || phase === "refused";
}

/** Everything on which the next step of a rollout depends. */
export interface Sight {
  readonly record: RollOutRecord | undefined;
  /** The program's inputs, as a digest. */
  readonly inputs: string;
  /** The settings that the program wants. */
  readonly wanted: Properties;
  /** The endpoint at the service, with all variables. */
  readonly now: Properties;
  /** The outputs in state; of an endpoint that is adopted, `now`. */
  readonly state: Properties;
  readonly isAdoption: boolean;
  /** The settings before a release that serves and that no run has judged, as state notes them. */
  readonly unjudged: Properties | undefined;
  /** Why the release was refused and restored before, if the service shows that. */
  readonly shownRefusal: string | undefined;
}

/** What to do before the save of an update. `former` are the settings to restore. */
type Step =
  /** There is no new release in this update. */
  | { readonly do: "nothing" }
  /** Record the former settings, save, judge. */
  | { readonly do: "release"; readonly release: Properties; readonly former: Properties }
  /** The release serves: judge it, without a save of it. */
  | { readonly do: "judge"; readonly release: Properties; readonly former: Properties }
  /** A refused release serves, or its restore has not ended: restore, then refuse. */
  | { readonly do: "restore"; readonly record: RollOutRecord }
  /** Refuse without a save. */
  | { readonly do: "refuse"; readonly reason: string; readonly isShown: boolean };

/** Decides what an update with a `rollOut` does before its save. */
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
    // A run on another machine may have made the release, and was killed before it judged it.
    const isUnknown = sight.isAdoption && !(record?.phase === "passed" && serves(record.release, now));
    const former = recorded?.former ?? (isUnknown ? {} : formerInState(sight));
    if (!former) return { do: "nothing" };
    const all = withoutZero(mergedSettings(before, former));
    return { do: "judge", release: sameSettings(all, mergedSettings(now, wanted)), former: all };
  }
  if (!recorded && shownRefusal !== undefined) return { do: "refuse", reason: shownRefusal, isShown: true };
  // What serves may be a release that a killed run on another machine has not judged.
  const former = withoutZero(mergedSettings(before, recorded?.former ?? lastInState(sight, changes)));
  return { do: "release", release: sameSettings(former, mergedSettings(now, wanted)), former };
}

/** Returns the settings before the release that serves, as far as state has them. */
function formerInState({ unjudged, wanted, now, state }: Sight): Properties | undefined {
  const changes = releaseOf(differing(wanted, state));
  const former = sameSettings(changes, state);
  // A refresh does not see the variables that the release has added.
  if (unjudged && Object.keys(releaseOf(unjudged)).length > 0)
    return serves(unjudged, now) ? undefined : mergedSettings(former, unjudged);
  return Object.keys(changes).length > 0 ? former : undefined;
}

/** Returns the release fields that change, as the last good version in state has them. */
function lastInState({ unjudged, wanted, state }: Sight, changes: Properties): Properties {
  const changed = releaseOf(mergedSettings(changes, differing(wanted, state)));
  const known = pick(changed, (name) => !isVariable(name) || isObject(state.env));
  return mergedSettings(sameSettings(known, state), unjudged ?? {});
}

/**
 * An interrupted deletion may have set the counts to 0, and a refresh may have noted that in state:
 * a restore switches no endpoint off.
 */
function withoutZero(settings: Properties): Properties {
  if (settings.workersMax !== 0) return settings;
  const { workersMin, workersMax, ...others } = settings;
  return others;
}
