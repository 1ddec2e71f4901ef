import { customTimeoutsWarning, ignoredElementWarnings, refuseImport } from "../../../provider/program/optionChecks";

test("an element of a list that is to be ignored is warned of, a whole field and other properties are not", () => {
  const ignoreChanges = ["gpuIds[1]", "locations[0]", 'gpuIds["0"]', "gpuIds", "workersMax", "tags[0]"];
  expect(ignoredElementWarnings({ ignoreChanges })).toEqual([
    expect.stringMatching(/"gpuIds\[1\]" has no effect.*name the whole field, "gpuIds"$/),
    expect.stringMatching(/"locations\[0\]" has no effect.*name the whole field, "locations"$/),
    expect.stringMatching(/has no effect.*name the whole field, "gpuIds"$/),
  ]);
  expect(ignoredElementWarnings({})).toEqual([]);
});

test("customTimeouts are warned of with what works instead", () => {
  expect(customTimeoutsWarning("ServerlessEndpoint", { customTimeouts: { delete: "1h" } })).toEqual([
    expect.stringMatching(/^customTimeouts has no effect.*drainTimeout.*awaitReadyTimeout/),
  ]);
  expect(customTimeoutsWarning("ServerlessEndpoint", { customTimeouts: {} })).toEqual([]);
  expect(customTimeoutsWarning("ServerlessEndpoint", {})).toEqual([]);
});

test("the option import is refused with what to do instead", () => {
  expect(() => refuseImport("ServerlessEndpoint", "llama", { import: "abc" })).toThrow(
    /^"llama": a ServerlessEndpoint cannot be imported. Remove the option import: set adoptId/,
  );
  expect(() => refuseImport("ServerlessEndpoint", "llama", {})).not.toThrow();
});
