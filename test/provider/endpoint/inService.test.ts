import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../../emulator";
import { type DynamicProvider, destroy, type Remembered, refresh, up } from "../../faults/engineMemory";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";
import { type HeldJob, heldJob, occupyWorker } from "../../support/heldWorker";

/*
 * What `test:faults -- sequences` plays with the real engine, in seconds: deletions that do not
 * end, and then a plain up.
 */

/** The service's own values where a program sets none (contract). */
const DEFAULTS = { workersMin: 0, workersMax: 3 };

const PROGRAMS: readonly Properties[] = [{}, { workersMin: 1 }, { workersMax: 2 }, { workersMin: 1, workersMax: 2 }];

interface Machine {
  readonly emulator: Emulator;
  readonly job: HeldJob;
  provider: DynamicProvider;
  remembered: (Remembered | undefined)[];
}

const inputsOf = (program: Properties, index: number): Properties => ({
  automaticName: `llama-${index}`,
  gpuIds: "AMPERE_24",
  templateId: "template",
  drainTimeout: 1,
  ...program,
});

/** The environment of a machine that has made no notes. */
const newMachine = ({ env }: Emulator) => ({ ...env, XDG_CACHE_HOME: mkdtempSync(path.join(tmpdir(), "in-service-")) });

async function upAll(machine: Machine): Promise<void> {
  const { provider, remembered } = machine;
  machine.remembered = await Promise.all(
    PROGRAMS.map((program, index) => up(provider, inputsOf(program, index), remembered[index])),
  );
}

/** Creates the endpoints of all programs, each with a worker whose job does not end by itself. */
async function startMachine(): Promise<Machine & AsyncDisposable> {
  const job = heldJob();
  const emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    coldStartMs: 0,
    handlers: { default: job.handler },
  });
  const machine = {
    emulator,
    job,
    provider: await startDynamicProvider(emulator.env),
    remembered: [] as Machine["remembered"],
    async [Symbol.asyncDispose]() {
      job.release();
      await machine.provider.stop();
      await emulator.stop();
    },
  };
  await upAll(machine);
  await Promise.all(machine.remembered.map((each) => occupyWorker(emulator, each?.id ?? "")));
  return machine;
}

const destroyAll = ({ provider, remembered }: Machine) =>
  Promise.allSettled(remembered.map((each) => each && destroy(provider, each)));

const STEPS = {
  async fail(machine: Machine) {
    const results = await destroyAll(machine);
    expect(results.map(({ status }) => status)).toEqual(PROGRAMS.map(() => "rejected"));
  },

  /**
   * Kills the provider when the service has set the counts to 0, or when there was nothing to set.
   */
  async kill(machine: Machine) {
    const { emulator } = machine;
    emulator.journal.clear();
    emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true, when: "after" } });
    let areOver = false;
    const over = destroyAll(machine).then(() => {
      areOver = true;
    });
    const isOff = ({ workersMax }: { workersMax: number }) => workersMax === 0;
    while (!areOver && !emulator.endpoints.list().every(isOff)) await sleep(10);
    await machine.provider.stop();
    await over;
    emulator.faults.clear();
    machine.provider = await startDynamicProvider(emulator.env);
  },

  async refresh(machine: Machine) {
    const { provider, remembered } = machine;
    machine.remembered = await Promise.all(remembered.map((each) => each && refresh(provider, each)));
  },
} as const;

const PLAYED: readonly (readonly (keyof typeof STEPS)[])[] = [
  ["fail"],
  ["kill"],
  ["fail", "refresh"],
  ["kill", "refresh"],
  ["kill", "fail"],
  ["kill", "kill"],
  ["kill", "refresh", "fail"],
];

test.each(PLAYED.map((steps) => [steps.join(", "), steps] as const))(
  "an up puts each endpoint back in service as declared after a deletion that did not finish: %s",
  async (_title, steps) => {
    await using machine = await startMachine();
    const { emulator, job } = machine;
    for (const step of steps) await STEPS[step](machine);
    job.release();
    await upAll(machine);
    const counts = machine.remembered.map((each) => emulator.endpoints.get(each?.id ?? ""));
    expect(counts).toMatchObject(PROGRAMS.map((program) => ({ ...DEFAULTS, ...program })));
  },
  120_000,
);

test("an up on another machine puts an endpoint that a killed deletion left at zero back in service, if the program sets its worker counts", async () => {
  await using machine = await startMachine();
  const { emulator, job } = machine;
  await STEPS.kill(machine);
  await machine.provider.stop();
  machine.provider = await startDynamicProvider(newMachine(emulator));
  job.release();
  emulator.journal.clear();
  await upAll(machine);
  expect(emulator.journal.requests({ operation: "myself" }).length).toBeLessThanOrEqual(3);
  const counts = machine.remembered.map((each) => emulator.endpoints.get(each?.id ?? ""));
  // If the program does not set the counts, somebody may have scaled the endpoint to zero on
  // purpose.
  const expected = [{ workersMin: 0, workersMax: 0 }, ...PROGRAMS.slice(1).map((each) => ({ ...DEFAULTS, ...each }))];
  expect(counts).toMatchObject(expected);
  const said = machine.provider.output();
  const [{ id: left = "" } = {}, { id: repaired = "" } = {}] = machine.remembered;
  expect(said).toContain(`warning: endpoint ${left} is off`);
  expect(said).toContain(`endpoint ${repaired} is scaled to zero instead of workersMin 1: up restores it`);
  const later = machine.remembered.map((each) =>
    machine.provider.diff(each?.id ?? "", each?.outputs ?? {}, each?.inputs ?? {}),
  );
  expect(await Promise.all(later)).toMatchObject(PROGRAMS.map(() => ({ changes: "none" })));
}, 120_000);

test("a killed run that put an endpoint back in service is undone, and the run says so, when the program no longer sets the counts", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  const first = await startDynamicProvider(newMachine(emulator));
  const before = await up(first, inputsOf({ workersMin: 1 }, 0), undefined);
  await first.stop();
  emulator.endpoints.change(before.id, { workersMin: 0, workersMax: 0 });
  const machine = newMachine(emulator);
  const killed = await startDynamicProvider(machine);
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true, when: "after" } });
  const over = up(killed, before.inputs, before).catch(() => undefined);
  while (emulator.endpoints.get(before.id)?.workersMax === 0) await sleep(10);
  await killed.stop();
  await over;
  emulator.faults.clear();
  const next = await startDynamicProvider(machine);
  try {
    await up(next, inputsOf({}, 0), before);
    // Nobody declares the count, so it is again what it was before that run.
    expect(emulator.endpoints.get(before.id)).toMatchObject({ workersMax: 0 });
    expect(next.output()).toContain("restores workersMax, which an unfinished change left changed");
  } finally {
    await next.stop();
  }
}, 120_000);

test("a comparison without a connection reports no change after a few seconds", async () => {
  const emulator = await startEmulator({ profile: "contract" });
  const provider = await startDynamicProvider(emulator.env);
  try {
    const before = await up(provider, inputsOf({ workersMax: 2 }, 0), undefined);
    await emulator.stop();
    expect(await up(provider, before.inputs, before)).toBe(before);
  } finally {
    await provider.stop();
  }
}, 120_000);

test.each([
  ["drainTimeout", { drainTimeout: 60 }],
  ["templateRevision", { templateRevision: 1 }],
])("an up that only changes %s also puts an endpoint at zero back in service", async (_title, change) => {
  await using emulator = await startEmulator({ profile: "contract" });
  const provider = await startDynamicProvider(emulator.env);
  try {
    const before = await up(provider, inputsOf({ workersMax: 2 }, 0), undefined);
    emulator.endpoints.change(before.id, { workersMin: 0, workersMax: 0 });
    const after = await up(provider, { ...inputsOf({ workersMax: 2 }, 0), ...change }, before);
    expect(emulator.endpoints.get(before.id)).toMatchObject({ workersMin: 0, workersMax: 2 });
    expect(after.outputs).toMatchObject({ ...change, workersMax: 2 });
  } finally {
    await provider.stop();
  }
});

test.each([
  ["API", { SERVERLESS_GPU_API: "graph" }],
  ["proxy", { HTTP_PROXY: "::::" }],
])("a comparison with a wrong %s in the settings reports no change", async (_title, wrong) => {
  await using emulator = await startEmulator({ profile: "contract" });
  const creator = await startDynamicProvider(emulator.env);
  const provider = await startDynamicProvider({ ...emulator.env, ...wrong });
  try {
    const { id, outputs, inputs } = await up(creator, inputsOf({ workersMax: 2 }, 0), undefined);
    expect(await provider.diff(id, outputs, inputs)).toMatchObject({ changes: "none" });
  } finally {
    await Promise.all([creator.stop(), provider.stop()]);
  }
});

test.each([
  ["does not answer", { hang: true }],
  ["rejects the key", { status: 401 }],
] as const)(
  "comparisons of several endpoints in turn give up together if the service %s",
  async (_title, effect) => {
    await using emulator = await startEmulator({ profile: "contract" });
    const creator = await startDynamicProvider(emulator.env);
    const provider = await startDynamicProvider(emulator.env);
    try {
      const indices = [0, 1, 2];
      const all = await Promise.all(indices.map((index) => up(creator, inputsOf({ workersMax: 2 }, index), undefined)));
      emulator.faults.add({ match: { operation: "myself" }, effect });
      emulator.journal.clear();
      const begunAt = performance.now();
      for (const before of all) expect(await up(provider, before.inputs, before)).toBe(before);
      expect(performance.now() - begunAt).toBeLessThan(20_000);
      expect(emulator.journal.operations()).toEqual(["myself"]);
      expect(provider.output().match(/this run cannot see whether endpoints were scaled to zero/g)).toHaveLength(1);
    } finally {
      await Promise.all([creator.stop(), provider.stop()]);
    }
  },
  240_000,
);

test("a refresh after a killed deletion does not mistake zero workers for the program's declaration", async () => {
  await using machine = await startMachine();
  await STEPS.kill(machine);
  for (let times = 0; times < 2; times++) {
    await STEPS.refresh(machine);
    // With ignoreChanges, the engine treats these inputs as the program's.
    const inputs = machine.remembered.map((each) => each?.inputs);
    expect(inputs).toMatchObject(PROGRAMS);
    expect(machine.remembered).toMatchObject(PROGRAMS.map(() => ({ outputs: { workersMin: 0, workersMax: 0 } })));
  }
}, 120_000);

test("an adoption puts each endpoint back in service as declared after a killed deletion, and a second up changes nothing", async () => {
  await using machine = await startMachine();
  const { emulator, job } = machine;
  await STEPS.kill(machine);
  job.release();
  const adopted = await Promise.all(
    PROGRAMS.map((program, index) => {
      const adoptId = machine.remembered[index]?.id;
      return up(machine.provider, { ...inputsOf(program, index), automaticName: `other-${index}`, adoptId }, undefined);
    }),
  );
  const counts = adopted.map(({ id }) => emulator.endpoints.get(id));
  expect(counts).toMatchObject(PROGRAMS.map((program) => ({ ...DEFAULTS, ...program })));
  const later = adopted.map(({ id, inputs, outputs }) => machine.provider.diff(id, outputs, inputs));
  expect(await Promise.all(later)).toMatchObject(PROGRAMS.map(() => ({ changes: "none" })));
}, 120_000);

test("a recycle on another machine voids the note of a killed recycle, so this machine no longer names it", async () => {
  const job = heldJob();
  await using emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    coldStartMs: 0,
    handlers: { default: job.handler },
  });
  emulator.seed({ templates: [{ id: "template", name: "template", imageName: "app:1" }] });
  const machine = newMachine(emulator);
  const program = (templateRevision: number) => ({
    ...inputsOf({ drainTimeout: 60 }, 0),
    recycleWorkers: true,
    templateRevision,
  });
  const killed = await startDynamicProvider(machine);
  const first = await up(killed, program(1), undefined);
  await occupyWorker(emulator, first.id);
  const over = up(killed, program(2), first).then(
    () => "applied",
    (error: unknown) => `failed: ${error}`,
  );
  const seen = async () => {
    while (emulator.endpoints.get(first.id)?.workersMax !== 0) await sleep(10, undefined, { ref: false });
    return "at zero";
  };
  expect(await Promise.race([over, seen()])).toBe("at zero");
  await killed.stop();
  await over;
  job.release();
  const other = await startDynamicProvider(newMachine(emulator));
  const recycled = await up(other, program(2), first);
  await other.stop();
  const back = await startDynamicProvider(machine);
  try {
    expect(await back.diff(first.id, first.outputs, recycled.inputs)).toMatchObject({ changes: "some" });
    expect(back.output()).toContain(`may not have completed a restart of the workers of endpoint ${first.id}`);
    const said = back.output().length;
    expect(await back.diff(first.id, recycled.outputs, recycled.inputs)).toMatchObject({ changes: "none" });
    expect(back.output().slice(said)).not.toContain("may not have completed");
    expect(emulator.endpoints.get(first.id)).toMatchObject(DEFAULTS);
  } finally {
    await back.stop();
  }
}, 120_000);

test("the comparisons share the requests for endpoints that a cut list leaves out", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  for (let index = 0; index < 400; index++)
    emulator.endpoints.create({ name: `other-${index}`, gpuIds: "AMPERE_24", templateId: "t" });
  const first = await startDynamicProvider(emulator.env);
  const hidden = await Promise.all(
    [1, 2, 3, 4, 5, 6].map((index) => up(first, inputsOf({ workersMax: 2 }, index), undefined)),
  );
  await first.stop();
  emulator.endpoints.change(hidden[5]?.id ?? "", { workersMin: 0, workersMax: 0 });
  emulator.journal.clear();
  const provider = await startDynamicProvider(newMachine(emulator));
  try {
    const found: object[] = [];
    for (const { id, outputs, inputs } of hidden) found.push(await provider.diff(id, outputs, inputs));
    expect(found).toMatchObject(["none", "none", "none", "none", "none", "some"].map((changes) => ({ changes })));
    // The list, the names over REST v2, and the rest by their ids.
    expect(emulator.journal.requests()).toHaveLength(3);
  } finally {
    await provider.stop();
  }
}, 120_000);
