import { calibrationSentence } from "../forecast/report/calibration";
import { FINDING_HEADINGS, findingText, type ReviewReport } from "../review/report";
import { classOf } from "../stack";
import type { Applied } from "./apply";
import type { Step } from "./otherResources";
import type { Played } from "./play";

/** One row of the verdict. */
export interface Check {
  /**
   * `limit`: a limit is or can be exceeded. `problem`: the change must not be applied like this.
   * `notice` does not fail the rehearsal.
   */
  readonly result: "ok" | "limit" | "problem" | "notice";
  /** What was checked, in a few words. */
  readonly what: string;
  readonly text: string;
}

interface Parts {
  readonly applied: Applied;
  readonly played: Played | undefined;
  readonly review: ReviewReport;
  /** The steps of the preview before the update. */
  readonly steps: readonly Step[];
  /** `true` if what is unlikely is a problem. */
  readonly isStrict: boolean;
}

/** Returns the rows of the verdict: the update, the findings of the review, and the load. */
export function checksOf({ applied, played, review, steps, isStrict }: Parts): Check[] {
  return [
    ...outcomes(applied),
    ...findings(review, isStrict),
    ...withoutCredential(steps, isStrict),
    ...(played ? limits(played) : []),
  ];
}

const LIMIT_EXCEEDED = 3;
const PROBLEM = 4;

/** Returns the exit code of a verdict. */
export function codeOf(checks: readonly Check[]): number {
  if (checks.some(({ result }) => result === "limit")) return LIMIT_EXCEEDED;
  return checks.some(({ result }) => result === "problem") ? PROBLEM : 0;
}

/** Returns the rows about the update, the next preview and the destroy. */
function outcomes({ failure, left, protectedResources, destroyFailure }: Applied): Check[] {
  const check = (what: string, problem: string | undefined, good: string): Check =>
    problem === undefined ? { result: "ok", what, text: good } : { result: "problem", what, text: problem };
  const update = check("update", failure, "The update succeeds");
  if (failure !== undefined) return [update];
  const changes = left.length === 0 ? undefined : `The next preview still shows changes: ${left.join(", ")}`;
  const [works, names] = [
    protectedResources.length > 0 ? "A destroy of the rest would work" : "A destroy would work",
    protectedResources,
  ];
  return [
    update,
    check("next preview", changes, "The next preview shows no changes"),
    check("destroy", destroyFailure, works),
    ...(names.length > 0
      ? [{ result: "notice", what: "destroy", text: `Protected against a destroy: ${names.join(", ")}` } as const]
      : []),
  ];
}

function findings({ findings: all, missed, exceeded }: ReviewReport, isStrict: boolean): Check[] {
  return [
    ...all.map((finding): Check => {
      const isProblem = finding.level !== "unlikely" || isStrict;
      const what = FINDING_HEADINGS[finding.level].toLowerCase();
      return { result: isProblem ? "problem" : "notice", what, text: findingText(finding) };
    }),
    ...missed.map(({ what, why }): Check => ({ result: "notice", what: "not looked up", text: `${what}: ${why}` })),
    ...exceeded.map((text): Check => ({ result: "limit", what: "cost", text })),
  ];
}

/** Returns the rows about images that workers would have to pull without a credential. */
function withoutCredential(steps: readonly Step[], isStrict: boolean): Check[] {
  const isGiven = ({ inputs = {} }: NonNullable<Step["newState"]>) => Boolean(inputs.containerRegistryAuthId);
  const names = steps.flatMap(({ urn, oldState, newState }) => {
    if (!oldState || !newState || classOf(newState.type) === undefined) return [];
    return isGiven(oldState) && !isGiven(newState) ? (urn.split("::").at(-1) ?? []) : [];
  });
  return [...new Set(names)].map((name) => ({
    result: isStrict ? "problem" : "notice",
    what: FINDING_HEADINGS.unlikely.toLowerCase(),
    text: `${name}: the change removes its registry credential, so workers can start only if the image is public`,
  }));
}

function limits({ endpoint, report, refusal }: Played): Check[] {
  if (!report) return [{ result: "problem", what: "load", text: `${endpoint}: ${refusal}` }];
  const { exceeded, warnings, calibration } = report;
  return [
    ...exceeded.map((text): Check => ({ result: "limit", what: "load", text: `${endpoint}: ${text}` })),
    ...warnings.map((text): Check => ({ result: "notice", what: "load", text: `${endpoint}: ${text}` })),
    {
      result: calibration.verdict === "calibrated" ? "ok" : "notice",
      what: "calibration",
      text: calibrationSentence(calibration),
    },
  ];
}
