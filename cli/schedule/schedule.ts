import { buffer } from "node:stream/consumers";
import { isObject } from "../../provider/engine/properties";
import { type Firing, firings, ruleAt, type Schedule, type ScheduleRule } from "../../sdk/endpoints/schedule";
import { previewIn, type Values } from "../check/previewJson";
import { decodeText, readTextFile } from "../readTextFile";
import { nameIn } from "../stack";
import { printJson, printLines } from "../terminal";

export interface ScheduleFlags {
  /** The first instant and the end, in milliseconds since the Unix epoch. */
  readonly from?: number;
  readonly to?: number;
  readonly json?: boolean;
}

const MONTH_MS = 31 * 86_400_000;

/** A change of an endpoint's worker counts. */
interface Change extends Firing {
  readonly endpoint: string;
  readonly timeZone: string;
}

/** Prints when the schedules in a preview change worker counts. Returns the exit code. */
export async function schedule(
  file: string | undefined,
  { json, from = Date.now(), to = from + MONTH_MS }: ScheduleFlags,
): Promise<number> {
  const text = file === undefined || file === "-" ? decodeText(await buffer(process.stdin)) : readTextFile(file);
  const found = (previewIn(text).steps ?? []).flatMap(({ urn, newState }) =>
    changesOf(nameIn(urn), newState?.inputs ?? {}, from, to),
  );
  const changes = found.sort((one, other) => one.at - other.at);
  if (json)
    printJson(
      changes.map(({ at, endpoint, rule }) => ({ at: new Date(at).toISOString(), endpoint, ...rule })),
      2,
    );
  else printLines(changes.length > 0 ? changes.map(lineOf) : ["no endpoint of the preview has a schedule"]);
  return 0;
}

/** Returns the counts that hold at the beginning, and each change of them. */
function changesOf(endpoint: string, { schedule }: Values, from: number, to: number): Change[] {
  if (!isObject(schedule)) return [];
  const known = schedule as unknown as Schedule;
  let counts = countsOf(ruleAt(known, from).rule);
  const changed = firings(known, from + 1, to).filter(({ rule }) => {
    const before = counts;
    counts = countsOf(rule);
    return counts !== before;
  });
  const all = [{ at: from, rule: ruleAt(known, from).rule }, ...changed];
  return all.map((each) => ({ ...each, endpoint, timeZone: known.timeZone }));
}

function countsOf({ workersMin, workersMax }: ScheduleRule): string {
  const counts = Object.entries({ workersMin, workersMax }).filter(([, count]) => count !== undefined);
  return counts.map(([name, count]) => `${name} ${count}`).join(", ");
}

function lineOf({ at, endpoint, rule, timeZone }: Change): string {
  const time = new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "short",
    timeZone,
  }).format(at);
  const day = new Intl.DateTimeFormat("en", { weekday: "short", timeZone }).format(at);
  return `${day} ${time} ${timeZone}  ${endpoint}  ${countsOf(rule)}  (${rule.cron})`;
}
