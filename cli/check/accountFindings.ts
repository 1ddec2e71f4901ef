import { shownMoney } from "../shownValues";
import type { Costs } from "./cost";
import type { Finding } from "./finding";
import type { Answers, NotLookedUp } from "./lookUps";
import { endpointSide, holdersAfter, type Planned } from "./preview";

/**
 * Returns a finding if the account's total `workersMax` would exceed its quota. A change that only
 * lowers it is not reported.
 */
export function quotaFindings(
  planned: readonly Planned[],
  { limits, endpoints }: Answers,
  missed: NotLookedUp[],
): Finding[] {
  const all = planned.filter(({ kind }) => kind === "endpoint");
  const own = all.filter(({ hasDefaultProvider }) => hasDefaultProvider);
  if (own.length < all.length)
    missed.push({
      what: `quota and spend limit for ${all
        .filter((each) => !own.includes(each))
        .map(({ name }) => name)
        .join(", ")}`,
      why: "their provider uses another account, and the check reads only the account of the key in the environment",
    });
  if (limits && limits.workerQuota === null)
    missed.push({
      what: "the worker quota",
      why: "the service's response contains no number that is clearly the quota",
    });
  if (!limits || limits.workerQuota === null || !endpoints) return [];
  const live = new Map(endpoints.map(({ id, workersMax }) => [id, workersMax]));
  const holders = holdersAfter(own);
  const sides = own.map((each) => sharesOf(each, live, holders));
  const unknown = own.filter((_, at) => sides[at]?.after === undefined).map(({ name }) => name);
  const sum = (field: "before" | "after" | "peak") => sides.reduce((total, side) => total + (side[field] ?? 0), 0);
  const ids = sides.flatMap((side) => side.ids);
  const others = endpoints.filter(({ id }) => !ids.includes(id)).reduce((total, each) => total + each.workersMax, 0);
  const isRaised = sides.some(({ before, after = 0 }) => after > before);
  const { workerQuota: quota } = limits;
  const [after, peak] = [sum("after") + others, sum("peak") + others];
  const share = `${sum("after")} by this program${unknown.length > 0 ? " at least" : ""}, ${others} by the account's other endpoints`;
  if (!isRaised || peak <= quota) {
    if (unknown.length > 0)
      missed.push({
        what: "the worker quota",
        why: `the change of workersMax of ${unknown.join(", ")} is not known before up`,
      });
    return [];
  }
  if (after > quota) {
    const message = `the account's workersMax would be ${after}, above its quota of ${quota}: ${share}. The service rejects the change`;
    return [{ level: "impossible", kind: "quota", message }];
  }
  const message =
    `the account's workersMax is ${after} after the change, within its quota of ${quota} (${share}), but can reach ${peak} on ` +
    "the way, because the engine may raise one endpoint before it lowers or deletes another. If the service rejects that, " +
    "run pulumi up again";
  return [{ level: "unlikely", kind: "quota-on-the-way", message }];
}

/**
 * Returns the workers of one resource before, during and after the change. If another resource
 * manages the record afterwards, the workers count there.
 */
function sharesOf(resource: Planned, live: ReadonlyMap<string, number>, holders: ReadonlyMap<string, Planned>) {
  const { op, before, after, takes, taken, declared } = resource;
  const isOwn = (id: string) => (holders.get(id) ?? resource).urn === resource.urn;
  // A retained record is counted as one of the account's other endpoints.
  const left = before.flatMap(({ id, isRetained }) =>
    id === undefined || (isRetained && id !== after?.id) ? [] : [id],
  );
  const ids = [...new Set([...left, ...(taken?.id === undefined ? [] : [taken.id])])].filter(isOwn);
  const workersOf = (id: string | undefined) => (id === undefined ? 0 : (live.get(id) ?? 0));
  const now = ids.reduce((total, id) => total + workersOf(id), 0);
  const staysAsItIs = op === "same" || (op === "update" && !takes && !declared.includes("workersMax"));
  const isLost = takes !== undefined && taken === undefined;
  const then = !after ? 0 : staysAsItIs ? workersOf(after.id) : isLost ? undefined : endpointSide(after).workersMax;
  return { ids, before: now, after: then, peak: Math.max(now, then ?? 0) };
}

/**
 * Returns findings about money that keeps workers from starting. A change that does not raise the
 * cost is not reported.
 */
export function spendFindings({ inAccount }: Costs, { limits }: Answers, missed: NotLookedUp[]): Finding[] {
  if (limits?.isUnderBalance) {
    const message = "the account's balance is too low: workers do not start until it is topped up";
    return [{ level: "unlikely", kind: "balance", message }];
  }
  if (!limits) return [];
  const { spendLimit, currentSpend } = limits;
  const { before, after } = inAccount;
  const added = after.fullScale - before.fullScale;
  // The program's maximum cost may already be part of the current spend. It must not be counted
  // twice.
  const highest = Math.max(after.fullScale, (currentSpend ?? 0) + added);
  if (spendLimit === null)
    missed.push({
      what: "the spend limit",
      why: "the service's response contains no number that is clearly the limit",
    });
  else if (highest <= spendLimit && after.unknown.length > 0)
    missed.push({ what: "the spend limit", why: `the cost of ${after.unknown.join(", ")} is not known` });
  if (spendLimit === null || highest <= spendLimit || added <= 0) return [];
  const now = currentSpend === null ? "" : ` The account spends ${shownMoney(currentSpend)} an hour now.`;
  const isAbove = after.fullScale > spendLimit;
  const what = isAbove
    ? `the program's maximum cost is ${shownMoney(after.fullScale)} an hour, above`
    : `the change adds ${shownMoney(added)} an hour to the maximum cost. Together with the account's current spend, that is above`;
  const others = isAbove ? " The account's other endpoints are not included." : "";
  const message =
    `${what} the account's spend limit of ${shownMoney(spendLimit)}: workers above it do not start, and jobs wait ` +
    `without an error.${others}${now}`;
  return [{ level: "unlikely", kind: "spend-limit", message }];
}
