import { createClient } from "../../sdk/client";
import type { EnvironmentSettings } from "../../sdk/connection/settings";
import { waitText } from "../../sdk/transport/observers";
import { commandConnection } from "../connection/connection";
import { sayWhileWaiting } from "../connection/readInTime";
import { readPrices } from "../forecast/settings/prices";
import { printJson, printLines, say } from "../terminal";
import { type MonthlyCost, monthlyCosts } from "./costs";
import { endedStack, looksAutomatic, type NamedStack, namedStack, type Origin, originOf } from "./names";
import { type AccountRecord, boundTo, deleteRecord, NOUNS, readAccountRecords } from "./records";
import { requireNoRun, requireNoUnrecorded } from "./runs";
import { type KnownStack, readStacks, type StateFlags } from "./states";

export interface OrphansFlags extends StateFlags {
  readonly api?: string;
  /** Stacks that no longer exist, as `<organization>/<project>/<stack>`. */
  readonly ended?: readonly string[];
  /** Values of the setting `serverless-gpu:namespace` in the stacks. */
  readonly namespace?: readonly string[];
  readonly prices?: string;
  readonly delete?: string;
  /** Set by a user who knows that no state anywhere contains the possible orphan. */
  readonly nobodyManagesIt?: boolean;
  /** Set by a user who knows that no run in progress could have created the record. */
  readonly runsHaveEnded?: boolean;
  readonly json?: boolean;
}

/** A record that is in no state. */
interface Orphan extends Origin {
  readonly record: AccountRecord;
  readonly cost: MonthlyCost | undefined;
}

/** The time limit of a request including its retries, in milliseconds. */
const REQUEST_MS = 20_000;

const FOUND = 3;
const POSSIBLE = 4;
const ELSEWHERE = 5;

/**
 * Lists the records with automatic names that are in none of the given states, or deletes one of
 * them. Returns the exit code: 3 if there are orphans, 5 if there are at most possible ones and the
 * account contains no record of the states, and 4 if there are only possible ones.
 */
export async function orphans(flags: OrphansFlags, version: string): Promise<number> {
  const given = flags.prices === undefined ? undefined : readPrices(flags.prices);
  const [stack, ...others] = flags.stack ?? [];
  const connection = await commandConnection({ api: flags.api, stack: others.length === 0 ? stack : undefined });
  // Read the account first, then check for runs, then read the states. Records that a run creates
  // in the meantime are then in the states.
  const records = await recordsOf(connection);
  if (flags.delete !== undefined) await requireNoRun(flags);
  const states = await sayWhileWaiting(
    () => "still reading the states of the stacks",
    () => readStacks(flags),
  );
  const living = states.map(namedStack);
  const stacks = [...(flags.ended ?? []).map((name) => endedStack(name, living)), ...living];
  const place = placeOf(states, records);
  const isKnown = ({ id }: AccountRecord) => states.some(({ ids }) => ids.has(id));
  const isOurs = ({ name, type }: AccountRecord) =>
    looksAutomatic(name) || (type === "ServerlessTemplate" && boundTo(name) !== undefined);
  const strangers = records.filter((each) => !isKnown(each) && isOurs(each));
  const origin = ({ name, type }: AccountRecord) => originOf(name, type, stacks, flags.namespace);
  if (flags.delete !== undefined) {
    const wanted = requireOrphan(flags.delete, strangers, states);
    requireNoUnrecorded(wanted, states, flags.runsHaveEnded ?? false);
    const { isProven, reason } = origin(wanted);
    const noun = nounOf(wanted);
    if (place.isElsewhere) say(place.text);
    if (!isProven && !flags.nobodyManagesIt) throw new Error(doubt(wanted, reason));
    say(`${noun} ${wanted.id} ("${wanted.name}") is deleted: ${isProven ? "" : "a possible orphan, "}${reason}`);
    await using client = createClient(connection);
    await sayWhileWaiting(
      () => "the deletion is still in progress",
      () => deleteRecord(client, wanted, say),
    );
    printLines([`deleted ${noun} ${wanted.id}`]);
    return 0;
  }
  const costs = await monthlyCosts(strangers, connection, given);
  const found = strangers.map((record) => ({
    record,
    ...origin(record),
    cost: costs.get(record.id),
  }));
  if (flags.json) printJson(jsonOf(found, stacks, place, version), 2);
  else printLines(linesOf(found, records.some(isOurs), stacks, place, flags));
  if (found.some(({ isProven }) => isProven)) return FOUND;
  // Possible orphans in another account than that of the states are no finding.
  if (place.isElsewhere) return ELSEWHERE;
  return found.length > 0 ? POSSIBLE : 0;
}

/**
 * Reads all records of the account. The rate limit may stretch this out, so only single requests
 * have a time limit, and lines report the progress.
 */
async function recordsOf(connection: EnvironmentSettings): Promise<AccountRecord[]> {
  await using client = createClient({
    ...connection,
    retry: { maxElapsedMs: REQUEST_MS },
    onWarning: ({ message }) => say(message),
    onRateLimit: (event) => say(waitText(event)),
  });
  return await sayWhileWaiting(
    () => "still reading the account's resources",
    () => readAccountRecords(client),
  );
}

/** How many of the states' records this account contains. */
interface Place {
  readonly inStates: number;
  readonly inAccount: number;
  /** `true` if the states contain records and this account contains none of them. */
  readonly isElsewhere: boolean;
  /** What to tell the user about it. */
  readonly text: string;
}

function placeOf(states: readonly KnownStack[], records: readonly AccountRecord[]): Place {
  const ids = new Set(states.flatMap((each) => each.records));
  const inAccount = records.filter(({ id }) => ids.has(id)).length;
  const text =
    `${ids.size === 1 ? "The only resource in the states does not exist" : `None of the ${ids.size} resources in the states exists`} in this account, so these states say nothing about it. Check the ` +
    "key and the URLs: they probably belong to another account";
  return { inStates: ids.size, inAccount, isElsewhere: ids.size > 0 && inAccount === 0, text };
}

/** Returns the error for trying to delete a possible orphan. */
function doubt({ type, id }: AccountRecord, reason: string): string {
  const canBeProven = type === "ServerlessEndpoint" || type === "NetworkVolume";
  return (
    `${NOUNS[type]} ${id} is only a possible orphan: ${reason}. ` +
    (canBeProven
      ? "If the stack that created it no longer exists, name that stack with --ended <organization>/<project>/<stack>. " +
        "Otherwise, make"
      : "Make") +
    " sure that it is in no state in any backend of anyone who uses this account, and repeat the command with " +
    "--nobody-manages-it. Nothing was deleted"
  );
}

/**
 * Returns the record to delete.
 * @throws Error if the record is not an orphan
 */
function requireOrphan(id: string, strangers: readonly AccountRecord[], states: readonly KnownStack[]): AccountRecord {
  const owner = states.find(({ ids }) => ids.has(id));
  if (owner)
    throw new Error(`${id} is in the state of stack ${owner.name}, so it is not an orphan. Nothing was deleted`);
  const wanted = strangers.find((each) => each.id === id);
  if (wanted) return wanted;
  throw new Error(
    `${id} is not one of this account's orphans, which the command lists without --delete. Nothing was deleted`,
  );
}

const nounOf = ({ type }: AccountRecord) => NOUNS[type];

const monthly = (dollars: number | undefined) => (dollars === undefined ? "unknown" : `$${dollars.toFixed(2)} a month`);

function statesText(count: number): string {
  if (count === 0) return "in any state";
  return count === 1
    ? "in the state of the one stack that was read"
    : `in the states of the ${count} stacks that were read`;
}

const countText = (count: number) =>
  count === 1 ? "1 resource with an automatic name is" : `${count} resources with automatic names are`;

/** Returns the lines that list the orphans, proven ones first. */
function linesOf(
  found: readonly Orphan[],
  hasAutomatic: boolean,
  stacks: readonly NamedStack[],
  place: Place,
  flags: OrphansFlags,
): string[] {
  const inStates = statesText(stacks.filter(({ hasEnded }) => !hasEnded).length);
  if (found.length === 0 && place.isElsewhere)
    return [`${place.text}.`, "This account contains no resources with automatic names."];
  if (!hasAutomatic) return ["No orphans: the account contains no resources with automatic names."];
  if (found.length === 0) return [`No orphans: every resource with an automatic name is ${inStates}.`];
  const ordered = [...found].sort((one, other) => Number(other.isProven) - Number(one.isProven));
  const lines = ordered.flatMap(({ record, cost, isProven, reason }) => [
    `${isProven ? "ORPHAN  " : "POSSIBLE"}  ${nounOf(record)} ${record.id} ("${record.name}")`,
    `          since ${record.createdAt ?? "an unknown time, because this API does not show it"}`,
    `          minimum cost: ${monthly(cost?.atRest)}, maximum cost: ${monthly(cost?.fullScale)}`,
    `          ${reason}`,
  ]);
  const isKnown = found.every(({ cost }) => cost?.atRest !== undefined);
  const atRest = found.reduce((sum, { cost }) => sum + (cost?.atRest ?? 0), 0);
  return [
    ...(place.isElsewhere ? [`${place.text}.`, ""] : []),
    ...lines,
    "",
    `${countText(found.length)} not ${inStates}. ${found.length === 1 ? "Its" : "Their"} minimum cost is ${isKnown ? "" : "at least "}${monthly(atRest)}.`,
    `To delete one: npx pulumi-serverless-gpu orphans${optionsOf(flags)} --delete <id>`,
  ];
}

/** Returns the options that select the same states and account. */
function optionsOf({ api, stack, backend, ended, namespace }: OrphansFlags): string {
  const given = { api: api === undefined ? [] : [api], stack, backend, ended, namespace };
  const words = Object.entries(given).flatMap(([name, values = []]) => values.flatMap((each) => [`--${name}`, each]));
  return words.map((word) => ` ${/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`}`).join("");
}

/** Returns the list as JSON. */
function jsonOf(
  found: readonly Orphan[],
  stacks: readonly NamedStack[],
  { inStates, inAccount }: Place,
  version: string,
): object {
  return {
    version,
    stacks: stacks.filter(({ hasEnded }) => !hasEnded).map(({ name }) => name),
    stateRecords: { total: inStates, inAccount },
    orphans: found.map(({ record, cost, isProven, reason }) => ({
      kind: nounOf(record),
      id: record.id,
      name: record.name,
      createdAt: record.createdAt ?? null,
      certainty: isProven ? "proven" : "possible",
      reason,
      costPerMonth: { atRest: cost?.atRest ?? null, fullScale: cost?.fullScale ?? null },
    })),
  };
}
