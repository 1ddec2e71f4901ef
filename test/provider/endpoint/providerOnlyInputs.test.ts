import { adoptsOther, refuseOtherId } from "../../../provider/adoption/adoption";
import { ENDPOINT_INPUTS } from "../../../provider/endpoint/endpointInputs";
import { type Properties, UNKNOWN } from "../../../provider/engine/properties";
import { changesOwnInputs, checkRecordInputs } from "../../../provider/fields/recordInputs";

const MINIMAL = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };

function check(newInputs: Properties, oldInputs: Properties = {}) {
  const { inputs, problems } = checkRecordInputs(
    ENDPOINT_INPUTS,
    oldInputs,
    { ...MINIMAL, ...newInputs, __provider: "text" },
    () => undefined,
  );
  return { inputs, problems: problems.map(({ property, message }) => `${property} ${message}`) };
}

describe("inputs for the provider only", () => {
  test("inputs for the provider only are kept unchanged", () => {
    const own = { adoptId: "ep-1", drainTimeout: 60, awaitReady: true, awaitReadyTimeout: 1 };
    expect(check(own)).toMatchObject({ inputs: own, problems: [] });
  });

  test("inputs for the provider only may be unknown, and null counts as unset", () => {
    expect(check({ drainTimeout: UNKNOWN, awaitReady: UNKNOWN, adoptId: UNKNOWN }).problems).toEqual([]);
    const { inputs, problems } = check({
      drainTimeout: null,
      awaitReady: null,
      awaitReadyTimeout: null,
      adoptId: null,
    });
    expect(problems).toEqual([]);
    expect(Object.keys(inputs).sort()).toEqual(["__provider", "gpuIds", "name", "templateId"]);
  });

  test.each<[string, unknown, RegExp]>([
    ["drainTimeout", 0, /must be whole seconds, 1 or more/],
    ["drainTimeout", 1.5, /must be whole seconds/],
    ["drainTimeout", Number.NaN, /must be whole seconds/],
    ["drainTimeout", "60", /must be whole seconds/],
    ["awaitReadyTimeout", -1, /must be whole seconds/],
    ["awaitReady", "yes", /must be true or false/],
    ["adoptId", "", /must be the id of an endpoint/],
    ["adoptId", "a/b", /must be the id of an endpoint/],
    ["adoptId", 5, /must be the id of an endpoint/],
  ])("%s cannot be %p", (property, value, message) => {
    const { inputs, problems } = check({ [property]: value });
    expect(problems).toEqual([expect.stringMatching(message)]);
    expect(problems[0]).toMatch(new RegExp(`^${property} `));
    expect(inputs).not.toHaveProperty(property);
  });

  test("inputs for the provider only change the resource in state but nothing at the service", () => {
    const isChanged = (before: Properties, after: Properties) => changesOwnInputs(ENDPOINT_INPUTS, before, after);
    const { inputs } = check({ drainTimeout: 60 });
    const outputs = { ...MINIMAL, drainTimeout: 60 };
    expect(isChanged(outputs, inputs)).toBe(false);
    expect(isChanged({ ...outputs, drainTimeout: 30 }, inputs)).toBe(true);
    expect(isChanged(MINIMAL, inputs)).toBe(true);
    expect(isChanged(outputs, check({}).inputs)).toBe(true);
  });
});

describe("adoptId", () => {
  test("adoptId can be removed from the program without a change", () => {
    const first: Properties = check({ adoptId: "ep-1" }).inputs;
    const { adoptId: _, ...unchanged } = first;
    expect(check({ automaticName: "auto" }, first)).toEqual({ inputs: unchanged, problems: [] });
    expect(check({ automaticName: "auto" }, unchanged)).toEqual({ inputs: unchanged, problems: [] });
  });

  test("adoptId makes a name optional, and an omitted name is not managed", () => {
    const { inputs, problems } = check({
      name: undefined,
      adoptId: "ep-1",
      automaticName: "auto",
    });
    expect(problems).toEqual([]);
    expect(inputs).not.toHaveProperty("name");
    expect(inputs.__automaticName).toBe(false);
  });

  test("adoptId ignores the defaults for new endpoints, because the endpoint has its own values", () => {
    expect(check({ adoptId: "ep-1", workersMin: 4 }).problems).toEqual([]);
    expect(check({ adoptId: "ep-1", workersMin: 4, workersMax: 3 }).problems).toHaveLength(1);
  });

  test("the adoptId of another endpoint is refused, but the endpoint's own id, an omitted id and an unknown id are accepted", () => {
    expect(() => refuseOtherId("an endpoint", "ep-1", { adoptId: "ep-2" })).toThrow(
      /adoptId: is ep-2, but.*endpoint ep-1 already/,
    );
    expect(adoptsOther("ep-1", { adoptId: "ep-2" })).toBe(true);
    for (const adoptId of ["ep-1", undefined, UNKNOWN]) expect(adoptsOther("ep-1", { adoptId })).toBe(false);
  });
});

describe("an automatic name", () => {
  const unnamed = { name: undefined };

  test("an automatic name is recorded as automatic", () => {
    const { inputs } = check({ ...unnamed, automaticName: "llama-1" });
    expect(inputs).toMatchObject({ name: "llama-1", __automaticName: true });
  });

  test.each([
    [7],
    [null],
    [{}],
    [[]],
  ])("an automatic name of another type (%j) counts as a missing name", (automaticName) => {
    expect(check({ ...unnamed, automaticName }).problems).toEqual(["name is required"]);
  });
});
