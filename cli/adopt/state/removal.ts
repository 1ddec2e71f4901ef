import type { OldResource, OldState } from "./oldResource";
import type { LeftOut, Successor } from "./successors";

/**
 * The step that lists the commands. If the program no longer declared a resource that is still in
 * the state, the old tool would delete the record.
 */
export const REMOVAL_STEP = [
  "Remove the resources from the old state (this deletes nothing at the service). Only after every command",
  "has succeeded, remove them from the old program. If you do that earlier, its next run deletes the records:",
] as const;

/** The resources that can be removed from the old state, and those that cannot. */
interface Removable {
  readonly removable: readonly Successor[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Leaves out resources that have a problem, and resources that other resources in the old state
 * depend on.
 */
export function removable(
  successors: readonly Successor[],
  problemOf: (successor: Successor) => string | undefined,
): Removable {
  let [kept, leftOut]: [readonly Successor[], readonly LeftOut[]] = [successors, []];
  for (let find = problemOf; ; find = blockedBy(kept)) {
    const found = kept.flatMap((each) => {
      const reason = find(each);
      return reason === undefined ? [] : [{ old: each.old, reason }];
    });
    if (found.length === 0 && find !== problemOf) return { removable: kept, leftOut };
    leftOut = [...leftOut, ...found];
    kept = kept.filter(({ old }) => !found.some((each) => each.old === old));
  }
}

/**
 * Returns a function that says why a resource must stay in the old state if only these are removed.
 */
function blockedBy(removed: readonly Successor[]): (successor: Successor) => string | undefined {
  const addresses = new Set(removed.flatMap(oldResources).map(({ address }) => address));
  return (successor) => {
    const dependents = oldResources(successor).flatMap((each) => each.dependents);
    const stays = dependents.find((address) => !addresses.has(address));
    return stays === undefined ? undefined : dependedOn(stays);
  };
}

/** Returns all resources in the old state that manage the same record. */
function oldResources({ old, copies }: Successor): readonly OldResource[] {
  return [old, ...copies];
}

function dependedOn(address: string): string {
  return (
    `it cannot be removed from the old state, because ${address} stays there and depends on it. Adopt both, or write the id ` +
    "as text in the old program instead of the reference. Then run the old program, and export the state again"
  );
}

/** Marks the resources that the old tool's commands cannot tell apart. */
export function withAmbiguity(state: OldState): OldState {
  const { resources } = state;
  const isTwin = ({ address }: OldResource) => resources.filter((each) => each.address === address).length > 1;
  const told = resources.map((each) =>
    isTwin(each) && each.obstacle === undefined ? { ...each, obstacle: AMBIGUOUS } : each,
  );
  return { ...state, resources: told };
}

const AMBIGUOUS =
  "the old state also has the resource that it replaces, which the old program still has to delete, so no command can " +
  "remove only the new one. Run the old program once more, which deletes the replaced resource, and export the state again";

/**
 * Returns the commands that remove the resources from the old state, dependents first. They delete
 * nothing at RunPod.
 */
export function removalCommands(tool: OldState["tool"], successors: readonly Successor[]): string[] {
  return inOrder(successors.flatMap(oldResources)).map(({ address, options }) => {
    if (tool === "terraform") return `terraform state rm ${quoted(address)}`;
    return `pulumi state delete ${options.includes("protect") ? "--force " : ""}${quoted(address)}`;
  });
}

/** Sorts the resources so that each one follows everything that depends on it. */
function inOrder(resources: readonly OldResource[]): OldResource[] {
  const rest = [...resources].reverse();
  const ordered: OldResource[] = [];
  while (rest.length > 0) {
    const isFree = ({ dependents }: OldResource) => !rest.some(({ address }) => dependents.includes(address));
    ordered.push(...rest.splice(Math.max(0, rest.findIndex(isFree)), 1));
  }
  return ordered;
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
