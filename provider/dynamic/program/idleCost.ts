import * as pulumi from "@pulumi/pulumi";
import { idleWorkersWarning } from "../../inputWarnings";
import { type DeclaredResource, warnAt } from "./programChecks";

/** An endpoint whose workers are billed even while idle. */
interface IdleCost {
  readonly declaration: Pick<DeclaredResource, "type" | "name" | "options">;
  /** `undefined` if the number is secret. */
  readonly workers: number | undefined;
}

/** How many names a warning lists at most. */
const MAX_NAMES = 10;

/** The endpoints that the next warning lists, by program. */
const waiting = new WeakMap<object, IdleCost[]>();
const OUTSIDE_A_STACK = {};

/**
 * Warns that workers are billed even while idle: once for all endpoints that a program declares
 * together.
 */
export function warnOfIdleCost(declaration: IdleCost["declaration"], workersMin: pulumi.Input<number | null>): void {
  const note = (workers: number | null, isSecret = false) => {
    if (typeof workers === "number" && workers >= 1) noteCost({ declaration, workers: isSecret ? undefined : workers });
  };
  // Most are plain numbers, and creating an output for them is slow.
  if (typeof workersMin === "number") note(workersMin);
  else pulumi.all([workersMin, pulumi.isSecret(pulumi.output(workersMin))]).apply((args) => note(...args));
}

function noteCost(cost: IdleCost): void {
  const program: object = pulumi.runtime.getStackResource() ?? OUTSIDE_A_STACK;
  const costs = waiting.get(program);
  if (costs) return void costs.push(cost);
  const first = [cost];
  waiting.set(program, first);
  setImmediate(() => {
    waiting.delete(program);
    report(first);
  });
}

function report(costs: readonly IdleCost[]): void {
  const [first, second] = costs;
  if (first && !second) {
    warnAt(first.declaration, idleWorkersWarning(first.workers));
    return;
  }
  const names = costs.slice(0, MAX_NAMES).map(({ declaration, workers }) => `"${declaration.name}"${shown(workers)}`);
  const rest = costs.length > MAX_NAMES ? `, and ${costs.length - MAX_NAMES} more` : "";
  pulumi.log.warn(
    `workersMin is above 0, so workers of ${costs.length} endpoints are billed even while idle: ${names.join(", ")}${rest}`,
  );
}

function shown(workers: number | undefined): string {
  return workers === undefined ? "" : ` (${workers})`;
}
