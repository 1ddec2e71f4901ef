import { buffer } from "node:stream/consumers";
import { acceptedWords, CONFIG_NAMESPACE } from "../../provider/connection/config";
import type { EnvironmentSettings } from "../../sdk/connection/settings";
import { GPU_TIERS } from "../../sdk/contract/limits";
import { readPrices } from "../forecast/settings/prices";
import { pulumi } from "../pulumiCommand";
import { decodeText, readTextFile } from "../readTextFile";
import { shownMoney } from "../shownValues";
import { type StackFlag, stackFlag } from "../stack";
import { printJson } from "../terminal";
import { type Costs, costsOf } from "./cost";
import { findingsOf, foreignVolumes } from "./findings";
import { lookUp, type Questions } from "./lookUps";
import { ofSameAccount } from "./otherAccount";
import { endpointSide, type Planned, type PlannedChange, readPreview } from "./preview";
import { type ReviewReport, reviewJson, reviewMarkdown, reviewText } from "./report";
import { reviewConnection } from "./reviewConnection";
import { withTaken } from "./taken";

export interface ReviewFlags {
  /** The stack to preview; `true` for the selected stack. */
  readonly stack?: StackFlag;
  readonly maxPerHour?: number;
  readonly maxAtRest?: number;
  readonly prices?: string;
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly markdown?: boolean;
}

/** Otherwise, the engine may print a stream of events instead of a preview. */
const ONE_OBJECT = { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "false" };
const PREVIEW_TIMEOUT_MS = 300_000;
const CAP_EXCEEDED = 3;
const IMPOSSIBLE = 4;

/**
 * Prints the review of a change. Returns the exit code: 3 if a cap is exceeded, and 4 if the change
 * is impossible.
 * @param file a file containing the preview's JSON; `-` or `undefined` for standard input
 * @param version this package's version, for the JSON output
 */
export async function review(file: string | undefined, flags: ReviewFlags, version: string): Promise<number> {
  const text = await previewText(file, flags.stack);
  const { report, code } = await reviewOf(text, () => reviewConnection(flags.stack), flags);
  show(report, flags, version);
  return code;
}

/**
 * Reviews a preview's JSON. Returns the report and the exit code.
 * @param connect returns the connection for the lookups; only called if the preview is valid
 */
export async function reviewOf(
  text: string,
  connect: () => Promise<EnvironmentSettings>,
  flags: Pick<ReviewFlags, "prices" | "strict" | "maxPerHour" | "maxAtRest">,
): Promise<{ readonly report: ReviewReport; readonly code: number }> {
  const given = flags.prices === undefined ? undefined : readPrices(flags.prices);
  const change = readPreview(text);
  const settings = await connect();
  const looked = await lookUp(settings, questionsFor(change.resources));
  const answers = ofSameAccount(looked, change.resources, settings);
  const missed = [...answers.missed];
  const resources = withTaken(change.resources, answers, missed);
  const costs = costsOf(resources, answers, given);
  const findings = findingsOf(resources, answers, costs, missed, extraTiersIn(change));
  const exceeded = capProblems(costs, change, flags);
  const isImpossible = findings.some(({ level }) => level === "impossible" || (flags.strict && level === "unlikely"));
  const report: ReviewReport = {
    counts: countsOf(change),
    costs,
    findings,
    missed,
    exceeded,
    isCut: change.hidden > 0,
    hasFailed: exceeded.length > 0 || isImpossible,
  };
  return { report, code: exceeded.length > 0 ? CAP_EXCEEDED : isImpossible ? IMPOSSIBLE : 0 };
}

function show(report: ReviewReport, { json, markdown }: ReviewFlags, version: string): void {
  if (json) printJson(reviewJson(report, version), 2);
  // Invisible characters were already escaped, before the cells were padded.
  else process.stdout.write(markdown ? reviewMarkdown(report) : reviewText(report));
}

async function previewText(file: string | undefined, stack: StackFlag): Promise<string> {
  if (stack !== undefined) {
    const args = ["preview", "--json", "--show-sames", ...stackFlag(stack)];
    const output = await pulumi(args, process.cwd(), PREVIEW_TIMEOUT_MS, ONE_OBJECT);
    if ("problem" in output) {
      // The JSON contains the reason.
      if (output.printed?.startsWith("{")) readPreview(output.printed);
      throw new Error(`the preview of the program failed: ${output.problem}`);
    }
    return output.value;
  }
  return file === undefined || file === "-" ? decodeText(await buffer(process.stdin)) : readTextFile(file);
}

/**
 * Returns the GPU pools that the config or the environment accepts in addition to the known ones.
 */
function extraTiersIn({ config }: PlannedChange): string[] {
  const read = (name: string) => {
    const value = config[`${CONFIG_NAMESPACE}:${name}`];
    if (value === "[secret]") return undefined;
    return typeof value === "string" || value === undefined ? value : JSON.stringify(value);
  };
  const known: readonly string[] = GPU_TIERS;
  return acceptedWords(read).extraGpuTiers.filter((tier) => !known.includes(tier));
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
function capProblems({ after }: Costs, { hidden }: PlannedChange, { maxPerHour, maxAtRest }: ReviewFlags): string[] {
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

const WORDS = {
  create: "to create",
  update: "to change",
  replace: "to replace",
  delete: "to delete",
  released: "to release",
  skipped: "to remove from the state only",
  same: "unchanged",
};

function countsOf({ resources, hidden, notTargeted }: PlannedChange): ReviewReport["counts"] {
  const done = resources.map(({ op, before }) => (op === "delete" ? (before[0]?.stays?.is ?? op) : op));
  const counts = Object.entries(WORDS).map(([op, words]) => [words, done.filter((each) => each === op).length]);
  const left = [
    ["not targeted", notTargeted],
    ["resources that the preview leaves out", hidden],
  ];
  const all = [...counts, ...left] as [string, number][];
  return Object.fromEntries(all.filter(([, count]) => count > 0));
}
