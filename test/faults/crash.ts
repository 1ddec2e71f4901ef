import type { Emulator, FaultEffect } from "../../emulator";
import type { PulumiStack } from "../pulumi/harness";
import { API } from "./campaignApi";

/** The moment at which a process is killed: at a request, before or after its effect. */
export interface Moment {
  readonly step: string;
  readonly when: "before" | "after";
  /** Number of the request at the management interface or of the operation, from 1. */
  readonly position?: number;
  readonly operation?: string;
  /** The number of requests that must have arrived. @default 1 */
  readonly held?: number;
}

/** How long the engine has to record what happened before the request that is held back. */
const QUIET_MS = 1_000;

/** Longer than an engine takes to start on a machine with other work. */
const LONG_MS = 240_000;

export type Victim = "engine" | "provider";

/** Returns the moments before and after the effect of a request. */
export const at = (operation: string, position = 1): Moment[] =>
  (["before", "after"] as const).map((when) => ({ step: `${operation} ${position}`, operation, position, when }));

/**
 * Returns each moment with its victims, and a title. The provider is killed after the effect, where
 * a kill leaves the most behind.
 */
export const scenarios = (moments: readonly Moment[]) =>
  moments.flatMap((moment) => {
    const victims: readonly Victim[] = moment.when === "after" ? ["engine", "provider"] : ["engine"];
    return victims.map(
      (victim) => [`${moment.when} ${moment.step}, kill -9 of the ${victim}`, moment, victim] as const,
    );
  });

/**
 * Starts the command, waits until the service holds its request back at that moment, and kills the
 * process.
 */
export async function crash(
  stack: PulumiStack,
  emulator: Emulator,
  { position, operation, when, held: expected = 1 }: Moment,
  victim: Victim,
  command: "up" | "destroy",
): Promise<void> {
  const match = operation === undefined ? { interface: API } : { operation };
  const hang: FaultEffect = { hang: true, when };
  if (position !== undefined && position > 1) emulator.faults.add({ match, effect: {}, times: position - 1 });
  emulator.faults.add({ match, effect: hang });
  const running = stack.run([command, "--yes", "--skip-preview"]);
  const held = () => emulator.journal.requests({ outcome: "pending" }).filter(({ fault }) => fault?.includes("hang"));
  await until(() => held().length >= expected);
  // An engine that is killed while it writes its own file leaves a cut one, which is not what this
  // is about.
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  await kill(stack, victim);
  const { exitCode } = await running;
  expect(exitCode).not.toBe(0);
  // A provider process without an engine ends on its own.
  await until(async () => (await stack.processes()).length === 0);
  emulator.faults.clear();
}

async function kill(stack: PulumiStack, victim: Victim): Promise<void> {
  const isVictim =
    victim === "engine" ? /(^|\/)pulumi (up|destroy) / : /pulumi-resource-pulumi-nodejs|cmd\/dynamic-provider/;
  const victims = (await stack.processes()).filter(({ command }) => isVictim.test(command));
  if (victims.length !== 1) throw new Error(`${victims.length} processes instead of 1 are the ${victim}`);
  for (const { pid } of victims) process.kill(pid, "SIGKILL");
}

/** The command that Pulumi requires after its engine was killed. */
export async function unlock(stack: PulumiStack): Promise<void> {
  await stack.run(["cancel", "--yes"]);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + LONG_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error("it did not come to that within four minutes");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
