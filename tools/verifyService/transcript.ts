import { ownPackage } from "../../cli/ownPackage";
import { type FidelityId, fidelity, type Level, type Profile } from "../../emulator/model/fidelity";
import { redact, redactBeginning } from "../../sdk/errors/secretText";
import type { Unplayed } from "./play";
import { normalFinding, type SentRequest, type TestedConnection, type TestedService } from "./testedService";

/** A row of the fidelity table and the service's behavior. */
interface RowResult {
  readonly row: string;
  /** The table's evidence for the row. */
  readonly level: Level;
  readonly rule: string;
  readonly result: "as emulated" | "differs" | "not played";
  /** The emulator's finding. Only set if the row was tested. */
  readonly expected?: string;
  /** The service's finding. Only set if it differs. */
  readonly actual?: string;
  /** Why the row was not tested. Only set in that case. */
  readonly reason?: string;
}

/** What happened to the endpoint. */
export interface Removal {
  readonly name: string;
  readonly deleted: boolean;
  /** The id and the reason, if the endpoint may still exist. */
  readonly id?: string;
  readonly problem?: string;
}

/** The transcript of a run. It contains no keys, ids or response bodies. */
export interface Transcript {
  readonly version: string;
  readonly startedAt: string;
  readonly service: Omit<TestedConnection, "apiKey">;
  /** The emulator profile that the service is compared with. */
  readonly profile: Profile;
  readonly complete: boolean;
  readonly endpoint: Removal;
  readonly counts: Readonly<Record<RowResult["result"], number>>;
  readonly rows: readonly RowResult[];
  readonly requests: readonly SentRequest[];
}

interface Run {
  readonly startedAt: Date;
  readonly connection: TestedConnection;
  readonly profile: Profile;
  readonly service: TestedService;
  readonly emulator: TestedService;
  readonly unplayed: Unplayed;
  readonly removal: Removal;
}

/** The maximum length of a finding in the transcript, in characters. */
const LONGEST_FINDING = 400;
const NOT_AMONG_THEM = "this command does not test it in this profile, or only with --run-jobs";

export function transcriptOf({
  startedAt,
  connection,
  profile,
  service,
  emulator,
  unplayed,
  removal,
}: Run): Transcript {
  const { graphqlUrl, restUrl, queueUrl } = connection;
  const rows = (Object.keys(fidelity) as FidelityId[]).map((row) => rowResult(row, service, emulator, unplayed));
  const count = (result: RowResult["result"]) => rows.filter((each) => each.result === result).length;
  const counts = { "as emulated": count("as emulated"), differs: count("differs"), "not played": count("not played") };
  return {
    version: ownPackage().version,
    startedAt: startedAt.toISOString(),
    service: { graphqlUrl, restUrl, queueUrl },
    profile,
    complete: unplayed.stopped === undefined && unplayed.rows.size === 0,
    endpoint: removal,
    counts,
    rows,
    requests: service.requests.map((each) => ({ ...each, request: redact(each.request) })),
  };
}

function rowResult(
  row: FidelityId,
  service: TestedService,
  emulator: TestedService,
  { rows, stopped }: Unplayed,
): RowResult {
  const { level, text: rule } = fidelity[row];
  if (!service.findings.has(row) || !emulator.findings.has(row)) {
    const without = stopped === undefined ? NOT_AMONG_THEM : `the run was stopped: ${stopped}`;
    return { row, level, rule, result: "not played", reason: redact(rows.get(row) ?? without) };
  }
  const expected = normalFinding(emulator.findings.get(row), emulator.endpoint);
  const actual = normalFinding(service.findings.get(row), service.endpoint);
  const shown = (finding: string) => redactBeginning(finding, LONGEST_FINDING);
  if (actual === expected) return { row, level, rule, result: "as emulated", expected: shown(expected) };
  return { row, level, rule, result: "differs", expected: shown(expected), actual: shown(actual) };
}

/** Formats the transcript as text: matching rows first, differing rows last. */
export function resultTable({ rows, counts, complete, profile }: Transcript): string[] {
  const of = (result: RowResult["result"]) => rows.filter((each) => each.result === result);
  const broken = of("not played").filter(({ reason }) => reason !== NOT_AMONG_THEM);
  const lines = [
    ...of("as emulated").map(({ row, level }) => `as emulated  ${row.padEnd(32)} ${level}`),
    ...broken.map(({ row, level, reason }) => `not played   ${row.padEnd(32)} ${level.padEnd(10)} ${reason}`),
    ...of("differs").flatMap(({ row, level, expected, actual }) => [
      `differs      ${row.padEnd(32)} ${level}`,
      `             emulator: ${expected}`,
      `             service:  ${actual}`,
    ]),
  ];
  const sum = `${counts["as emulated"]} as emulated, ${counts.differs} differ, ${counts["not played"]} not played`;
  return [...lines, "", `${sum} (profile ${profile})${complete ? "" : "; the run is not complete"}`];
}
