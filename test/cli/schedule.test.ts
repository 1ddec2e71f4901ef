import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { schedule } from "../../cli/schedule/schedule";
import { UNKNOWN } from "../../provider/engine/properties";
import { step } from "./check/previews";
import { run } from "./command";

const RULES = [
  { cron: "0 8 * * 1-5", workersMin: 2, workersMax: 8 },
  { cron: "0 20 * * 1-5", workersMin: 0, workersMax: 3 },
  // Repeats what holds, so it is no change.
  { cron: "0 22 * * 1-5", workersMin: 0, workersMax: 3 },
];
const ARGS = { gpuIds: "ADA_24", templateId: "app" };
const DECEMBER = { from: Date.parse("2026-12-01"), to: Date.parse("2026-12-03T00:00+01:00") };

let folder: string;
let printed: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "schedule-"));
  printed = "";
  jest.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += text;
    return true;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Returns the file of a preview with these steps. */
function previewOf(...steps: object[]): string {
  const file = path.join(folder, "preview.json");
  writeFileSync(file, JSON.stringify({ steps, changeSummary: {} }));
  return file;
}

const scheduled = (name: string, timeZone: string, form: "dynamic" | "plugin" = "dynamic") =>
  step("create", name, { inputs: { ...ARGS, schedule: { timeZone, rules: RULES } }, form });

test("schedule lists what holds at the beginning and each change of several endpoints, in order, in both forms", async () => {
  const file = previewOf(
    scheduled("llama", "Europe/Berlin"),
    scheduled("whisper", "UTC", "plugin"),
    step("create", "fixed", { inputs: ARGS }),
  );
  expect(await schedule(file, DECEMBER)).toBe(0);
  expect(printed.trimEnd().split("\n")).toEqual([
    "Tue 2026-12-01 01:00 Europe/Berlin  llama  workersMin 0, workersMax 3  (0 22 * * 1-5)",
    "Tue 2026-12-01 00:00 UTC  whisper  workersMin 0, workersMax 3  (0 22 * * 1-5)",
    "Tue 2026-12-01 08:00 Europe/Berlin  llama  workersMin 2, workersMax 8  (0 8 * * 1-5)",
    "Tue 2026-12-01 08:00 UTC  whisper  workersMin 2, workersMax 8  (0 8 * * 1-5)",
    "Tue 2026-12-01 20:00 Europe/Berlin  llama  workersMin 0, workersMax 3  (0 20 * * 1-5)",
    "Tue 2026-12-01 20:00 UTC  whisper  workersMin 0, workersMax 3  (0 20 * * 1-5)",
    "Wed 2026-12-02 08:00 Europe/Berlin  llama  workersMin 2, workersMax 8  (0 8 * * 1-5)",
    "Wed 2026-12-02 08:00 UTC  whisper  workersMin 2, workersMax 8  (0 8 * * 1-5)",
    "Wed 2026-12-02 20:00 Europe/Berlin  llama  workersMin 0, workersMax 3  (0 20 * * 1-5)",
    "Wed 2026-12-02 20:00 UTC  whisper  workersMin 0, workersMax 3  (0 20 * * 1-5)",
  ]);
});

test("schedule prints JSON with instants in UTC", async () => {
  const file = previewOf(scheduled("llama", "Europe/Berlin"));
  await schedule(file, { ...DECEMBER, to: Date.parse("2026-12-01T12:00Z"), json: true });
  expect(JSON.parse(printed)).toEqual([
    { at: "2026-12-01T00:00:00.000Z", endpoint: "llama", cron: "0 22 * * 1-5", workersMin: 0, workersMax: 3 },
    { at: "2026-12-01T07:00:00.000Z", endpoint: "llama", cron: "0 8 * * 1-5", workersMin: 2, workersMax: 8 },
  ]);
});

test("schedule lists a replaced endpoint once, and names those whose schedule is not known yet", async () => {
  const said = jest.spyOn(process.stderr, "write").mockReturnValue(true);
  const rules = [{ cron: "0 8 * * *", workersMin: UNKNOWN }];
  const file = previewOf(
    step("create-replacement", "llama", { inputs: { ...ARGS, schedule: { timeZone: "UTC", rules: RULES } } }),
    step("replace", "llama", { inputs: { ...ARGS, schedule: { timeZone: "UTC", rules: RULES } } }),
    step("create", "open", { inputs: { ...ARGS, schedule: UNKNOWN } }),
    step("create", "part", { inputs: { ...ARGS, schedule: { timeZone: "UTC", rules } } }),
  );
  await schedule(file, { ...DECEMBER, to: Date.parse("2026-12-01T12:00Z") });
  expect(printed.trimEnd().split("\n")).toEqual([
    "Tue 2026-12-01 00:00 UTC  llama  workersMin 0, workersMax 3  (0 22 * * 1-5)",
    "Tue 2026-12-01 08:00 UTC  llama  workersMin 2, workersMax 8  (0 8 * * 1-5)",
  ]);
  expect(said.mock.calls.flat()).toEqual([
    "the changes of open are not listed: its schedule is not known before pulumi up\n",
    "the changes of part are not listed: its schedule is not known before pulumi up\n",
  ]);
});

test("schedule says so if no endpoint has a schedule, and refuses a file that is no preview", async () => {
  const file = previewOf(step("create", "fixed", { inputs: ARGS }));
  await schedule(file, {});
  expect(printed).toBe("no endpoint of the preview has a schedule\n");
  writeFileSync(file, "no JSON");
  await expect(schedule(file, {})).rejects.toThrow("the preview is not JSON");
});

test.each([
  [["--from", "tomorrow"], "It must be a time, such as 2026-12-01T08:00+01:00."],
  [["--from", "2026-12-02", "--to", "2026-12-01"], "option '--to' must be later than '--from'"],
])("schedule refuses %p as wrong usage", async (options, message) => {
  jest.restoreAllMocks();
  const { code, stderr } = await run("schedule", previewOf(), ...options);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});
