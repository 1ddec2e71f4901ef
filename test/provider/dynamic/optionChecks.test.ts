import {
  customTimeoutsWarning,
  ignoredElementWarnings,
  resourceOptionProblems,
} from "../../../provider/dynamic/program/optionChecks";

test("an ignored list element causes a warning, but an ignored field or other property does not", () => {
  const ignoreChanges = ["gpuIds[1]", "locations[0]", 'gpuIds["0"]', "gpuIds", "workersMax", "tags[0]"];
  expect(ignoredElementWarnings({ ignoreChanges })).toEqual([
    expect.stringMatching(/"gpuIds\[1\]" has no effect.*Name the whole field, "gpuIds"$/),
    expect.stringMatching(/"locations\[0\]" has no effect.*Name the whole field, "locations"$/),
    expect.stringMatching(/has no effect.*Name the whole field, "gpuIds"$/),
  ]);
  expect(ignoredElementWarnings({})).toEqual([]);
});

test("customTimeouts cause a warning that names the alternative", () => {
  expect(customTimeoutsWarning("ServerlessEndpoint", { customTimeouts: { delete: "1h" } })).toEqual([
    expect.stringMatching(/^customTimeouts has no effect.*drainTimeout.*awaitReadyTimeout/),
  ]);
  expect(customTimeoutsWarning("ServerlessEndpoint", { customTimeouts: {} })).toEqual([]);
  expect(customTimeoutsWarning("ServerlessEndpoint", {})).toEqual([]);
});

test("the import option is refused with a message that names the alternative", () => {
  const message = expect.stringMatching(
    /^a ServerlessEndpoint cannot be imported. Remove the option import: set adoptId/,
  );
  expect(resourceOptionProblems("ServerlessEndpoint", {}, { import: "abc" })).toEqual([{ property: "", message }]);
  expect(resourceOptionProblems("ServerlessEndpoint", {}, {})).toEqual([]);
});

test("ignoreChanges on worker counts is refused together with a schedule, and ignoreChanges on other fields is not", () => {
  const schedule = { timeZone: "UTC", rules: [{ cron: "0 8 * * *", workersMin: 1 }] };
  const problems = (args: object, ignoreChanges: string[]) =>
    resourceOptionProblems("ServerlessEndpoint", args, { ignoreChanges });
  for (const ignored of ["workersMin", "workersMax", '["workersMin"]', "*"]) {
    expect(problems({ schedule }, ["env", ignored])).toEqual([
      { property: "", message: expect.stringContaining(`so ignoreChanges cannot contain ${ignored}: remove that`) },
    ]);
    expect(problems({}, [ignored])).toEqual([]);
  }
  expect(problems({ schedule }, ["env", "workersStandby", "schedule"])).toEqual([]);
});
