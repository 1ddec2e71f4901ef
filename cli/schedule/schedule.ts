import { buffer } from "node:stream/consumers";
import { containsUnknown, isObject } from "../../provider/engine/properties";
import { type Firing, rulesDuring, type Schedule } from "../../sdk/endpoints/schedule";
import { previewIn } from "../check/previewJson";
import { decodeText, readTextFile } from "../readTextFile";
import { shownCounts } from "../shownValues";
import { nameIn } from "../stack";
import { printJson, printLines, say } from "../terminal";

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
  // A replacement has several steps.
  const schedules = new Map(
    (previewIn(text).steps ?? []).map(({ urn, newState }) => [urn, newState?.inputs?.schedule]),
  );
  const all = [...schedules].filter(([, each]) => each !== undefined);
  const known = all.filter(([, each]) => !containsUnknown(each));
  for (const [urn] of all.filter((each) => !known.includes(each)))
    say(`the changes of ${nameIn(urn)} are not listed: its schedule is not known before pulumi up`);
  const found = known.flatMap(([urn, each]) => changesOf(nameIn(urn), each, from, to));
  const changes = found.sort((one, other) => one.at - other.at);
  if (json)
    printJson(
      changes.map(({ at, endpoint, rule }) => ({ at: new Date(at).toISOString(), endpoint, ...rule })),
      2,
    );
  else if (all.length > 0) printLines(changes.map(lineOf));
  else printLines(["no endpoint of the preview has a schedule"]);
  return 0;
}

/** Returns the counts that hold at the beginning, and each change of them. */
function changesOf(endpoint: string, schedule: unknown, from: number, to: number): Change[] {
  if (!isObject(schedule)) return [];
  const known = schedule as unknown as Schedule;
  let counts = "";
  const changed = rulesDuring(known, from, to).filter(({ rule }) => {
    const before = counts;
    counts = shownCounts(rule);
    return counts !== before;
  });
  return changed.map(({ at, rule }) => ({ at: Math.max(at, from), rule, endpoint, timeZone: known.timeZone }));
}

function lineOf({ at, endpoint, rule, timeZone }: Change): string {
  const time = new Intl.DateTimeFormat("sv-SE", {
    dateStyle: "short",
    timeStyle: "short",
    timeZone,
  }).format(at);
  const day = new Intl.DateTimeFormat("en", { weekday: "short", timeZone }).format(at);
  return `${day} ${time} ${timeZone}  ${endpoint}  ${shownCounts(rule)}  (${rule.cron})`;
}
