import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../../emulator";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";
import { startPlugin } from "../../support/plugin";

const RULES = [
  { cron: "0 8 * * 1-5", workersMin: 2, workersMax: 8 },
  { cron: "0 20 * * 1-5", workersMin: 0, workersMax: 0 },
];
const SCHEDULE = { timeZone: "Europe/Berlin", rules: RULES };
const INPUTS = { name: "llama", gpuIds: "ADA_24", imageName: "me/llama:1", schedule: SCHEDULE };
const [DAY, NIGHT] = ["2026-11-27T14:00+01:00", "2026-11-27T22:00+01:00"];

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
});
afterEach(() => emulator.stop());

/** A run of the npm form at an instant, as a process of its own. */
const runAt = (instant: string, env: Readonly<Record<string, string>> = {}) =>
  startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_NOW: instant, ...env });

/** Creates the endpoint by day. */
async function createdByDay(inputs: Properties = INPUTS) {
  await using one = await runAt(DAY);
  const checked = await one.check({}, inputs);
  expect(checked.failures).toEqual([]);
  return { ...(await one.create(checked.inputs)), inputs: checked.inputs };
}

const countsOf = (id: string) => {
  const { workersMin, workersMax } = emulator.endpoints.get(id) ?? {};
  return [workersMin, workersMax];
};

test("a run at night writes the counts of the night once, says which rule does it, and the next run changes nothing", async () => {
  const { id, outputs, inputs } = await createdByDay();
  expect(countsOf(id)).toEqual([2, 8]);
  emulator.journal.clear();
  await using night = await runAt(NIGHT);
  const checked = await night.check(inputs, INPUTS);
  const difference = await night.diff(id, outputs, checked.inputs);
  // Without `changes`, the engine shows each field.
  expect(difference).toMatchObject({ changes: "unknown", replaces: [] });
  const updated = await night.update(id, outputs, checked.inputs);
  expect(countsOf(id)).toEqual([0, 0]);
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toHaveLength(1);
  await sleep(200);
  expect(night.output()).toContain(
    "serverless-gpu: the schedule sets workersMin 0 and workersMax 0 (0 20 * * 1-5, until Mon 08:00)",
  );
  expect(night.output()).toContain(
    "llama: workersMin 2 → 0, workersMax 8 → 0 (schedule: 0 20 * * 1-5, until Mon 08:00)",
  );
  expect(night.output()).not.toContain("is scaled to zero");

  await using again = await runAt(NIGHT);
  expect(await again.diff(id, updated, (await again.check(checked.inputs, INPUTS)).inputs)).toMatchObject({
    changes: "none",
  });
  // From zero, which is what the rule of the night says and no interrupted deletion.
  await using day = await runAt(DAY);
  const { inputs: news } = await day.check(checked.inputs, INPUTS);
  expect(await day.diff(id, updated, news)).toMatchObject({ changes: "unknown" });
  await day.update(id, updated, news);
  expect(countsOf(id)).toEqual([2, 8]);
  await sleep(200);
  expect(day.output()).toContain("llama: workersMin 0 → 2, workersMax 0 → 8 (schedule: 0 8 * * 1-5, until 20:00)");
  expect(day.output()).not.toContain("is scaled to zero");
});

test("a refresh keeps the schedule, and the next run repairs drift of the counts that hold", async () => {
  const { id, outputs } = await createdByDay();
  emulator.endpoints.change(id, { workersMin: 1, workersMax: 5 });
  await using refresh = await runAt(DAY);
  const read = await refresh.read(id, outputs);
  expect(read.inputs).toMatchObject({ schedule: SCHEDULE, workersMin: 1, workersMax: 5 });
  const { inputs } = await refresh.check(read.inputs, INPUTS);
  expect(await refresh.diff(id, read.outputs, inputs)).toMatchObject({ changes: "unknown" });
  await refresh.update(id, read.outputs, inputs);
  expect(countsOf(id)).toEqual([2, 8]);
});

test("counts that RunPod has lowered are reported and stay until the schedule changes them", async () => {
  const { id, outputs, inputs } = await createdByDay();
  emulator.endpoints.change(id, { workersMax: 2 });
  await using later = await runAt("2026-11-27T15:00+01:00");
  const checked = await later.check(inputs, INPUTS);
  expect(await later.diff(id, outputs, checked.inputs)).toMatchObject({ changes: "none" });
  await sleep(200);
  expect(later.output()).toContain("llama: the service has workersMax 2 instead of 8: RunPod lowers workersMax");
  expect(countsOf(id)).toEqual([2, 2]);
});

test("an endpoint that was switched off elsewhere while a rule runs workers is restored with a warning, without a list of fields", async () => {
  const { id, outputs, inputs } = await createdByDay();
  emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
  await using later = await runAt("2026-11-27T15:00+01:00");
  const checked = await later.check(inputs, INPUTS);
  expect(await later.diff(id, outputs, checked.inputs)).toMatchObject({ changes: "some" });
  await sleep(200);
  expect(later.output()).toContain("is scaled to zero instead of workersMin 2 and workersMax 8: up restores it");
});

test("a changed schedule is saved without a request while the counts stay", async () => {
  const { id, outputs, inputs } = await createdByDay();
  emulator.journal.clear();
  const changed = { ...INPUTS, schedule: { ...SCHEDULE, timeZone: "Europe/Paris" } };
  await using run = await runAt(DAY);
  const checked = await run.check(inputs, changed);
  expect(await run.diff(id, outputs, checked.inputs)).toMatchObject({ changes: "unknown" });
  const updated = await run.update(id, outputs, checked.inputs);
  expect(updated).toMatchObject({ schedule: changed.schedule, workersMin: 2, workersMax: 8 });
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
});

describe("a pinned time that is more than an hour off", () => {
  // Port 9 refuses connections, and the name is not certain to be this machine.
  const elsewhere = Object.fromEntries(
    ["GRAPHQL", "QUEUE"].map((name) => [`SERVERLESS_GPU_${name}_URL`, "http://service.invalid:9/graphql"]),
  );

  test("a pinned time that is more than an hour off is refused by create and update before any request, and accepted by check and diff", async () => {
    await using run = await runAt("2027-06-01T12:00Z", elsewhere);
    const checked = await run.check({}, INPUTS);
    expect(checked.failures).toEqual([]);
    const refused =
      /SERVERLESS_GPU_NOW is 2027-06-01T12:00:00.000Z, more than an hour from the beginning of this run .* nothing was changed/;
    await expect(run.create(checked.inputs)).rejects.toThrow(refused);
    await expect(run.update("abc", checked.inputs, checked.inputs)).rejects.toThrow(refused);
  });

  test("a pinned time that is more than an hour off is refused without a schedule, too, because getSpend then reads another month", async () => {
    const { schedule: _, ...others } = INPUTS;
    await using run = await runAt("2027-06-01T12:00Z", elsewhere);
    const checked = await run.check({}, others);
    await expect(run.create(checked.inputs)).rejects.toThrow(/SERVERLESS_GPU_NOW is 2027-06-01T12:00:00.000Z/);
  });
});

describe("the plugin", () => {
  const ONE = { kind: "ServerlessEndpoint" };
  const PUBLIC = { ...INPUTS, gpuIds: ["ADA_24"] };

  test("the plugin resolves the schedule, lists both counts as changed, and logs the rule at the resource", async () => {
    await using day = await startPlugin({ ...emulator.env, SERVERLESS_GPU_NOW: DAY });
    const { inputs } = await day.check(ONE, PUBLIC);
    const { id, outputs } = await day.create(ONE, inputs);
    expect(countsOf(id)).toEqual([2, 8]);
    await using night = await startPlugin({ ...emulator.env, SERVERLESS_GPU_NOW: NIGHT });
    const { inputs: news } = await night.check(ONE, PUBLIC, inputs);
    expect(await night.diff(ONE, id, outputs, inputs, news)).toMatchObject({
      changes: "some",
      properties: { workersMin: "update", workersMax: "update" },
    });
    await night.update(ONE, id, outputs, inputs, news);
    expect(countsOf(id)).toEqual([0, 0]);
    expect(night.lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining("workersMin 2 → 0, workersMax 8 → 0 (schedule: 0 20 * * 1-5, until Mon 08:00)"),
    );
  });

  test("the plugin refuses ignoreChanges on the counts in diff and update, before any request", async () => {
    await using plugin = await startPlugin({ ...emulator.env, SERVERLESS_GPU_NOW: DAY });
    const { inputs } = await plugin.check(ONE, PUBLIC);
    const { id, outputs } = await plugin.create(ONE, inputs);
    emulator.journal.clear();
    const refused = /schedule decides the worker counts, so ignoreChanges cannot contain workersMax/;
    const options = { ignoreChanges: ["workersMax"] };
    await expect(plugin.diff(ONE, id, outputs, inputs, inputs, options)).rejects.toThrow(refused);
    await expect(plugin.update(ONE, id, outputs, inputs, inputs, options)).rejects.toThrow(refused);
    expect(emulator.journal.operations()).toEqual([]);
  });
});

test("a rule that raises workersMin also restores the workersMax that RunPod has lowered, because it would not fit", async () => {
  const rules = [
    { cron: "0 8 * * *", workersMin: 3 },
    { cron: "0 20 * * *", workersMin: 0 },
  ];
  const program = { ...INPUTS, schedule: { timeZone: "Europe/Berlin", rules }, workersMax: 8 };
  await using night = await runAt(NIGHT);
  const { inputs } = await night.check({}, program);
  const { id, outputs } = await night.create(inputs);
  emulator.endpoints.change(id, { workersMax: 2 });
  await using day = await runAt(DAY);
  const { inputs: news } = await day.check(inputs, program);
  await day.update(id, outputs, news);
  expect(countsOf(id)).toEqual([3, 8]);
  await sleep(200);
  expect(day.output()).toContain(
    "also sets workersMax 8: it is 2 at the service, and workersMin cannot exceed workersMax",
  );
});
