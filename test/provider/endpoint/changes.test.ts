import fc from "fast-check";
import { ENDPOINT_INPUTS } from "../../../provider/endpoint/endpointInputs";
import { type Properties, UNKNOWN } from "../../../provider/engine/properties";
import { changedIn, managesOthersIn, newlyManagedIn } from "../../../provider/fields/managed";
import { checkRecordInputs } from "../../../provider/fields/recordInputs";
import { FIELDS } from "../../../sdk/endpoints/fields";

/** Checks inputs without a config. */
function checkInputs(oldInputs: Properties, newInputs: Properties) {
  return checkRecordInputs(ENDPOINT_INPUTS, oldInputs, newInputs, () => undefined);
}

const PROVIDER = "exports.handler = 1;";

/** An endpoint with defaults, as the service shows it. */
const OUTPUTS = {
  name: "llama",
  gpuIds: "AMPERE_24",
  templateId: "abc123",
  idleTimeout: 10,
  locations: "",
  flashBootType: "OFF",
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 0,
  workersMax: 3,
  networkVolumeId: "",
  queueUrl: "http://127.0.0.1/v2/ep-1",
  __provider: PROVIDER,
};
const PROGRAM = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };

/** Returns the changes of a program, after a check of its inputs as in the engine. */
function changed(program: Properties, outputs: Properties = {}, oldInputs: Properties = {}): string[] {
  const { inputs, problems } = checkInputs(oldInputs, { ...PROGRAM, ...program, __provider: PROVIDER });
  expect(problems).toEqual([]);
  return changedIn(FIELDS, { ...OUTPUTS, ...outputs }, inputs);
}

describe("no change", () => {
  test.each<[string, Properties, Properties]>([
    ["the same program", {}, {}],
    ["locations in another order", { locations: "US,CZ" }, { locations: "CZ,US" }],
    ["locations with spaces and twice", { locations: " CZ , US,CZ" }, { locations: "CZ,US" }],
    ["locations as a list", { locations: ["US", "CZ"] }, { locations: "CZ,US" }],
    ["locations that the service shows in its own way", { locations: "CZ,US" }, { locations: "US, CZ" }],
    ['locations "" for any region', { locations: "" }, {}],
    ["locations null for any region", { locations: null }, {}],
    ["locations [] for any region", { locations: [] }, {}],
    ["gpuIds with spaces", { gpuIds: " AMPERE_24 , ADA_24" }, { gpuIds: "AMPERE_24,ADA_24" }],
    ["gpuIds with exclusions in another order", { gpuIds: ["AMPERE_24", "-B", "-A"] }, { gpuIds: "AMPERE_24,-A,-B" }],
    ["the service's suffix at the name", {}, { name: "llama -fb" }],
    ["null for FLASHBOOT that is off", { flashBootType: null }, {}],
    ["OFF for FLASHBOOT that is off", { flashBootType: "OFF" }, {}],
    ["null for no network volume", { networkVolumeId: null }, {}],
    ['"" for no network volume', { networkVolumeId: "" }, {}],
    ["null for a default", { workersMax: null, idleTimeout: null }, {}],
    ["a field that is not managed and was changed elsewhere", {}, { workersMax: 0, locations: "US", idleTimeout: 99 }],
  ])("%s", (_what, program, outputs) => {
    expect(changed(program, outputs)).toEqual([]);
  });

  test("removing a field that already has its default is no change", () => {
    expect(changed({}, {}, { ...PROGRAM, locations: "", idleTimeout: 10 })).toEqual([]);
  });

  test("different provider code never counts as a change to the endpoint", () => {
    expect(
      changedIn(FIELDS, { ...OUTPUTS, __provider: "exports.handler = 2;" }, { ...PROGRAM, __provider: PROVIDER }),
    ).toEqual([]);
  });

  test("an automatic name that would be different today is no change", () => {
    const first = checkInputs({}, { ...PROGRAM, name: undefined, automaticName: "llama" }).inputs;
    const later = checkInputs(first, { ...PROGRAM, name: undefined, automaticName: "llama-2" }).inputs;
    expect(changedIn(FIELDS, OUTPUTS, later)).toEqual([]);
  });
});

describe("a change", () => {
  test.each<[string, Properties, Properties]>([
    ["name", { name: "alpaca" }, {}],
    ["gpuIds", { gpuIds: "ADA_24" }, {}],
    ["gpuIds", { gpuIds: "ADA_24,AMPERE_24" }, { gpuIds: "AMPERE_24,ADA_24" }],
    ["templateId", { templateId: "other" }, {}],
    ["idleTimeout", { idleTimeout: 11 }, {}],
    ["locations", { locations: "CZ" }, {}],
    ["locations", { locations: null }, { locations: "CZ" }],
    ["flashBootType", { flashBootType: "FLASHBOOT" }, {}],
    ["flashBootType", { flashBootType: null }, { flashBootType: "FLASHBOOT" }],
    ["scalerType", { scalerType: "REQUEST_COUNT" }, {}],
    ["workersMin", { workersMin: 1 }, {}],
    ["workersMax", { workersMax: 0 }, {}],
    ["networkVolumeId", { networkVolumeId: null }, { networkVolumeId: "vol" }],
    ["workersMax", { workersMax: 3 }, { workersMax: 2 }],
  ])("a change of %s is detected: %j instead of %j", (field, program, outputs) => {
    expect(changed(program, outputs)).toEqual([field]);
  });

  test("a change names exactly the fields that differ", () => {
    const program = {
      templateId: "other",
      workersMax: 5,
      scalerType: "REQUEST_COUNT",
      scalerValue: 9,
      idleTimeout: 10,
    };
    expect(changed(program).sort()).toEqual(["scalerType", "scalerValue", "templateId", "workersMax"]);
  });

  test("a change is assumed while the new value is unknown", () => {
    expect(changed({ templateId: UNKNOWN, locations: ["CZ", UNKNOWN] }).sort()).toEqual(["locations", "templateId"]);
  });

  test("a change is detected when a field is removed from the program", () => {
    expect(changed({}, { locations: "CZ" }, { ...PROGRAM, locations: "CZ" })).toEqual(["locations"]);
  });

  test("a change disappears once the service matches the program", () => {
    const program = fc.record(
      {
        gpuIds: fc.shuffledSubarray(["AMPERE_16", "ADA_24", "-B", "-A"]).map((parts) => ["AMPERE_80", ...parts]),
        locations: fc.oneof(fc.constant(null), fc.shuffledSubarray(["CZ", "US", "EU-RO-1"])),
        flashBootType: fc.constantFrom(null, "OFF", "FLASHBOOT"),
        workersMax: fc.oneof(fc.constant(null), fc.integer({ min: 3, max: 100 })),
        networkVolumeId: fc.constantFrom(null, "", "vol"),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(program, (given) => {
        const { inputs } = checkInputs({}, { ...PROGRAM, ...given, __provider: PROVIDER });
        expect(changedIn(FIELDS, { ...OUTPUTS, ...inputs }, inputs)).toEqual([]);
      }),
    );
  });
});

describe("the record of what is managed", () => {
  const isNew = (outputs: Properties, inputs: Properties) => newlyManagedIn(FIELDS, outputs, inputs).length > 0;

  const recorded: Properties = { __managed: "gpuIds,name,templateId" };
  const withMaximum: Properties = { __managed: "gpuIds,name,templateId,workersMax" };

  test("states which fields must be saved, even if the outputs show their values", () => {
    const program = { ...PROGRAM, workersMax: OUTPUTS.workersMax };
    expect(isNew({ ...OUTPUTS, ...recorded }, program)).toBe(true);
    expect(isNew({ ...OUTPUTS, ...withMaximum }, program)).toBe(false);
    expect(isNew({ ...OUTPUTS, ...recorded }, { ...PROGRAM, workersMax: UNKNOWN })).toBe(true);
  });

  test("the record of what is managed changes when a field is no longer managed, and that field is not saved", () => {
    const outputs = { ...OUTPUTS, ...withMaximum };
    expect([managesOthersIn(FIELDS, outputs, PROGRAM), isNew(outputs, PROGRAM)]).toEqual([true, false]);
    expect(managesOthersIn(FIELDS, { ...OUTPUTS, ...recorded }, PROGRAM)).toBe(false);
  });
});
