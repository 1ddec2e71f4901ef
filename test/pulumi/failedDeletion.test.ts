import { rm } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { crash, unlock } from "../faults/crash";
import { heldJob, occupyWorker } from "../support/heldWorker";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

/** The endpoints of the program, and the worker counts of each while it is in service. */
const DECLARED = {
  plain: { args: {}, inService: { workersMin: 0, workersMax: 3 } },
  minimum: { args: { workersMin: 1 }, inService: { workersMin: 1, workersMax: 3 } },
  both: { args: { workersMin: 1, workersMax: 2 }, inService: { workersMin: 1, workersMax: 2 } },
} as const;
type Name = keyof typeof DECLARED;
const NAMES = Object.keys(DECLARED) as Name[];
const IN_SERVICE = Object.fromEntries(NAMES.map((name) => [name, DECLARED[name].inService]));
const AT_ZERO = Object.fromEntries(NAMES.map((name) => [name, { workersMin: 0, workersMax: 0 }]));

function program(changes: Partial<Record<Name, object>> = {}): string {
  const resources = NAMES.map((name) => {
    const args = { gpuIds: "AMPERE_24", templateId: "t", drainTimeout: 1, ...DECLARED[name].args, ...changes[name] };
    return `new ServerlessEndpoint("${name}", ${JSON.stringify({ name, ...args })});`;
  });
  return `const { ServerlessEndpoint } = require("pulumi-serverless-gpu");\n${resources.join("\n")}`;
}

/** Starts endpoints whose workers never stop. */
async function startBusy(): Promise<{ emulator: Emulator; stack: PulumiStack }> {
  const emulator = await startEmulator({
    profile: "contract",
    drainMs: 3_600_000,
    handlers: { default: heldJob().handler },
  });
  const stack = await createStack({ program: program(), env: emulator.env });
  await stack.up();
  for (const { id } of emulator.endpoints.list()) await occupyWorker(emulator, id);
  return { emulator, stack };
}

/** The numbers of workers that the service has, by name. */
function workersAt(emulator: Emulator) {
  const endpoints = emulator.endpoints.list();
  return Object.fromEntries(
    endpoints.map(({ name, workersMin, workersMax }) => [name, { workersMin, workersMax }] as const),
  );
}

function count(text: string, output: string): number {
  return output.split(text).length - 1;
}

const RUNS = "is in service and billed again";
const LEFT = "an earlier run on this machine may not have completed";

test("when a removal, a destroy or a replacement times out, the endpoints stay in service and the next up changes nothing", async () => {
  const { emulator, stack } = await startBusy();
  await using _ = { [Symbol.asyncDispose]: () => emulator.stop() };
  const urns = endpointsIn(await stack.exportState()).flatMap(({ urn }) => ["--replace", urn]);

  const commands = [
    ["up", "--continue-on-error"],
    ["destroy", "--continue-on-error"],
    // With --continue-on-error, the engine hangs if a deletion before a replacement fails.
    ["up", ...urns],
  ];
  for (const [number, command] of commands.entries()) {
    if (number === 0) await stack.writeProgram("");
    const failed = await stack.run([...command, "--yes", "--skip-preview"]);
    expect(failed.exitCode).not.toBe(0);
    const reported = emulator.endpoints.list().filter(({ id }) => failed.output.includes(`endpoint ${id} ${RUNS}`));
    expect(reported.length).toBeGreaterThanOrEqual(number === 2 ? 1 : 3);
    expect(workersAt(emulator)).toEqual(IN_SERVICE);
    await stack.writeProgram(program());
    await stack.preview("--refresh", "--expect-no-changes");
  }

  // The service refuses to put the workers back.
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: {}, times: 3 });
  const refusal = { message: "this template is retired", code: "RUNPOD" };
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { graphqlError: refusal } });
  const { output } = await stack.run(["destroy", "--continue-on-error", "--yes", "--skip-preview"]);
  for (const { id } of emulator.endpoints.list()) expect(output).toContain(`endpoint ${id} is still scaled to zero: `);
  expect(workersAt(emulator)).toEqual(AT_ZERO);
  emulator.faults.clear();
  const preview = await stack.run(["preview", "--expect-no-changes"]);
  expect(preview.exitCode).not.toBe(0);
  await stack.up();
  expect(workersAt(emulator)).toEqual(IN_SERVICE);
  await stack.preview("--refresh", "--expect-no-changes");
});

test("after a kill at zero workers, a preview reports it without a request, and the next up or a destroy that times out restores the workers", async () => {
  const { emulator, stack } = await startBusy();
  await using _ = { [Symbol.asyncDispose]: () => emulator.stop() };
  const killAtZero = async () => {
    const moment = { step: "zero", when: "after", operation: "saveEndpoint", held: 3 } as const;
    await crash(stack, emulator, moment, "engine", "destroy");
    await unlock(stack);
    expect(workersAt(emulator)).toEqual(AT_ZERO);
  };

  await killAtZero();
  const failed = await stack.run(["destroy", "--continue-on-error", "--yes", "--skip-preview"]);
  expect(count(RUNS, failed.stderr + failed.stdout)).toBeGreaterThanOrEqual(3);
  expect(workersAt(emulator)).toEqual(IN_SERVICE);
  await stack.preview("--expect-no-changes");

  await killAtZero();
  emulator.journal.clear();
  const preview = await stack.run(["preview", "--expect-no-changes"]);
  expect(preview.exitCode).not.toBe(0);
  expect(preview.output).toContain("3 to update");
  for (const { id } of emulator.endpoints.list())
    expect(preview.output).toContain(`${LEFT} the deletion of endpoint ${id}, which sent`);
  expect(emulator.journal.requests()).toEqual([]);
  // Somebody has scaled one of them in the meantime.
  const plain = emulator.endpoints.list().find(({ name }) => name === "plain")?.id ?? "";
  emulator.endpoints.change(plain, { workersMax: 7 });
  await stack.up();
  expect(workersAt(emulator)).toEqual({ ...IN_SERVICE, plain: { workersMin: 0, workersMax: 7 } });
  await stack.preview("--refresh", "--expect-no-changes");
  emulator.endpoints.change(plain, DECLARED.plain.inService);

  // A refresh in between takes the zeros into state.
  await killAtZero();
  await stack.refresh();
  await stack.up();
  expect(workersAt(emulator)).toEqual(IN_SERVICE);
  await stack.preview("--refresh", "--expect-no-changes");
});

test("without the machine record, a refresh lets up repair the declared settings, and warns about all others", async () => {
  const { emulator, stack } = await startBusy();
  await using _ = { [Symbol.asyncDispose]: () => emulator.stop() };
  const turnOff = () => {
    for (const { id } of emulator.endpoints.list()) emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
  };
  turnOff();
  const { output } = await stack.refresh();
  const plain = emulator.endpoints.list().find(({ name }) => name === "plain")?.id;
  expect(output).toContain(`plain: warning: endpoint ${plain} is off: its workersMax is 0`);
  expect(output).toMatch(/interrupted deletion.*3 days.*7.*a person.*add workersMax: 3 to the program/s);
  expect(output).not.toContain("both: warning");
  const preview = await stack.preview("--diff");
  expect(preview.output).toMatch(/~ workersMin *: 0 => 1/);
  expect(preview.output).toMatch(/~ workersMax *: 0 => 2/);
  expect(preview.output).toContain("minimum: also sets workersMax 3: it is 0 at the service");
  const up = await stack.up();
  expect(up.output).toContain("minimum: also sets workersMax 3");
  expect(up.output).toContain(`plain: warning: endpoint ${plain} is off`);
  expect(workersAt(emulator)).toEqual({ ...IN_SERVICE, plain: AT_ZERO.plain });
  await stack.writeProgram(program({ plain: { workersMax: 3 } }));
  await stack.up();
  expect(workersAt(emulator)).toEqual(IN_SERVICE);

  turnOff();
  await stack.up("--refresh");
  expect(workersAt(emulator)).toEqual(IN_SERVICE);
  await stack.preview("--refresh", "--expect-no-changes");
});

test("a recycle that was killed at zero workers is reported, and undone if the program no longer requests it", async () => {
  const { emulator, stack } = await startBusy();
  await using _ = { [Symbol.asyncDispose]: () => emulator.stop() };
  const recycling = (templateRevision: number) =>
    program({ plain: { templateRevision, recycleWorkers: true, workersMax: 4, drainTimeout: 600 } });
  await stack.writeProgram(recycling(1));
  await stack.up();
  await stack.writeProgram(recycling(2));
  // The first save applies the template.
  const zero = { step: "zero", when: "after", operation: "saveEndpoint", position: 2 } as const;
  await crash(stack, emulator, zero, "engine", "up");
  await unlock(stack);
  expect(workersAt(emulator)).toEqual({ ...IN_SERVICE, plain: AT_ZERO.plain });

  await stack.writeProgram(recycling(1));
  const preview = await stack.run(["preview", "--expect-no-changes"]);
  expect(preview.exitCode).not.toBe(0);
  expect(preview.output).toContain(`plain: ${LEFT} a restart of the workers of endpoint`);
  await stack.up();
  expect(workersAt(emulator)).toEqual({ ...IN_SERVICE, plain: { workersMin: 0, workersMax: 4 } });
  await stack.preview("--refresh", "--expect-no-changes");

  // On another machine there is no record.
  emulator.endpoints.change(emulator.endpoints.list().find(({ name }) => name === "plain")?.id ?? "", {
    workersMax: 0,
  });
  await rm(path.join(stack.scratch, "home/.cache"), { recursive: true, force: true });
  await stack.up("--refresh");
  expect(workersAt(emulator)).toEqual({ ...IN_SERVICE, plain: { workersMin: 0, workersMax: 4 } });
});
