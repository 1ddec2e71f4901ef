import { type Emulator, type FaultEffect, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";

/** Where an operation is when a process is killed: at a request, before or after it had its effect. */
interface Moment {
  readonly step: string;
  readonly when: "before" | "after";
  /** Which request at the GraphQL interface, from 1; or all of an operation. */
  readonly position?: number;
  readonly operation?: string;
}

type Victim = "engine" | "provider";

const VICTIMS: readonly Victim[] = ["engine", "provider"];

const WRITING: readonly Moment[] = [
  { step: "list", when: "before", operation: "myself" },
  { step: "save", when: "before", operation: "saveEndpoint" },
  { step: "save", when: "after", operation: "saveEndpoint" },
];

const DELETING: readonly Moment[] = [
  { step: "list", when: "before", position: 1 },
  { step: "save", when: "before", position: 2 },
  { step: "save", when: "after", position: 2 },
  { step: "list drained", when: "before", position: 3 },
  { step: "delete", when: "before", position: 4 },
  { step: "delete", when: "after", position: 4 },
  { step: "list proof", when: "before", position: 5 },
];

const scenarios = (moments: readonly Moment[]) =>
  moments.flatMap((moment) =>
    VICTIMS.map((victim) => [`${moment.when} ${moment.step}, kill -9 of the ${victim}`, moment, victim] as const),
  );

const ONE = { gpuIds: "AMPERE_24", templateId: "template", workersMax: 1 };

const program = (resources: Readonly<Record<string, object>>) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
for (const [name, args] of Object.entries(${JSON.stringify(resources)})) new ServerlessEndpoint(name, args);
`;

describe("create", () => {
  test.concurrent.each(scenarios(WRITING))("%s", async (_title, moment, victim) => {
    await using emulator = await startEmulator({ drainMs: 0 });
    const stack = await createStack({ program: program({ one: ONE, two: ONE }), env: emulator.env });
    await stack.setConfig({ "serverless-gpu:namespace": "crashes" });
    await crash(stack, emulator, moment, victim, "up");
    await unlock(stack);
    const made = idsOf(emulator);
    expect(made).toHaveLength(moment.when === "after" ? 2 : 0);

    const again = await stack.up();
    expect(emulator.endpoints.list()).toHaveLength(2);
    if (made.length > 0) expect(idsOf(emulator)).toEqual(made);
    if (made.length > 0) expect(again.output).toContain("was created by an interrupted run of this stack");
    await stack.preview("--refresh", "--expect-no-changes");
    await stack.destroy();
    expect(emulator.endpoints.list()).toEqual([]);
  });

  test.concurrent.each(VICTIMS)("with a name that others may have given too, kill -9 of the %s", async (victim) => {
    await using emulator = await startEmulator({ drainMs: 0 });
    const resources = { explicit: { name: "explicit", ...ONE }, shared: ONE };
    const stack = await createStack({ program: program(resources), env: emulator.env });
    await crash(stack, emulator, { step: "save", when: "after", operation: "saveEndpoint" }, victim, "up");
    await unlock(stack);

    const refused = await stack.run(["up", "--yes", "--skip-preview", "--continue-on-error"]);
    expect(refused.exitCode).not.toBe(0);
    const adopted = Object.fromEntries(
      emulator.endpoints.list().map(({ id, name }) => {
        expect(refused.output).toContain(`adoptId: "${id}"`);
        const logicalName = name.split("-")[0] ?? "";
        return [logicalName, { ...resources[logicalName as keyof typeof resources], adoptId: id }];
      }),
    );
    expect(emulator.endpoints.list()).toHaveLength(2);
    await stack.writeProgram(program(adopted));
    await stack.up();
    await stack.destroy();
    expect(emulator.endpoints.list()).toEqual([]);
  });
});

describe("update", () => {
  test.concurrent.each(scenarios(WRITING))("%s", async (_title, moment, victim) => {
    await using emulator = await startEmulator({ drainMs: 0 });
    const stack = await createStack({ program: program({ one: ONE, two: ONE }), env: emulator.env });
    await stack.up();
    const ids = idsOf(emulator);
    for (const id of ids) emulator.endpoints.change(id, { idleTimeout: 77, networkVolumeId: "volume" });
    const changed = { ...ONE, workersMax: 2, locations: "CZ" };
    await stack.writeProgram(program({ one: changed, two: changed }));
    await crash(stack, emulator, moment, victim, "up");
    await unlock(stack);

    await stack.up();
    expect(idsOf(emulator)).toEqual(ids);
    for (const endpoint of emulator.endpoints.list()) {
      expect(endpoint).toMatchObject({ workersMax: 2, locations: "CZ", idleTimeout: 77, networkVolumeId: "volume" });
    }
    await stack.preview("--refresh", "--expect-no-changes");
    await stack.destroy();
    expect(emulator.endpoints.list()).toEqual([]);
  });
});

describe("delete", () => {
  test.concurrent.each(scenarios(DELETING))("%s", async (_title, moment, victim) => {
    await using emulator = await startEmulator({ drainMs: 0 });
    const stack = await createStack({ program: program({ one: ONE }), env: emulator.env });
    await stack.up();
    await crash(stack, emulator, moment, victim, "destroy");
    await unlock(stack);

    await stack.destroy();
    expect(emulator.endpoints.list()).toEqual([]);
    expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
  });
});

const idsOf = (emulator: Emulator) => emulator.endpoints.list().map(({ id }) => id);

/** Starts the command, waits until the service holds its request back at that moment, and kills the process. */
async function crash(
  stack: PulumiStack,
  emulator: Emulator,
  { position, operation, when }: Moment,
  victim: Victim,
  command: "up" | "destroy",
): Promise<void> {
  const match = { interface: "graphql", ...(operation && { operation }) } as const;
  const hang: FaultEffect = { hang: true, when };
  if (position !== undefined && position > 1) emulator.faults.add({ match, effect: {}, times: position - 1 });
  emulator.faults.add({ match, effect: hang });
  const running = stack.run([command, "--yes", "--skip-preview"]);
  const expected = operation === "saveEndpoint" ? 2 : 1;
  const held = () => emulator.journal.requests({ outcome: "pending" }).filter(({ fault }) => fault?.includes("hang"));
  await until(() => held().length >= expected);
  await kill(stack, victim);
  const { exitCode } = await running;
  expect(exitCode).not.toBe(0);
  // A provider's process without an engine ends by itself.
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

/** What Pulumi itself asks for after its engine was killed. */
async function unlock(stack: PulumiStack): Promise<void> {
  await stack.run(["cancel", "--yes"]);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 30_000;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error("it did not come to that within 30 s");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
