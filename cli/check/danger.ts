import { isDeepStrictEqual } from "node:util";
import { classOf, isEndpoint, nameIn } from "../stack";
import type { Finding } from "./finding";
import { endpointSide, holdersAfter, type Planned, type PlannedChange, type Side, textIn } from "./preview";
import { type Step, type StepState, typeOf, type Values } from "./previewJson";

/*
 * The damage that a merge would do, according to the preview: endpoints that are deleted or stop
 * taking jobs, and resources that are created again because an alias is missing.
 */

/** Returns a finding for each endpoint that ends or stops, and for each renamed resource. */
export function dangersOf(change: PlannedChange, planned: readonly Planned[]): Finding[] {
  const holders = holdersAfter(planned);
  const renames = renamedIn(change.steps, holders);
  const renamed = new Set(renames.flatMap(({ urn }) => urn ?? []));
  const others = planned.filter(({ kind, urn }) => kind === "endpoint" && !renamed.has(urn));
  return [...renames, ...others.flatMap((each) => endpointDangers(each, holders, change))];
}

function endpointDangers(each: Planned, holders: ReadonlyMap<string, Planned>, change: PlannedChange): Finding[] {
  const { name, urn, op } = each;
  const found = { resource: name, urn };
  const gone = each.before.filter(({ id, isRetained }) => !isRetained && !(id !== undefined && holders.has(id)));
  const shown = gone.map(({ id, values }) => `${id ?? ""} (${textIn(values.name) ?? name})`).join(", ");
  if (op === "delete" && !each.isLeftOver && gone.length > 0) {
    const message = `the change deletes the endpoint ${shown}: its URL stops working, and its waiting jobs are lost`;
    return [{ level: "deleted", kind: "endpoint-deleted", ...found, message }];
  }
  if (op === "replace" && gone.length > 0) {
    const message = `the change replaces the endpoint ${shown}: its id and URL change, its waiting jobs are lost, and clients need the new URL`;
    return [{ level: "replaced", kind: "endpoint-replaced", ...found, message }, ...toZero(each, change)];
  }
  if (op === "replace" && each.before.some((side) => hasSameName(side, each.after))) {
    const message = `the old endpoint stays (retainOnDelete) with the name ${textIn(each.after?.values.name)}, so the service's list would have two of that name, and up refuses to create the second one. Give the new one another name`;
    return [{ level: "impossible", kind: "name", ...found, message }];
  }
  return toZero(each, change);
}

const hasSameName = ({ values, isRetained }: Side, after: Side | undefined) =>
  isRetained === true && textIn(values.name) !== undefined && textIn(values.name) === textIn(after?.values.name);

/** Returns a finding if the endpoint could start workers before the change, but not after it. */
function toZero({ name, urn, before, taken, after }: Planned, change: PlannedChange): Finding[] {
  const [old] = [...(taken ? [taken] : []), ...before.filter(({ id }) => id !== undefined)];
  if (!old || !after || endpointSide(after).workersMax !== 0) return [];
  const { workersMax } = endpointSide(old);
  if (workersMax === 0) return [];
  const counts = `workersMax ${workersMax ?? "?"} → 0`;
  const found = { kind: "scaled-to-zero", resource: name, urn };
  const decider = isRaisedLater(after.values) ? "its schedule" : isBudget(urn, change) ? "getSpend" : undefined;
  if (decider !== undefined) {
    const message = `${counts}, as ${decider} decides: the endpoint's jobs wait until a later run raises it`;
    return [{ level: "decided", ...found, message }];
  }
  const message = `${counts}: the endpoint starts no worker, and its jobs wait until they expire`;
  return [{ level: "zero", ...found, message }];
}

/** Returns `true` if another rule of the endpoint's schedule allows workers. */
export function isRaisedLater({ schedule }: Values): boolean {
  const { rules = [] } = (schedule ?? {}) as { readonly rules?: readonly Values[] };
  return rules.some(({ workersMax }) => typeof workersMax === "number" && workersMax > 0);
}

/** Returns `true` if the program reads the spend, and changes only the endpoint's worker counts. */
function isBudget(urn: string, { readsSpend, steps }: PlannedChange): boolean {
  const settings = ({ inputs = {} }: StepState = {}) => ({ ...inputs, workersMin: 0, workersMax: 0 });
  const own = steps.filter((step) => step.urn === urn);
  return (
    readsSpend &&
    own.every(
      ({ op, oldState, newState }) => op === "update" && isDeepStrictEqual(settings(oldState), settings(newState)),
    )
  );
}

/**
 * The share of the settings that two endpoints must have in common to count as the same one. Other
 * resources must have all of them in common, because a template for the next version is not a
 * renamed one.
 */
const LEAST_COMMON = 0.5;

/**
 * Returns a finding for each resource that the change deletes while it creates a similar one of the
 * same type, because an alias would have kept it. Those of the same name belong together, and then
 * the most similar ones. A volume is reported as lost data instead.
 */
function renamedIn(steps: readonly Step[], holders: ReadonlyMap<string, unknown>): Finding[] {
  const own = steps.filter((step) => !["NetworkVolume", undefined].includes(classOf(typeOf(step))));
  const created = own.filter(({ op, newState }) => op === "create" && !newState?.inputs?.adoptId);
  const deleted = own.filter(
    ({ op, oldState }) =>
      op === "delete" &&
      oldState?.retainOnDelete !== true &&
      oldState?.outputs?.adoptId == null &&
      !(oldState?.id && holders.has(oldState.id)),
  );
  const pairs = deleted
    .flatMap((old) =>
      created
        .filter((now) => typeOf(now) === typeOf(old))
        .map((now) => ({ old, now, common: commonShare(old.oldState, now.newState) })),
    )
    .filter(({ old, common }) => common >= (isEndpoint(typeOf(old)) ? LEAST_COMMON : 1))
    .sort((one, other) => Number(isMoved(other)) - Number(isMoved(one)) || other.common - one.common);
  const used = new Set<Step>();
  return pairs.flatMap(({ old, now }) => {
    if (used.has(old) || used.has(now)) return [];
    used.add(old).add(now);
    return [renamed(old, now)];
  });
}

/** Returns `true` if only the parent differs. */
const isMoved = ({ old, now }: Record<"old" | "now", Step>) => nameIn(now.urn) === nameIn(old.urn);

function renamed(old: Step, now: Step): Finding {
  const { urn, oldState } = old;
  const isSameName = isMoved({ old, now });
  const alias = isSameName ? "an alias with its old parent" : `aliases: [{ name: "${nameIn(urn)}" }]`;
  const what = `${classOf(typeOf(old))} ${oldState?.id ?? ""}`.trim();
  const message =
    `the change deletes ${what} and creates it again as ${isSameName ? now.urn : nameIn(now.urn)}, with another id` +
    `${isEndpoint(typeOf(old)) ? " and URL" : ""}. If it is the same resource, give the new one ${alias}`;
  return { level: "renamed", kind: "renamed", resource: nameIn(urn), urn, message };
}

/** Returns the share of settings that are equal in both. */
function commonShare({ inputs: old = {} }: StepState = {}, { inputs: now = {} }: StepState = {}): number {
  const settings = (values: Values) => Object.keys(values).filter((name) => !name.startsWith("__"));
  const names = [...new Set([...settings(old), ...settings(now)])].filter((name) => name !== "name");
  const equal = names.filter((name) => isDeepStrictEqual(old[name] ?? null, now[name] ?? null));
  return names.length === 0 ? 1 : equal.length / names.length;
}
