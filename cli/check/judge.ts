import type { PriceSource } from "../../sdk/catalog/workerPrices";
import type { EnvironmentSettings } from "../../sdk/connection/settings";
import { readPrices } from "../forecast/settings/prices";
import { shownMoney } from "../shownValues";
import type { CheckFlags } from "./checkFlags";
import { type Costs, costsOf, priceSources } from "./cost";
import { dangersOf } from "./danger";
import type { Finding } from "./finding";
import { findingsOf, foreignVolumes } from "./findings";
import { lookUp, type NotLookedUp, type Owner, type Questions } from "./lookUps";
import { ofSameAccount } from "./otherAccount";
import { endpointSide, type Planned, type PlannedChange, readPreview } from "./preview";
import { rejectedIn } from "./rejected";
import { withTaken } from "./taken";

/** The results of a preview. */
export interface Review {
  /** The number of endpoints and volumes that the change creates, updates, and so on. */
  readonly counts: Readonly<Record<string, number>>;
  readonly costs: Costs;
  readonly findings: readonly Finding[];
  readonly missed: readonly NotLookedUp[];
  /** The caps that are exceeded or cannot be checked. */
  readonly exceeded: readonly string[];
  /** The number of unchanged resources that the preview leaves out, so that totals lack them. */
  readonly hidden: number;
  /** Where the prices come from, in order. */
  readonly prices: readonly PriceSource[];
}

/** The options that decide what is found. */
export type JudgeFlags = Pick<CheckFlags, "prices" | "maxPerHour" | "maxAtRest">;

/** Information in addition to the preview. */
export interface Circumstances {
  /** Whose catalog is read. @default the service */
  readonly owner?: Owner;
  /** When the last `up` of the same program failed. @default it did not, or is not known */
  readonly failedUp?: string | undefined;
}

/**
 * Reads a preview's JSON, and returns what it costs and what was found.
 * @param connect returns the connection for the lookups; only called if the preview is valid
 */
export async function judge(
  text: string,
  connect: () => Promise<EnvironmentSettings>,
  flags: JudgeFlags,
  { owner = "the service", failedUp }: Circumstances = {},
): Promise<Review> {
  const given = typeof flags.prices === "string" ? readPrices(flags.prices) : undefined;
  const change = readPreview(text);
  const settings = await connect();
  const looked = await lookUp(settings, questionsFor(change.resources), owner);
  const answers = ofSameAccount(looked, change.resources, settings);
  const missed = [...answers.missed];
  const resources = withTaken(change.resources, answers, missed);
  const prices = priceSources(answers, given);
  const costs = costsOf(resources, prices);
  return {
    counts: countsOf(change),
    costs,
    findings: [
      ...dangersOf(change, resources),
      ...rejectedIn(change.steps, failedUp),
      ...findingsOf(resources, answers, costs, missed),
    ],
    missed,
    exceeded: capProblems(costs, change, flags),
    hidden: change.hidden,
    prices,
  };
}

/** Returns the lookups that a change needs. A change without endpoints and volumes needs none. */
function questionsFor(resources: readonly Planned[]): Questions {
  const endpoints = resources.filter(({ kind }) => kind === "endpoint");
  const sides = endpoints.flatMap(({ before, after }) => [...before, ...(after ? [after] : [])]).map(endpointSide);
  const changed = resources.filter(({ op, after }) => after && op !== "same");
  const judged = changed.flatMap(({ kind, after }) => (kind === "endpoint" && after ? [endpointSide(after)] : []));
  const counts = judged.filter(({ instanceIds }) => instanceIds === "").flatMap(({ gpuCount }) => gpuCount ?? []);
  // An endpoint that is taken over may turn out to use GPUs or CPUs.
  const hasGpus = sides.some(({ instanceIds }) => instanceIds === "" || instanceIds === undefined);
  return {
    // Prices do not depend on the GPU count.
    gpuCounts: [...new Set(counts.length > 0 ? counts : hasGpus ? [1] : [])],
    cpus: sides.some(({ instanceIds }) => instanceIds !== ""),
    places: changed.length > 0,
    account: endpoints.some(({ op }) => op !== "same"),
    volumes: foreignVolumes(resources).length > 0,
  };
}

/** Returns the caps that are exceeded. A cap that cannot be checked counts as exceeded. */
function capProblems({ after }: Costs, { hidden }: PlannedChange, { maxPerHour, maxAtRest }: JudgeFlags): string[] {
  const caps = [
    { name: "--max-per-hour", what: "maximum", cap: maxPerHour, cost: after.fullScale },
    { name: "--max-at-rest", what: "minimum", cap: maxAtRest, cost: after.atRest },
  ];
  return caps.flatMap(({ name, what, cap, cost }) => {
    if (cap === undefined) return [];
    if (cost > cap)
      return [`the program's ${what} cost is ${shownMoney(cost)} an hour, above ${name} ${shownMoney(cap)}`];
    if (after.unknown.length > 0)
      return [`${name} cannot be checked, because the cost of ${after.unknown.join(", ")} is not known`];
    if (hidden > 0)
      return [
        `${name} cannot be checked, because the preview leaves out ${hidden} unchanged resources: make it with ` +
          "pulumi preview --json --show-sames",
      ];
    return [];
  });
}

/** The name of the number of resources that `--target` does not create. */
export const NOT_TARGETED = "not targeted";

const WORDS = {
  create: "to create",
  update: "to change",
  replace: "to replace",
  delete: "to delete",
  released: "to release",
  skipped: "to remove from the state only",
  same: "unchanged",
};

function countsOf({ resources, hidden, notTargeted }: PlannedChange): Review["counts"] {
  const done = resources.map(({ op, before }) => (op === "delete" ? (before[0]?.stays?.is ?? op) : op));
  const counts = Object.entries(WORDS).map(([op, words]) => [words, done.filter((each) => each === op).length]);
  const left = [
    [NOT_TARGETED, notTargeted],
    ["resources that the preview leaves out", hidden],
  ];
  const all = [...counts, ...left] as [string, number][];
  return Object.fromEntries(all.filter(([, count]) => count > 0));
}
