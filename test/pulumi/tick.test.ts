import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { IS_EVERYWHERE } from "../support/everywhere";
import { startService } from "../support/rollOuts";
import type { PulumiStack } from "./harness";
import { killProcessesIn } from "./processes";
import { commit, countsAt, createRepository, type Declared, git, programOf, stepAt, updatesOf } from "./ticking";

const SCHEDULE = `workersMax: 3, schedule: { timeZone: "Europe/Berlin", rules: [
  { cron: "0 8 * * 1-5", workersMin: 2, workersMax: 8 },
  { cron: "0 20 * * 1-5", workersMin: 0 },
] }`;
const BOTH: Declared[] = [
  { name: "llama", form: "npm", args: SCHEDULE },
  { name: "whisper", form: "plugin", args: SCHEDULE },
  { name: "fixed", form: "npm", args: "workersMax: 4" },
];
const [DAY, NIGHT, NEXT_DAY] = ["2026-11-27T14:00+01:00", "2026-11-27T20:00+01:00", "2026-11-30T08:15+01:00"];
const BY_DAY = { fixed: [0, 4], llama: [2, 8], whisper: [2, 8] };
const BY_NIGHT = { fixed: [0, 4], llama: [0, 3], whisper: [0, 3] };

let emulator: Emulator;
let stack: PulumiStack;

// Each test begins with the counts of the day at the service and in the state.
beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  stack = await createRepository(emulator, programOf(BOTH));
  await up(DAY);
});
beforeEach(() => {
  expect(countsAt(emulator)).toEqual(BY_DAY);
});
afterAll(() => emulator.stop());

const tick = (instant: string) => stepAt(stack, instant, ["tick"]);
const up = async (instant: string) => expect(await stepAt(stack, instant, ["up"])).toMatchObject({ exitCode: 0 });

/** Changes the program without a commit, as a merge that was not deployed would. */
const change = (program: string) => writeFile(path.join(stack.folder, "index.js"), program);

/** Changes an endpoint's counts elsewhere. */
function setCounts(name: string, [workersMin, workersMax]: readonly [number, number]) {
  const id = emulator.endpoints.list().find((each) => each.name.startsWith(`${name}-`))?.id ?? "";
  emulator.endpoints.change(id, { workersMin, workersMax });
}

test("a dry run lists the changes of a month, and changes nothing", async () => {
  emulator.journal.clear();
  const { exitCode, stdout } = await stepAt(stack, DAY, [
    ..."tick --dry-run --from 2027-03-26T12:00+01:00 --to 2027-03-30T12:00+02:00".split(" "),
  ]);
  expect(exitCode).toBe(0);
  expect(stdout.split("\n").filter((line) => line.includes("llama"))).toEqual([
    "Fri 2027-03-26 12:00 Europe/Berlin  llama  workersMin 2, workersMax 8  (0 8 * * 1-5)",
    "Fri 2027-03-26 20:00 Europe/Berlin  llama  workersMin 0, workersMax 3  (0 20 * * 1-5)",
    "Mon 2027-03-29 08:00 Europe/Berlin  llama  workersMin 2, workersMax 8  (0 8 * * 1-5)",
    "Mon 2027-03-29 20:00 Europe/Berlin  llama  workersMin 0, workersMax 3  (0 20 * * 1-5)",
    "Tue 2027-03-30 08:00 Europe/Berlin  llama  workersMin 2, workersMax 8  (0 8 * * 1-5)",
  ]);
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
});

test("a tick whose preview fails prints its messages only, and changes nothing", async () => {
  const refused = await stepAt(stack, NIGHT, ["tick"], { SERVERLESS_GPU_API_KEY: "wrong" });
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toMatch(/^error: .*401.* Check that the API key is right/m);
  expect(refused.output).toContain("pipeline.sh: the preview failed, so nothing was changed\n");
  expect(refused.output).not.toMatch(/"severity"|more than scheduled worker counts/);
});

test("a plan of the day is refused at night, and the message names its instant", async () => {
  const PLAN = path.join(stack.scratch, "plan/plan.json");
  expect(await stepAt(stack, DAY, ["preview"], { PLAN })).toMatchObject({ exitCode: 0 });
  expect((await readFile(`${PLAN}.instant`, "utf8")).trim()).toBe("2026-11-27T13:00:00.000Z");
  const refused = await stepAt(stack, NIGHT, ["up"], { PLAN });
  expect(refused.exitCode).toBe(1);
  expect(refused.output).toMatch(/or another rule of a\nschedule holds than at 2026-11-27T13:00:00.000Z\n/);
  expect(countsAt(emulator)).toEqual(BY_DAY);
  expect(await stepAt(stack, "2026-11-27T19:45+01:00", ["up"], { PLAN })).toMatchObject({ exitCode: 0 });
});

test("a tick refuses updates without a list of fields: those of endpoints in both forms that were switched off elsewhere", async () => {
  for (const name of ["llama", "whisper"]) setCounts(name, [0, 0]);
  const refused = await tick(DAY);
  expect(refused.exitCode).toBe(1);
  for (const name of ["llama", "whisper"])
    expect(refused.output).toContain(`update ${name}: the preview lists no fields\n`);
  const reason = "is scaled to zero instead of workersMin 2 and workersMax 8";
  expect(refused.output.split(reason).length - 1).toBeGreaterThanOrEqual(2);
  expect(countsAt(emulator)).toMatchObject({ llama: [0, 0], whisper: [0, 0] });
  for (const name of ["llama", "whisper"]) setCounts(name, [2, 8]);
});

test("a tick, or two at once, apply in both forms the counts of the rule that holds, and only those of the commit that was deployed last", async () => {
  const deployed = (await git(stack, "rev-parse", "HEAD")).trim();
  await change(programOf(BOTH, "// Merged, but not deployed."));
  const merged = await commit(stack, "Merge");
  expect((await stepAt(stack, DAY, ["deployed"])).stdout.trim()).toBe(deployed);
  const refused = await tick(NIGHT);
  expect(refused).toMatchObject({ exitCode: 1 });
  expect(refused.output).toContain(`this is commit ${merged}, and the last up that succeeded was of ${deployed}`);
  expect(countsAt(emulator)).toEqual(BY_DAY);
  await git(stack, "checkout", "--quiet", deployed);

  const applied = await tick(NIGHT);
  expect(applied).toMatchObject({ exitCode: 0 });
  expect(applied.output).toContain("update llama: workersMax 8 → 3, workersMin 2 → 0\n");
  expect(applied.output).toContain("update whisper: workersMax 8 → 3, workersMin 2 → 0\n");
  expect(countsAt(emulator)).toEqual(BY_NIGHT);
  const updates = await updatesOf(stack);
  expect(await tick(NIGHT)).toMatchObject({ exitCode: 0 });
  expect(await updatesOf(stack)).toBe(updates);

  const both = await Promise.all([tick(NEXT_DAY), tick(NEXT_DAY)]);
  expect(both.map(({ exitCode }) => exitCode)).toContain(0);
  expect(countsAt(emulator)).toEqual(BY_DAY);
  expect(await tick(NEXT_DAY)).toMatchObject({ exitCode: 0 });
});

const REFUSED = { exitCode: 1, output: expect.stringContaining("more than scheduled worker counts differs") };

test("a tick shows and leaves whatever else differs, and applies the counts of endpoints of which nothing else differs", async () => {
  const program = programOf(BOTH);
  await change(program.replace('gpuIds: "AMPERE_24"', 'gpuIds: "ADA_24"'));
  // No schedule concerns this endpoint, which stays at zero.
  setCounts("fixed", [0, 0]);
  const other = await tick(NIGHT);
  expect(other).toMatchObject(REFUSED);
  expect(other.output).toContain("update llama: gpuIds, workersMax 8 → 3, workersMin 2 → 0\n");
  expect(other.output).toContain("update fixed: the preview lists no fields\n");
  expect(countsAt(emulator)).toEqual({ llama: BY_DAY.llama, whisper: BY_NIGHT.whisper, fixed: [0, 0] });
  expect(emulator.endpoints.list().map(({ gpuIds }) => gpuIds)).toEqual(["AMPERE_24", "AMPERE_24", "AMPERE_24"]);
  await change(program);
  const updates = await updatesOf(stack);
  for (let at = 0; at < 2; at += 1) {
    const left = await tick(NEXT_DAY);
    expect(left).toMatchObject(REFUSED);
    expect(left.output).toContain("update fixed: the preview lists no fields\n");
    expect(countsAt(emulator)).toEqual({ ...BY_DAY, fixed: [0, 0] });
  }
  // The second of these ticks ran no update.
  expect(await updatesOf(stack)).toBe(updates + 1);
  expect(await stepAt(stack, NEXT_DAY, ["repair"])).toMatchObject({ exitCode: 0 });
});

/** `npm run test:everywhere` and the campaign of schedules (test/faults) kill ticks on both. */
const MACHINES = [
  ["another machine", true],
  ["the same machine", false],
] as const;

test.each(
  MACHINES.slice(0, IS_EVERYWHERE ? 2 : 1),
)("a tick on %s after a killed one reads the service first, so that no rule is missed", async (_, isOther) => {
  emulator.journal.clear();
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true, when: "after" } });
  const killed = tick(NIGHT);
  const held = () => emulator.journal.requests({ outcome: "pending" }).filter(({ fault }) => fault?.includes("hang"));
  while (held().length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await killProcessesIn(stack.scratch);
  // Nothing of an earlier one is left to read.
  expect((await killed).output).not.toContain("refresh");
  emulator.faults.clear();
  // The service has the counts of the night, and the state those of the day.
  expect(countsAt(emulator)).toEqual(BY_NIGHT);
  await stack.run(["cancel", "--yes", "--stack", "production"]);
  if (isOther) await rm(path.join(stack.scratch, "home/.cache"), { recursive: true, force: true });
  // The tick of Monday morning, whose counts are those of the state.
  expect(await tick(NEXT_DAY)).toMatchObject({ exitCode: 0 });
});

test("a tick after one that has read the service does not read it again", async () => {
  expect((await tick(NEXT_DAY)).output).not.toContain("refresh");
});

test("a rollout that fails while another rule begins to hold restores the counts from before, and the next tick applies the rule", async () => {
  await using service = await startService();
  const env = { SERVERLESS_GPU_API: "v2", SERVERLESS_GPU_SERVICE: "runpod" };
  const rollOut = 'rollOut: { test: { input: { prompt: "2 + 2 =" }, expectedOutput: { text: "4" }, timeout: 60 } }';
  const program = (imageName: string) =>
    programOf([{ ...BOTH[0], args: `${SCHEDULE}, ${rollOut}`, imageName } as Declared]);
  const own = await createRepository(service, program("me/llama-good"), env);
  const deployed = (await git(own, "rev-parse", "HEAD")).trim();
  expect(await stepAt(own, NIGHT, ["up"])).toMatchObject({ exitCode: 0 });
  await own.writeFile("index.js", program("me/llama-wrong"));
  await commit(own, "Release");
  const failed = await stepAt(own, NEXT_DAY, ["up"]);
  expect(failed.exitCode).not.toBe(0);
  expect(failed.output).toContain("The previous settings were saved again");
  expect(countsAt(service)).toEqual({ llama: [0, 3] });
  await git(own, "checkout", "--quiet", deployed);
  expect(await stepAt(own, NEXT_DAY, ["tick"])).toMatchObject({ exitCode: 0 });
  expect(countsAt(service)).toEqual({ llama: [2, 8] });
  await own.dispose();
});

test("a tick refuses other counts, new resources and deletions, and applies other counts if the program has asked for what was spent", async () => {
  const [llama, whisper, fixed] = BOTH as [Declared, Declared, Declared];
  const added: Declared = { name: "new", form: "npm", args: "" };
  await change(programOf([llama, { ...fixed, args: "workersMax: 5" }, added]));
  const refused = await tick(DAY);
  expect(refused).toMatchObject(REFUSED);
  for (const line of ["update fixed: workersMax 4 → 5\n", "create new: ", "delete whisper: "]) {
    expect(refused.output).toContain(line);
  }
  expect(countsAt(emulator)).toEqual(BY_DAY);

  const spent = 'pulumi.log.info("getSpend: $500.00 from 2026-11-01");';
  await change(programOf([llama, whisper, { ...fixed, args: "workersMax: 0" }], spent));
  expect(await tick(DAY)).toMatchObject({ exitCode: 0 });
  expect(countsAt(emulator)).toEqual({ ...BY_DAY, fixed: [0, 0] });
});
