import { configure } from "../../../provider/connection/connection";
import { runInstant } from "../../../provider/connection/runInstant";
import { ENDPOINT_INPUTS } from "../../../provider/endpoint/endpointInputs";
import { type Properties, UNKNOWN } from "../../../provider/engine/properties";
import { checkRecordInputs } from "../../../provider/fields/recordInputs";

const MINIMAL = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };
const DAY = { cron: "0 8 * * 1-5", workersMin: 2, workersMax: 8 };
const NIGHT = { cron: "0 20 * * 1-5", workersMin: 0 };
const IN_BERLIN = { timeZone: "Europe/Berlin", rules: [DAY, NIGHT] };

/** A Friday afternoon, its evening and a Monday morning in Berlin. */
const [AFTERNOON, EVENING, MONDAY] = ["2026-11-27T14:00+01:00", "2026-11-27T20:00+01:00", "2026-11-30T08:00+01:00"];

afterEach(() => {
  delete process.env.SERVERLESS_GPU_NOW;
});

/** Returns the checked inputs and the problems of a program at an instant. */
function checkAt(instant: string, newInputs: Properties, oldInputs: Properties = {}) {
  process.env.SERVERLESS_GPU_NOW = instant;
  const { inputs, problems } = checkRecordInputs(
    ENDPOINT_INPUTS,
    oldInputs,
    { __provider: "", ...MINIMAL, ...newInputs },
    () => undefined,
  );
  return { inputs, problems: problems.map(({ property, message }) => `${property}: ${message}`) };
}

function countsAt(instant: string, newInputs: Properties, oldInputs?: Properties) {
  const { inputs, problems } = checkAt(instant, newInputs, oldInputs);
  expect(problems).toEqual([]);
  return [inputs.workersMin, inputs.workersMax];
}

describe("the worker counts of a run", () => {
  test("the worker counts of a run are those of the rule that holds, and the endpoint's own where the rule leaves one out", () => {
    const program = { schedule: IN_BERLIN, workersMax: 3 };
    expect(countsAt(AFTERNOON, program)).toEqual([2, 8]);
    expect(countsAt(EVENING, program)).toEqual([0, 3]);
    expect(countsAt(MONDAY, program)).toEqual([2, 8]);
  });

  test("the worker counts of a run are not those of the last run, whose counts state holds as inputs", () => {
    const program = { schedule: IN_BERLIN, workersMax: 3 };
    const { inputs } = checkAt(AFTERNOON, program);
    expect(countsAt(EVENING, program, inputs)).toEqual([0, 3]);
  });

  test("the worker counts of a run leave a count alone that no rule decides", () => {
    const rules = [
      { cron: "0 8 * * *", workersMin: 1 },
      { cron: "0 20 * * *", workersMin: 0 },
    ];
    const schedule = { timeZone: "UTC", rules };
    expect(countsAt(AFTERNOON, { schedule })).toEqual([1, undefined]);
    // It was removed from the program, so it returns to its default.
    expect(countsAt(AFTERNOON, { schedule }, checkAt(AFTERNOON, { schedule, workersMax: 7 }).inputs)).toEqual([1, 3]);
  });

  test("the worker counts of a run return to their defaults when the program removes the schedule", () => {
    const { inputs } = checkAt(AFTERNOON, { schedule: IN_BERLIN, workersMax: 5 });
    expect(countsAt(AFTERNOON, {}, inputs)).toEqual([0, 3]);
  });

  test("the worker counts of a run are the rule's when recycleWorkers is set, which otherwise uses the defaults", () => {
    const rules = [{ cron: "0 8 * * *", workersMin: 1 }];
    expect(countsAt(AFTERNOON, { schedule: { timeZone: "UTC", rules }, recycleWorkers: true })).toEqual([1, 3]);
  });
});

test("state holds the schedule with all counts of every rule, so that it changes with the endpoint's own counts only", () => {
  const complete = (workersMax: number) => ({ timeZone: "Europe/Berlin", rules: [DAY, { ...NIGHT, workersMax }] });
  const at = (instant: string, workersMax: number) => checkAt(instant, { schedule: IN_BERLIN, workersMax }).inputs;
  expect(at(AFTERNOON, 3).schedule).toEqual(complete(3));
  expect(at(EVENING, 3).schedule).toEqual(complete(3));
  expect(at(EVENING, 4).schedule).toEqual(complete(4));
});

describe("values that are not known in a preview", () => {
  test("values that are not known in a preview leave open the counts that an unknown rule decides", () => {
    const rules = [{ ...DAY, workersMin: UNKNOWN }, NIGHT];
    expect(countsAt(AFTERNOON, { workersMax: 3, schedule: { ...IN_BERLIN, rules } })).toEqual([UNKNOWN, UNKNOWN]);
    expect(countsAt(AFTERNOON, { schedule: UNKNOWN })).toEqual([UNKNOWN, UNKNOWN]);
  });

  test("values that are not known in a preview leave open the endpoint's own count only while it holds", () => {
    const program = { schedule: IN_BERLIN, workersMax: UNKNOWN };
    expect(countsAt(AFTERNOON, program)).toEqual([2, 8]);
    expect(countsAt(EVENING, program)).toEqual([0, UNKNOWN]);
  });
});

describe("a wrong schedule is refused:", () => {
  const rulesOf = (...rules: unknown[]) => ({ schedule: { timeZone: "UTC", rules }, workersMax: 3 });
  const cron = (text: unknown) => rulesOf({ cron: text, workersMin: 1 });

  test("a wrong time of the run is not a problem of its rules", () => {
    const notATime = /^SERVERLESS_GPU_NOW must be a time with Z or an offset, .* it is "yesterday"$/;
    expect(() => checkAt("yesterday", cron("7 7 * * *"))).toThrow(notATime);
  });

  test.each<[string, Properties, RegExp]>([
    ["no object", { schedule: "0 8 * * *" }, /^schedule: must be an object with timeZone and rules$/],
    ["no time zone", { schedule: { rules: [DAY] } }, /^schedule.timeZone: must be an IANA time zone, such as/],
    [
      "an unknown time zone",
      { schedule: { timeZone: "Europe/Berlim", rules: [DAY] } },
      /^schedule.timeZone: .*; it is "Europe\/Berlim". Did you mean Europe\/Berlin\?$/,
    ],
    [
      "a misspelt property",
      { schedule: { ...IN_BERLIN, tz: 1 }, workersMax: 1 },
      /^schedule.tz: .*Allowed: timeZone, rules/,
    ],
    ["no rules", { schedule: { timeZone: "UTC", rules: [] } }, /^schedule.rules: must be a list of 1 to 100 rules$/],
    [
      "101 rules",
      rulesOf(...Array.from({ length: 101 }, (_, at) => ({ cron: `${at % 60} ${at % 24} * * *`, workersMin: 1 }))),
      /^schedule.rules: must be a list of 1 to 100 rules; it has 101$/,
    ],
    ["a rule that is no object", rulesOf("0 8 * * *"), /^schedule.rules\[0\]: must be an object with cron, and with/],
    ["a rule without counts", rulesOf({ cron: "0 8 * * *" }), /^schedule.rules\[0\]: must be an object with cron, and/],
    [
      "a misspelt count",
      rulesOf({ ...DAY, workerMin: 1 }),
      /^schedule.rules\[0\].workerMin: .*Did you mean workersMin\?/,
    ],
    [
      "a count that is no number",
      rulesOf({ ...DAY, workersMin: "2" }),
      /^schedule.rules\[0\].workersMin: must be a whole/,
    ],
    [
      "a negative count",
      rulesOf({ ...DAY, workersMin: -1 }),
      /^schedule.rules\[0\].workersMin: must be a whole number/,
    ],
    ["NaN", rulesOf({ ...DAY, workersMax: Number.NaN }), /^schedule.rules\[0\].workersMax: must be a whole number/],
    ["a cron that is no text", cron(8), /^schedule.rules\[0\].cron: must be five cron fields/],
    ["a cron with four fields", cron("0 8 * *"), /^schedule.rules\[0\].cron: must be five cron fields .* "0 8 \* \*"/],
    ["a cron with seconds", cron("0 0 8 * * *"), /^schedule.rules\[0\].cron: must be five cron fields/],
    ["a date", cron("2099-01-01T00:00:00"), /^schedule.rules\[0\].cron: must be five cron fields .* "2099-01-01T/],
    ["a nickname", cron("@daily"), /^schedule.rules\[0\].cron: must be five cron fields .*; it is "@daily"$/],
    ["a sign that other crons do not know", cron("0 0 L * *"), /^schedule.rules\[0\].cron: must be five cron fields/],
    ["an hour that does not exist", cron("0 24 * * *"), /^schedule.rules\[0\].cron: .*\(Invalid value for hour: 24\)/],
    ["a day that does not exist", cron("0 0 30 2 *"), /^schedule.rules\[0\].cron: never fires: no date matches/],
    ["too many times", cron("* * * * *"), /^schedule.rules: fire more than 10,000 times a year: use hours/],
    [
      "two rules in one minute",
      rulesOf(DAY, { cron: "0 8 1 * *", workersMin: 1 }),
      /^schedule.rules: contradict each other: "0 8 \* \* 1-5" and "0 8 1 \* \*" both fire at 1 Dec 2026, 08:00 \(UTC\)/,
    ],
    [
      "a count that the endpoint must set",
      { schedule: IN_BERLIN },
      /^workersMax: is required, because schedule.rules\[1\] leaves it out and another rule sets it$/,
    ],
    [
      "more workersMin than workersMax in a rule that does not hold",
      { schedule: { timeZone: "UTC", rules: [{ ...DAY, workersMin: 9 }, NIGHT] }, workersMax: 3 },
      /^schedule.rules\[0\] \("0 8 \* \* 1-5"\): workersMin is 9, more than workersMax \(8\)/,
    ],
    [
      "more workersMin than the endpoint's own workersMax",
      { schedule: { timeZone: "UTC", rules: [{ cron: "0 8 * * *", workersMin: 4 }] }, workersMax: 3 },
      /^schedule.rules\[0\] \("0 8 \* \* \*"\): workersMin is 4, more than workersMax \(3\)/,
    ],
    [
      "less workersMax than the endpoint's own workersMin",
      {
        schedule: {
          timeZone: "UTC",
          rules: [
            { cron: "0 7 * * *", workersMax: 2 },
            { ...DAY, workersMin: undefined },
          ],
        },
        workersMin: 3,
      },
      /^schedule.rules\[0\] \("0 7 \* \* \*"\): workersMin is 3, more than workersMax \(2\)/,
    ],
    [
      "a secret",
      { schedule: IN_BERLIN, workersMax: 3, __secretInputs: "schedule.rules" },
      /^schedule: cannot be combined with secret values/,
    ],
    [
      "a secret count",
      { schedule: IN_BERLIN, workersMax: 3, __secretInputs: "workersMax" },
      /^schedule: cannot be combined with secret values/,
    ],
  ])("%s", (_, program, message) => {
    const { problems } = checkAt(EVENING, program);
    expect(problems.filter((problem) => message.test(problem))).toHaveLength(1);
  });

  test("two rules that only a clock change moves into one minute", () => {
    const rules = [
      { cron: "30 2 * * *", workersMin: 1 },
      { cron: "0 3 * * *", workersMin: 0 },
    ];
    expect(checkAt(EVENING, { schedule: { timeZone: "Europe/Berlin", rules } }).problems).toEqual([
      expect.stringContaining("both fire at 28 Mar 2027, 03:00 (Europe/Berlin)"),
    ]);
  });

  test("a wrong SERVERLESS_GPU_NOW, which a run without a schedule ignores", () => {
    for (const instant of ["tomorrow", "2026-11-27", "2026-11-27T14:00", "2026-13-27T14:00Z"]) {
      expect(() => checkAt(instant, { schedule: IN_BERLIN, workersMax: 3 })).toThrow(
        /SERVERLESS_GPU_NOW must be a time with Z or an offset/,
      );
      expect(checkAt(instant, {}).problems).toEqual([]);
    }
  });
});

test("all endpoints of a deployment share the instant at which it began, however long it takes", async () => {
  const get = () => undefined;
  await configure({ config: { get, require: String } });
  const begun = runInstant();
  const now = jest.spyOn(Date, "now").mockReturnValue(begun + 7_200_000);
  expect(runInstant()).toBe(begun);
  now.mockRestore();
});
