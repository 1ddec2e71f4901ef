import { calibrationSentence } from "../forecast/report/calibration";
import { shellWord } from "../shownValues";
import { classOf } from "../stack";
import { type Allowed, splitAllowed } from "./allow";
import { FINDINGS, type Finding } from "./finding";
import type { Review } from "./judge";
import type { Applied } from "./rehearsal/apply";
import type { Step } from "./rehearsal/otherResources";
import type { Played } from "./rehearsal/play";
import type { Rehearsal } from "./rehearsal/rehearsal";

/** One row of the verdict. */
export interface Row {
  /** `danger` and `limit` fail the check. `note` does not. */
  readonly result: "danger" | "limit" | "ok" | "note";
  /** What was checked, in a few words. */
  readonly what: string;
  readonly text: string;
}

/** The answer to "may I merge this?". */
export interface Verdict {
  /** The most severe rows first. */
  readonly rows: readonly Row[];
  /** The exit code. */
  readonly code: number;
  /** The values of `--allow` that have allowed something. */
  readonly allowed: readonly string[];
}

const LIMIT_EXCEEDED = 3;
const DANGER = 4;
const ORDER: readonly Row["result"][] = ["danger", "limit", "ok", "note"];

/**
 * Returns the verdict about a change.
 * @param isStrict `true` if unlikely findings count as dangers
 */
export function verdictOf(
  review: Review,
  rehearsal: Rehearsal | undefined,
  { isStrict, allow }: { readonly isStrict: boolean; readonly allow: readonly Allowed[] },
): Verdict {
  const { applied, played, steps, notes } = rehearsal ?? {};
  const { left, accepted, unused } = splitAllowed(review.findings, allow);
  const all = [
    ...(applied ? outcomes(applied) : []),
    ...left.map((finding) => rowOf(finding, isStrict, left)),
    ...accepted.map((finding): Row => ({ result: "note", what: "allowed", text: findingText(finding) })),
    ...(steps ? withoutCredential(steps, isStrict) : []),
    ...review.exceeded.map((text): Row => ({ result: "limit", what: "cost", text })),
    ...(played ? limits(played) : []),
    ...review.missed.map(({ what, why }): Row => ({ result: "note", what: "not looked up", text: `${what}: ${why}` })),
    ...unused.map((text): Row => ({ result: "note", what: "allow", text })),
    ...(notes ?? []).map((text): Row => ({ result: "note", what: "rehearsal", text })),
  ];
  const rows = ORDER.flatMap((result) => all.filter((each) => each.result === result));
  const has = (result: Row["result"]) => rows.some((each) => each.result === result);
  const code = has("danger") ? DANGER : has("limit") ? LIMIT_EXCEEDED : 0;
  return { rows, code, allowed: allow.filter((each) => accepted.some(each.accepts)).map(({ text }) => text) };
}

const findingText = ({ resource, message }: Finding) => `${resource === undefined ? "" : `${resource}: `}${message}`;

function rowOf(finding: Finding, isStrict: boolean, all: readonly Finding[]): Row {
  const { heading, allow } = FINDINGS[finding.level];
  const isDanger = allow !== undefined || (isStrict && finding.level === "unlikely");
  const { resource, urn } = finding;
  const text = findingText(finding);
  const isShared = all.some(
    (each) => FINDINGS[each.level].allow === allow && each.resource === resource && each.urn !== urn,
  );
  const value = resource === undefined ? allow : `${allow}=${isShared ? urn : resource}`;
  const advice =
    allow === undefined ? "" : `${text.endsWith("?") ? "" : "."} To allow it: --allow ${shellWord(value ?? "")}`;
  return { result: isDanger ? "danger" : "note", what: heading.toLowerCase(), text: text + advice };
}

/** Returns the rows about the update, the next preview and the destroy. */
function outcomes({ failure, left, protectedResources, destroyFailure, destroyLeaves }: Applied): Row[] {
  const row = (what: string, problem: string | undefined, good: string): Row =>
    problem === undefined ? { result: "ok", what, text: good } : { result: "danger", what, text: problem };
  const update = row("update", failure, "The update succeeds");
  if (failure !== undefined) return [update];
  const changes = left.length === 0 ? undefined : `The next preview still shows changes: ${left.join(", ")}`;
  const works = protectedResources.length > 0 ? "A destroy of the rest would work" : "A destroy would work";
  const names = protectedResources.join(", ");
  return [
    update,
    row("next preview", changes, "The next preview shows no changes"),
    destroyLeaves === undefined
      ? row("destroy", destroyFailure, works)
      : { result: "note", what: "destroy", text: `A destroy would leave what other records use: ${destroyLeaves}` },
    ...(names === ""
      ? []
      : [{ result: "note", what: "destroy", text: `Protected against a destroy: ${names}` } as const]),
  ];
}

/** Returns the rows about images that workers would have to pull without a credential. */
function withoutCredential(steps: readonly Step[], isStrict: boolean): Row[] {
  const isGiven = ({ inputs = {} }: NonNullable<Step["newState"]>) => Boolean(inputs.containerRegistryAuthId);
  const names = steps.flatMap(({ urn, oldState, newState }) => {
    if (!oldState || !newState || classOf(newState.type) === undefined) return [];
    return isGiven(oldState) && !isGiven(newState) ? (urn.split("::").at(-1) ?? []) : [];
  });
  return [...new Set(names)].map((name) => ({
    result: isStrict ? "danger" : "note",
    what: FINDINGS.unlikely.heading.toLowerCase(),
    text: `${name}: the change removes its registry credential, so workers can start only if the image is public`,
  }));
}

function limits({ endpoint, report, refusal }: Played): Row[] {
  if (!report) return [{ result: "danger", what: "load", text: `${endpoint}: ${refusal}` }];
  const { exceeded, warnings, calibration } = report;
  return [
    ...exceeded.map((text): Row => ({ result: "limit", what: "load", text: `${endpoint}: ${text}` })),
    ...warnings.map((text): Row => ({ result: "note", what: "load", text: `${endpoint}: ${text}` })),
    {
      result: calibration.verdict === "calibrated" ? "ok" : "note",
      what: "calibration",
      text: calibrationSentence(calibration),
    },
  ];
}
