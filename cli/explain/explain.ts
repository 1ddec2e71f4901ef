import { createClient, type Diagnosis, type FoundCause } from "../../sdk";
import { linesIn } from "../../sdk/diagnosis/words";
import { ruleAt, type Schedule } from "../../sdk/endpoints/schedule";
import { commandConnection } from "../connection/connection";
import { shownCounts } from "../shownValues";
import { NO_ENDPOINT, type StackFlag, type StackResource, stackEndpoints } from "../stack";
import { printJson, printLines } from "../terminal";
import { endpointId } from "./endpointId";

export interface ExplainFlags {
  readonly api?: string;
  /** The stack whose endpoints to explain; `true` for the selected stack. */
  readonly stack?: StackFlag;
  readonly logs?: boolean;
  readonly json?: boolean;
}

/** How many endpoints are explained at the same time. Each one takes up to nine requests. */
const AT_ONCE = 2;

/** Prints why endpoints are waiting. Returns the exit code. */
export async function explain(endpoint: string | undefined, flags: ExplainFlags, version: string): Promise<number> {
  const client = createClient(await commandConnection(flags));
  try {
    const managed = endpoint === undefined ? await stackEndpoints(flags.stack) : [];
    const wanted =
      endpoint === undefined ? managed.flatMap(({ id }) => id ?? []) : [await endpointId(client, endpoint)];
    if (wanted.length === 0) throw new Error(NO_ENDPOINT);
    let printed = 0;
    // Print each diagnosis as soon as it is ready, because others may be waiting for a slow
    // service.
    const print = (each: Diagnosis) =>
      printLines([...(printed++ > 0 ? [""] : []), ...linesOf(each), ...scheduleLines(rules.get(each.endpointId))]);
    const rules = rulesIn(managed, Date.now());
    const explained = async (id: string) =>
      withRule(await client.endpoints.diagnose(id, { logs: flags.logs ?? false }), rules.get(id));
    const diagnoses = await diagnoseAll(wanted, explained, flags.json ? () => {} : print);
    const withRules = diagnoses.map((each) => ({ ...each, schedule: rules.get(each.endpointId) }));
    if (flags.json) printJson({ version, endpoints: withRules }, 2);
    return 0;
  } finally {
    await client.close();
  }
}

async function diagnoseAll(
  ids: readonly string[],
  diagnose: (id: string) => Promise<Diagnosis>,
  onFound: (diagnosis: Diagnosis) => void,
): Promise<Diagnosis[]> {
  const waiting = ids.entries();
  const found: Diagnosis[] = [];
  const work = async () => {
    for (const [index, id] of waiting) {
      const each = await diagnose(id);
      found[index] = each;
      onFound(each);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

function linesOf(diagnosis: Diagnosis): string[] {
  const { endpointId: id, endpointName } = diagnosis;
  const name = endpointName === undefined ? `endpoint ${id}` : `endpoint ${endpointName} (${id})`;
  const [first, ...others] = linesIn(diagnosis);
  return [`${name}: ${first}`, ...others];
}

/** The rule of an endpoint's schedule that holds. */
interface HoldingRule {
  readonly cron: string;
  readonly timeZone: string;
  readonly since: Date;
  /** When the next rule fires. @default never */
  readonly until?: Date | undefined;
  readonly workersMin?: number | undefined;
  readonly workersMax?: number | undefined;
}

/**
 * Returns the rules that hold, by the id of the endpoint. Only state has schedules: RunPod has
 * none.
 */
function rulesIn(endpoints: readonly StackResource[], now: number): ReadonlyMap<string, HoldingRule> {
  return new Map(
    endpoints.flatMap(({ id, inputs }) => {
      if (id === undefined || !inputs?.schedule) return [];
      const schedule = inputs.schedule as Schedule;
      const { rule, since, until } = ruleAt(schedule, now);
      const times = { since: new Date(since), until: Number.isFinite(until) ? new Date(until) : undefined };
      return [[id, { ...rule, timeZone: schedule.timeZone, ...times }]];
    }),
  );
}

/**
 * Returns a diagnosis whose advice about `workersMax` 0 names the rule that decides that count,
 * because a count in the program has no effect then.
 */
function withRule(diagnosis: Diagnosis, rule: HoldingRule | undefined): Diagnosis {
  if (rule?.workersMax === undefined) return diagnosis;
  const { workersMax, since, until } = rule;
  const advice =
    workersMax === 0
      ? `Its schedule sets that${until === undefined ? "" : ` until ${until.toISOString()}`}. To change it, change the rule and run pulumi up`
      : `Run pulumi up, which sets workersMax ${workersMax}: its schedule says so since ${since.toISOString()}`;
  const advised = (each: FoundCause) => (each.id === "no-workers-allowed" ? { ...each, advice } : each);
  return { ...diagnosis, causes: diagnosis.causes.map(advised), others: diagnosis.others.map(advised) };
}

function scheduleLines(rule: HoldingRule | undefined): string[] {
  if (rule === undefined) return [];
  const { cron, timeZone, since, until } = rule;
  const end = until === undefined ? "" : ` until ${until.toISOString()}`;
  return [`  schedule: ${cron} (${timeZone}) holds since ${since.toISOString()}${end}: ${shownCounts(rule)}`];
}
