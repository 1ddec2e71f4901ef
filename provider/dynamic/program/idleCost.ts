import * as pulumi from "@pulumi/pulumi";
import { idleWorkersWarning } from "../../engine/inputWarnings";
import { type DeclaredResource, warnAt } from "./programChecks";

/** An endpoint whose workers are billed even when idle. */
interface IdleCost {
  readonly declaration: Pick<DeclaredResource, "type" | "name" | "options">;
  /** `undefined` if the number is secret. */
  readonly workers: number | undefined;
}

/** The maximum number of names in a warning. */
const MAX_NAMES = 10;

/** The endpoints to list in the next warning, by program. */
const waiting = new WeakMap<object, IdleCost[]>();
const OUTSIDE_A_STACK = {};

/**
 * Warns that workers are billed even when idle. Logs one warning for all endpoints that a program
 * declares together.
 */
export function warnOfIdleCost(declaration: IdleCost["declaration"], workersMin: pulumi.Input<number | null>): void {
  const note = (workers: number | null, isSecret = false) => {
    if (typeof workers === "number" && workers >= 1) noteCost({ declaration, workers: isSecret ? undefined : workers });
  };
  // Most values are plain numbers, and creating an output for them is slow.
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
