import { createClient } from "../../sdk/client/client";
import type { EnvironmentSettings } from "../../sdk/connection/settings";
import { waitText } from "../../sdk/transport/observers";
import { commandConnection } from "../connection/connection";
import { configuredValues, findProjectFile } from "../connection/projectFile";
import { sayWhileWaiting } from "../connection/readInTime";
import { readPrices } from "../forecast/settings/prices";
import { HOW_TO_DELETE, leftBehindText } from "../leftBehind";
import { shellWord } from "../shownValues";
import { printJson, printLines, say } from "../terminal";
import { useOf } from "./activity";
import { type MonthlyCost, monthlyCosts } from "./costs";
import { endedStack, looksAutomatic, namedStack, type Origin, originOf } from "./names";
import { type AccountRecord, boundTo, deleteRecord, nounOf, readAccountRecords } from "./records";
import { requireNoRun, requireNoUnrecorded } from "./runs";
import { type KnownStack, readStacks, type StateFlags } from "./states";

export interface OrphansFlags extends StateFlags {
  readonly api?: string;
  /** Stacks that no longer exist, as `<organization>/<project>/<stack>`. */
  readonly ended?: readonly string[];
  /** Values of the setting `serverless-gpu:namespace`, in addition to those of the project. */
  readonly namespace?: readonly string[];
  readonly prices?: string;
  /** `true` to include records whose names are not automatic, such as released ones. */
  readonly all?: boolean;
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
 * them. Returns the exit code: 3 if an orphan is proven, otherwise 5 if the account contains no
 * record of the states, otherwise 4 if there are possible orphans, and 0 if there are none.
 */
export async function orphans(flags: OrphansFlags, version: string): Promise<number> {
  const given = flags.prices === undefined ? undefined : readPrices(flags.prices);
  const [stack, ...others] = flags.stack ?? [];
  const connection = await commandConnection({ api: flags.api, stack: others.length === 0 ? stack : undefined });
  // Read the account first, then check for runs, then read the states, so that the states contain
  // all records that a run creates in the meantime.
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
  const isShown = (each: AccountRecord) => flags.all || isOurs(each);
  const strangers = records.filter((each) => !isKnown(each) && isShown(each));
  const namespaces = [...(flags.namespace ?? []), ...namespacesOfProject()];
  const origin = ({ name, type }: AccountRecord) => originOf(name, type, stacks, namespaces);
  if (flags.delete !== undefined) {
    const wanted = requireOrphan(flags.delete, strangers, states);
    requireNoUnrecorded(wanted, states, flags.runsHaveEnded ?? false);
    if (place.isElsewhere) say(place.text);
    return deleteOrphan(wanted, origin(wanted), connection, flags.nobodyManagesIt ?? false);
  }
  const costs = await monthlyCosts(strangers, connection, given);
  const found = strangers.map((record) => ({
    record,
    ...origin(record),
    cost: costs.get(record.id),
  }));
  if (flags.json) printJson(jsonOf(found, states, place, version), 2);
  else
    printLines([
      ...linesOf(found, { all: flags.all ?? false, any: records.some(isShown) }, states, place, flags),
      ...stayLines(states),
    ]);
  if (found.some(({ isProven }) => isProven)) return FOUND;
  // Possible orphans do not count as findings if the states belong to another account.
  if (place.isElsewhere) return ELSEWHERE;
  return found.length > 0 ? POSSIBLE : 0;
}

/** Returns the namespaces of this folder's project, which its deleted stacks had, too. */
function namespacesOfProject(): string[] {
  const projectFile = findProjectFile(process.cwd());
  return projectFile === undefined ? [] : configuredValues(projectFile, "namespace");
}

/**
 * Deletes an orphan. Returns the exit code.
 * @param isConfirmed `true` if the user knows that nobody manages or uses it
 * @throws Error if somebody may, and the user has not confirmed it
 */
async function deleteOrphan(
  wanted: AccountRecord,
  { isProven, reason }: Origin,
  connection: EnvironmentSettings,
  isConfirmed: boolean,
): Promise<number> {
  const noun = nounOf(wanted);
  if (!isProven && !isConfirmed) throw new Error(doubt(wanted, reason));
  await using client = createClient({ ...connection, onWarning: ({ message }) => say(message) });
  const use = isConfirmed || noun !== "endpoint" ? undefined : await useOf(client, wanted.id);
  if (use !== undefined) throw new Error(`${use}. ${CONFIRM_UNUSED}`);
  say(`${noun} ${wanted.id} ("${wanted.name}") is deleted: ${isProven ? "" : "a possible orphan, "}${reason}`);
  await sayWhileWaiting(
    () => "the deletion is still in progress",
    () => deleteRecord(client, wanted, say),
  );
  printLines([`deleted ${noun} ${wanted.id}`]);
  return 0;
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

const CONFIRM_UNUSED =
  "Its stack may still exist in a backend that was not read. If nobody uses it, repeat the command with --nobody-manages-it. " +
  "Nothing was deleted";

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

/** Names the records that would become orphans when their stack is destroyed. */
function stayLines(states: readonly KnownStack[]): string[] {
  const lines = states.flatMap(({ name, wouldStay }) =>
    wouldStay.map((each) => `STAYS     in stack ${name}, ${leftBehindText(each)}`),
  );
  return lines.length === 0 ? [] : ["", ...lines, HOW_TO_DELETE];
}

/** Returns the error for trying to delete a possible orphan. */
function doubt({ type, id }: AccountRecord, reason: string): string {
  const canBeProven = type === "ServerlessEndpoint" || type === "NetworkVolume";
  return (
    `${nounOf({ type })} ${id} is only a possible orphan: ${reason}. ` +
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
    `${id} is not one of this account's orphans, which the command lists without --delete. If its name is not automatic, ` +
      "as after a release, add --all. Nothing was deleted",
  );
}

const monthly = (dollars: number | undefined) => (dollars === undefined ? "unknown" : `$${dollars.toFixed(2)} a month`);

function statesText(count: number): string {
  if (count === 0) return "in any state";
  return count === 1
    ? "in the state of the one stack that was read"
    : `in the states of the ${count} stacks that were read`;
}

/** Says which records were compared. */
const namesText = (isAll: boolean, count: number) =>
  isAll ? "" : count === 1 ? " with an automatic name" : " with automatic names";

const countText = (isAll: boolean, count: number) =>
  `${count} ${count === 1 ? "resource" : "resources"}${namesText(isAll, count)} ${count === 1 ? "is" : "are"}`;

/** Returns the lines that list the orphans, proven ones first. */
function linesOf(
  found: readonly Orphan[],
  { all: isAll, any: hasAny }: { readonly all: boolean; readonly any: boolean },
  states: readonly KnownStack[],
  place: Place,
  flags: OrphansFlags,
): string[] {
  const inStates = statesText(states.length);
  if (found.length === 0 && place.isElsewhere)
    return [`${place.text}.`, `This account contains no resources${namesText(isAll, 2)}.`];
  if (!hasAny) return [`No orphans: the account contains no resources${namesText(isAll, 2)}.`];
  if (found.length === 0) return [`No orphans: every resource${namesText(isAll, 1)} is ${inStates}.`];
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
    `${countText(isAll, found.length)} not ${inStates}. ${found.length === 1 ? "Its" : "Their"} minimum cost is ${isKnown ? "" : "at least "}${monthly(atRest)}.`,
    `To delete one: npx pulumi-serverless-gpu orphans${optionsOf(flags)} --delete <id>`,
  ];
}

/** Returns the options that select the same states and account. */
function optionsOf({ api, stack, backend, ended, namespace }: OrphansFlags): string {
  const given = { api: api === undefined ? [] : [api], stack, backend, ended, namespace };
  const words = Object.entries(given).flatMap(([name, values = []]) => values.flatMap((each) => [`--${name}`, each]));
  return words.map((word) => ` ${shellWord(word)}`).join("");
}

/** Returns the list as JSON. */
function jsonOf(
  found: readonly Orphan[],
  states: readonly KnownStack[],
  { inStates, inAccount }: Place,
  version: string,
): object {
  return {
    version,
    stacks: states.map((each) => namedStack(each).name),
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
    wouldStay: states.flatMap((each) => each.wouldStay.map((record) => ({ stack: namedStack(each).name, ...record }))),
  };
}
