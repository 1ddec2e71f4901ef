import { nameIn } from "../stack";
import type { Finding } from "./finding";
import type { Step, StepState } from "./previewJson";

/*
 * Records that stay at the service although the engine's preview says "delete".
 */

/** Why a record stays when its resource leaves the stack. */
export interface Staying {
  /** `released` if the state has its `adoptId`; `skipped` if the engine skips its deletion. */
  readonly is: "released" | "skipped";
  readonly why: string;
  /** How to delete it. */
  readonly instead: string;
}

/** What leaves with a resource. */
interface Leaver {
  readonly kind: "endpoint" | "volume";
  readonly name: string;
  readonly before: readonly {
    readonly id: string | undefined;
    readonly values: Readonly<Record<string, unknown>>;
    readonly stays?: Staying | undefined;
  }[];
}

/**
 * Returns the URNs of the resources that the change deletes. Like the engine, this ignores
 * deletions that only prepare a replacement.
 */
export function leavingUrns(steps: readonly Step[]): ReadonlySet<string> {
  const last = new Map(steps.map(({ urn, op }) => [urn, op]));
  return new Set([...last].flatMap(([urn, op]) => (op === "delete" || op === "delete-replaced" ? [urn] : [])));
}

/** Returns why the record stays if its resource leaves; `undefined` if it is deleted. */
export function whyItStays(
  { outputs, retainOnDelete, deletedWith }: StepState,
  leaving: ReadonlySet<string>,
): Staying | undefined {
  if (retainOnDelete) return undefined;
  if (deletedWith !== undefined && leaving.has(deletedWith))
    return {
      is: "skipped",
      why: `only removed from state, because "${nameIn(deletedWith)}", its deletedWith, is deleted in the same run`,
      instead: "first run an up that removes deletedWith",
    };
  if (outputs?.adoptId == null) return undefined;
  return {
    is: "released",
    why: "released, because the state has its adoptId",
    instead: "first run an up that only removes adoptId, and makes it the stack's own",
  };
}

/**
 * Returns a finding for each record of a resource that leaves the stack and stays at the service.
 * @param holders the resources that manage the records afterwards
 */
export function stayingFindings({ kind, name, before }: Leaver, holders: ReadonlyMap<string, unknown>): Finding[] {
  return before.flatMap(({ id, values, stays }) => {
    if (!stays || id === undefined || holders.has(id)) return [];
    const message =
      `${kind === "volume" ? "network volume" : "endpoint"} ${id} (${String(values.name ?? name)}) is not deleted, but ` +
      `${stays.why}. It stays at the service, and you may still be charged for it. To delete it, ${stays.instead}`;
    return [{ level: "stays", kind: stays.is, resource: name, message }];
  });
}
