import { redact } from "../../sdk/secret";
import { visible } from "../../sdk/visible";
import { jsonOf as forecastJson, textOf as forecastText } from "../forecast/forecast";
import { type ReviewReport, reviewJson, reviewMarkdown, reviewText } from "../review/report";
import { shownTime } from "../shownValues";
import type { Applied } from "./apply";
import type { Played } from "./play";

/** The result of a rehearsal. */
export interface Rehearsal {
  readonly stack: string;
  readonly isCreation: boolean;
  readonly isOk: boolean;
  /** The secrets of which nobody knows whether they change. */
  readonly unknown: readonly string[];
  readonly applied: Applied;
  /** The load before and after the change; `undefined` without a load. */
  readonly played?: Played | undefined;
  readonly review: ReviewReport;
  /** What the rehearsal leaves out. */
  readonly notes: readonly string[];
}

const clean = (text: string) => visible(redact(text).replace(/\s+/g, " "));

/** Returns the lines about the update, the next preview and the destroy. */
function outcomes({ failure, requests, limitedS, left, protectedResources, destroyFailure }: Applied): string[] {
  const time =
    limitedS > 0 ? `, at least ${shownTime(limitedS)} within RunPod's limits` : ", within RunPod's limits of a minute";
  if (failure !== undefined) return [`The update fails: ${failure}`];
  return [
    `The update succeeds with ${requests} requests${time}.`,
    left.length === 0
      ? "The next preview shows no changes."
      : `The next preview still shows changes: ${left.join(", ")}`,
    ...(protectedResources.length > 0 ? [`Protected against a destroy: ${protectedResources.join(", ")}`] : []),
    destroyFailure === undefined
      ? `A destroy${protectedResources.length > 0 ? " of the rest" : ""} would work.`
      : `A destroy would fail: ${destroyFailure}`,
  ];
}

function changeLines({ changes }: Applied): string[] {
  if (changes.length === 0) return ["No changes."];
  return changes.map(
    ({ resource, kind, what, properties }) =>
      `${what}: ${resource} (${kind})${properties.length > 0 ? `: ${properties.join(", ")}` : ""}`,
  );
}

const unknownLine = (unknown: readonly string[]) =>
  unknown.length === 0
    ? []
    : [`Not known whether these secrets change; the rehearsal assumes not: ${unknown.join(", ")}`];

/** The figures are those of a model. Nothing in them was compared with a measurement. */
const playedLine = ({ endpoint, checksum, report }: Played) =>
  `Load of ${endpoint}: runs 0 to ${(report.results[0]?.summary.runs ?? 1) - 1} of the record with SHA-256 ${checksum}; uncalibrated`;

/** Returns the rehearsal as text. */
export function textOf(rehearsal: Rehearsal): string {
  const { stack, isCreation, applied, unknown, notes, played, review } = rehearsal;
  const lines = [
    `Rehearsal of ${isCreation ? "a creation of " : ""}${stack}`,
    ...changeLines(applied).map((line) => `  ${line}`),
    ...outcomes(applied),
    ...unknownLine(unknown),
    ...notes.map((note) => `Note: ${note}`),
  ];
  const load = played === undefined ? "" : `${playedLine(played)}\n\n${forecastText(played.report)}\n`;
  return `${lines.map(clean).join("\n")}\n\n${load}${reviewText(review)}`;
}

/** Returns the rehearsal as Markdown, for a comment on a pull request. */
export function markdownOf({ stack, isCreation, isOk, applied, unknown, notes, played, review }: Rehearsal): string {
  const escaped = (text: string) => clean(text).replace(/[\\`*_{}[\]<>#|~@]/g, "\\$&");
  const items = (lines: readonly string[]) => lines.map((line) => `- ${escaped(line)}`);
  return [
    `### ${isOk ? "Rehearsal" : "The rehearsal found a problem"}: ${isCreation ? "a creation of " : ""}${escaped(stack)}`,
    ...["", ...items(changeLines(applied)), ""],
    ...[...items(outcomes(applied)), ...items(unknownLine(unknown)), ...items(notes), ""],
    ...(played
      ? ["```text", clean(playedLine(played)), "", forecastText(played.report).replaceAll("`", "'"), "```", ""]
      : []),
    reviewMarkdown(review),
  ].join("\n");
}

/** Returns the rehearsal as plain data, for programs. */
export function jsonOf({ review, isOk, isCreation, played, ...rest }: Rehearsal, version: string): object {
  const load = played && { ...played, isCalibrated: false, report: forecastJson(played.report) };
  return { version, ok: isOk, creation: isCreation, ...rest, load, review: reviewJson(review, version) };
}
