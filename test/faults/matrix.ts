import { setTimeout as sleep } from "node:timers/promises";
import type { Emulator, FaultEffect } from "../../emulator";
import type { ManagementApi } from "../../sdk";
import { FAULTS, type Fault, TIMES, timesName } from "./faults";
import type { Operation, Step } from "./operations";
import { progressOf } from "./progress";
import { CANARY, type Site, startSite } from "./site";

/** One fault, repeated a number of times from one step of an operation. */
export interface Cell {
  readonly operation: Operation;
  readonly step: Step;
  readonly fault: Fault;
  readonly times: (typeof TIMES)[number];
}

/** The result of a cell. */
export interface CellResult {
  readonly cell: Cell;
  /** The error that the fault caused. */
  readonly error?: string;
  readonly seconds: number;
  /** Broken invariants. */
  readonly problems: readonly string[];
}

/**
 * No operation takes longer than this, in seconds: two calls of 120 s each, the last attempt of
 * each included, and the pauses for the list's lag.
 */
const BOUND_SECONDS = 260;

/** Number of attempts for a cell whose fault hits a different request than intended. */
const MOST_PLAYS = 5;

/** Matches advice in a message. */
const NEXT_STEP = /try again|check|look[ ,]|run pulumi|adoptId|update the package|keep one/i;

/** All useful combinations. */
export function cellsOf(operations: readonly Operation[]): Cell[] {
  return operations.flatMap((operation) =>
    operation.steps.flatMap((step) =>
      FAULTS.filter(
        (fault) => (fault.only ?? [step.interface]).includes(step.interface) && (operation.isOpenTo?.(fault) ?? true),
      ).flatMap((fault) => TIMES.map((times) => ({ operation, step, fault, times }))),
    ),
  );
}

/**
 * Plays all cells over one API, on a number of sites in parallel. Slow cells should come first.
 * With a name, those that an earlier run of the campaign has passed with the same code are not
 * played again.
 */
export async function playAll(
  cells: readonly Cell[],
  siteCount: number,
  { api = "graphql", name }: { readonly api?: ManagementApi; readonly name?: string } = {},
): Promise<CellResult[]> {
  const progress = name === undefined ? undefined : progressOf<Omit<CellResult, "cell">>(name);
  const passed = cells.flatMap((cell) => {
    const result = progress?.get(titleOf(cell));
    return result?.problems.length === 0 ? [{ ...result, cell }] : [];
  });
  const done = new Set(passed.map(({ cell }) => cell));
  const waiting = cells.filter((cell) => !done.has(cell));
  const results: CellResult[] = [...passed];
  const worker = async () => {
    const site = await startSite(api);
    for (let cell = waiting.shift(); cell; cell = waiting.shift()) {
      const { cell: _, ...result } = await playAsMeant(cell, site);
      progress?.add(titleOf(cell), result);
      results.push({ ...result, cell });
    }
    const shown = site.provider.output() + JSON.stringify(site.emulator.journal.requests());
    if (shown.includes(CANARY)) throw new Error("the provider's output or the journal shows the key");
    await site.stop();
  };
  await Promise.all(Array.from({ length: Math.min(siteCount, waiting.length) }, worker));
  return results;
}

/**
 * Plays a cell until its fault hits the intended request: an operation sends one request fewer
 * while the provider's process still has a list to share, and one more when it is slow.
 */
async function playAsMeant(cell: Cell, site: Site): Promise<CellResult> {
  for (let times = 1; ; times++) {
    const result = await play(cell, site);
    const miss = missOf(cell, site);
    if (miss === undefined || result.problems.length > 0) return result;
    if (times === MOST_PLAYS) return { ...result, problems: [miss] };
  }
}

/**
 * Plays a cell: prepares it, runs the operation with the fault and checks the result, then runs it
 * without the fault and checks again.
 */
async function play(cell: Cell, site: Site): Promise<CellResult> {
  const { emulator } = site;
  clear(emulator);
  // A lagging list must not show the previous cell's endpoint.
  await sleep(effectOf(cell.fault).listLagMs ?? 0);
  const problems: string[] = [];
  let error: string | undefined;
  let seconds = 0;
  try {
    const attempted = await cell.operation.prepare(site);
    addFault(cell, site);
    const startedAt = performance.now();
    error = await attempted.run().then(() => undefined, messageOf);
    seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    emulator.faults.clear();
    problems.push(...errorProblems(cell, error), ...(await attempted.problems()));
    if (seconds > BOUND_SECONDS) problems.push(`it took ${seconds} s`);
    const recovery = await attempted.recover().then(() => undefined, messageOf);
    if (recovery !== undefined) problems.push(`once more, without the fault: ${recovery}`);
    else problems.push(...(await attempted.problemsAtLast()));
  } catch (failure) {
    problems.push(`could not be played: ${messageOf(failure)}`);
  }
  return { cell, ...(error !== undefined && { error }), seconds, problems };
}

/** Ids keep counting up: the provider's process lives for many cells, and no id is reused. */
function clear({ endpoints, templates, volumes, registryAuths, faults, journal }: Emulator): void {
  faults.clear();
  for (const kind of [endpoints, templates, volumes, registryAuths]) for (const { id } of kind.list()) kind.delete(id);
  journal.clear();
}

function addFault({ step, fault, times }: Cell, { emulator: { faults } }: Site): void {
  const match = { interface: step.interface, ...(step.operation && { operation: step.operation }) };
  const before = (step.position ?? 1) - 1;
  // Everything before the step succeeds.
  if (before > 0) faults.add({ match, effect: {}, times: before });
  faults.add({ name: fault.name, match, effect: effectOf(fault), ...(times !== undefined && { times }) });
}

function effectOf({ effect }: Fault): FaultEffect {
  return typeof effect === "function" ? effect() : effect;
}

/**
 * The reason why a cell was not played as intended: its fault hit no request, or another request.
 */
function missOf({ step, fault }: Cell, { emulator }: Site): string | undefined {
  const struck = emulator.journal.requests().find((request) => request.fault === fault.name)?.operation;
  if (struck === undefined) return "the fault met no request";
  return struck === (step.strikes ?? struck) ? undefined : `the fault met ${struck}, not ${step.strikes}`;
}

function errorProblems({ operation, fault }: Cell, error: string | undefined): string[] {
  if (error === undefined) return [];
  const missing = [
    ...(fault.cause.test(error) || operation.fails?.test(error) ? [] : ["its cause"]),
    ...(NEXT_STEP.test(error) ? [] : ["the next step"]),
    ...(operation.names && !operation.names.test(error) ? ["what it is about"] : []),
  ];
  return [
    ...(missing.length > 0 ? [`the error does not tell ${missing.join(", ")}`] : []),
    ...(error.includes(CANARY) ? ["the error shows the key"] : []),
  ];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The cell in words: `delete, list proof: reset after the effect, 3 times`. */
export function titleOf({ operation, step, fault, times }: Cell): string {
  return `${operation.name}, ${step.name}: ${fault.name}, ${timesName(times)}`;
}
