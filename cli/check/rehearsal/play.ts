import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { PriceSource } from "../../../sdk/catalog/workerPrices";
import { didYouMean } from "../../didYouMean";
import { playedReport } from "../../forecast/forecast";
import { readLoad } from "../../forecast/load/readLoad";
import type { Report } from "../../forecast/report/report";
import { settingsOf } from "../../forecast/settings/endpoints";
import type { Named } from "../../forecast/settings/named";
import { withSchedule } from "../../forecast/settings/schedule";
import { isEndpoint } from "../../stack";
import type { CheckFlags } from "../checkFlags";
import { isRaisedLater } from "../danger";
import type { Change } from "./changes";
import type { Step } from "./otherResources";
import { deeplyRevealed } from "./rewriteState";

/** The recorded load, played with the settings before and after the change. */
export interface Played {
  readonly endpoint: string;
  /** The SHA-256 of the recording. */
  readonly checksum: string;
  /** `undefined` if the endpoint cannot take the jobs after the change. */
  readonly report?: Report | undefined;
  /** Why the endpoint cannot take the jobs after the change. */
  readonly refusal?: string | undefined;
}

/** The findings of the rehearsal before the load is played. */
interface Rehearsed {
  readonly steps: readonly Step[];
  readonly changes: readonly Change[];
  readonly prices: readonly PriceSource[];
}

/**
 * Plays the load of one endpoint before, after and through the change.
 * @throws Error if the program has several endpoints and none is chosen, or the load cannot be read
 */
export async function playedLoad(
  file: string,
  flags: CheckFlags,
  { steps, changes, prices }: Rehearsed,
): Promise<Played> {
  const step = chosen(steps, flags.endpoint);
  const endpoint = nameIn(step);
  const isReleased = changes.some(
    ({ resource, kind, what }) =>
      resource === endpoint && kind === "ServerlessEndpoint" && ["rolled out", "replaced"].includes(what),
  );
  const read = readLoad(file, flags.duration, flags.for, flags.endpoint);
  try {
    const checksum = checksumOf(file);
    const refusal = refusalOf(step);
    if (refusal !== undefined) return { endpoint, checksum, refusal };
    const named = settingsBothSides(step, imageThatFails(step, steps, flags.fault));
    return { endpoint, checksum, report: await playedReport(flags, read, named, { isReleased, prices }) };
  } finally {
    read.close();
  }
}

const nameIn = ({ urn }: Step) => urn.split("::").slice(3).join("::");

function chosen(steps: readonly Step[], wanted: string | undefined): Step {
  // The load may also belong to an endpoint that is deleted.
  const endpoints = steps
    .filter(({ oldState, newState, op }) => isEndpoint((newState ?? oldState)?.type ?? "") && op !== "delete-replaced")
    .sort((one, other) => Number(one.op === "delete") - Number(other.op === "delete"));
  const unique = endpoints.filter(({ urn }, at) => endpoints.findIndex((each) => each.urn === urn) === at);
  const names = unique.map(nameIn);
  if (wanted === undefined && unique.length === 1) return unique[0] as Step;
  const found = unique.find(
    (step) => nameIn(step) === wanted || (step.newState ?? step.oldState)?.inputs?.name === wanted,
  );
  if (found) return found;
  const which =
    wanted === undefined ? `${unique.length} endpoints` : `no endpoint "${wanted}".${didYouMean(wanted, names)}`;
  throw new Error(`the program has ${which}: choose one for --load with --endpoint: ${names.join(", ")}`);
}

/** Returns the endpoint's values before and after the change. */
function valuesOf({ oldState, newState }: Step) {
  const before = deeplyRevealed(oldState?.outputs) as Record<string, unknown> | undefined;
  return { before, after: { ...before, ...newState?.inputs } as Record<string, unknown> };
}

function refusalOf(step: Step): string | undefined {
  const { before, after } = valuesOf(step);
  if (step.op === "delete") return "the change deletes it, so every job of --load would be rejected";
  const isBalancer = (values?: Record<string, unknown>) => values?.type === "LOAD_BALANCER";
  const isOff = (values: Record<string, unknown> | undefined, state: Step["newState"]) =>
    values?.workersMax === 0 && !isRaisedLater(state?.inputs ?? {});
  if (isOff(after, step.newState)) return "after the change workersMax is 0, so no job of --load would run";
  if (isOff(before, step.oldState)) return "before the change workersMax is 0, so there is nothing to compare";
  if (!isBalancer(after)) return undefined;
  return isBalancer(before)
    ? "a load balancer has no queue, so its jobs cannot be simulated"
    : "after the change it is a load balancer, which has no queue: every job of --load would be rejected";
}

/** Returns `true` if a fault rule keeps workers with the new image from starting. */
function imageThatFails(step: Step, steps: readonly Step[], faults: CheckFlags["fault"] = []): boolean {
  const { after } = valuesOf(step);
  const template = steps.find(({ oldState, newState }) => (oldState?.id ?? newState?.id) === after.templateId);
  const image = after.imageName ?? template?.newState?.inputs?.imageName;
  return faults.some(
    ({ match, effect }) =>
      (effect.crashLoop || effect.imagePullError) && (match?.imageName === undefined || match.imageName === image),
  );
}

function settingsBothSides(step: Step, failsToStart: boolean): Named[] {
  const { urn } = step;
  const { before, after } = valuesOf(step);
  const scheduled = (values: Record<string, unknown>, state: Step["newState"]) =>
    withSchedule(settingsOf({ urn, values: { ...values, schedule: state?.inputs?.schedule } }));
  const fails = failsToStart && { failsToStart };
  return [
    ...(before === undefined ? [] : [{ title: "Before", settings: scheduled(before, step.oldState) }]),
    { title: before === undefined ? "Program" : "After", settings: scheduled(after, step.newState), ...fails },
  ];
}

/** Returns the SHA-256 of a file, or of all files in a folder. */
function checksumOf(file: string): string {
  const hash = createHash("sha256");
  const isFolder = statSync(file).isDirectory();
  const names = isFolder ? readdirSync(file, { recursive: true, encoding: "utf8" }).sort() : [""];
  for (const name of names) {
    const each = path.join(file, name);
    if (statSync(each).isFile()) hash.update(`${name}\n`).update(readFileSync(each));
  }
  return hash.digest("hex");
}
