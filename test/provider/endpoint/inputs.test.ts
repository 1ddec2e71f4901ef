import fc from "fast-check";
import { ENDPOINT_INPUTS } from "../../../provider/endpoint/endpointInputs";
import { type Properties, UNKNOWN } from "../../../provider/engine/properties";
import { checkRecordInputs } from "../../../provider/fields/recordInputs";

/** Checks inputs without a config. */
function checkInputs(oldInputs: Properties, newInputs: Properties) {
  return checkRecordInputs(ENDPOINT_INPUTS, oldInputs, newInputs, () => undefined);
}

const PROVIDER = "exports.handler = 1;";
const MINIMAL = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };

/** Returns the checked inputs of a valid program. */
function check(newInputs: Properties, oldInputs: Properties = {}): Properties {
  const { inputs, problems } = checkInputs(oldInputs, { __provider: PROVIDER, ...newInputs });
  expect(problems).toEqual([]);
  return inputs;
}

function problems(newInputs: Properties, oldInputs: Properties = {}): string[] {
  const checked = checkInputs(oldInputs, { __provider: PROVIDER, ...newInputs });
  return checked.problems.map(({ property, message }) => `${property}: ${message}`);
}

/** Endpoints as programs may declare them, in all notations. */
const program = fc.record(
  {
    name: fc.string({ minLength: 1 }).filter((name) => name.trim() !== "" && !name.endsWith(" -fb")),
    gpuIds: fc.constantFrom<unknown>("AMPERE_16", " ADA_24,AMPERE_16 ", ["ADA_24", "-B", "- A"], UNKNOWN, [
      "ADA_24",
      UNKNOWN,
    ]),
    templateId: fc.constantFrom("abc123", " abc123", UNKNOWN),
    idleTimeout: fc.constantFrom(null, 0, 60, UNKNOWN),
    locations: fc.constantFrom<unknown>(null, "", "US, CZ", ["CZ", "US"], [], ["CZ", UNKNOWN], UNKNOWN),
    flashBootType: fc.constantFrom(null, "FLASHBOOT", "OFF", UNKNOWN),
    scalerType: fc.constantFrom(null, "QUEUE_DELAY", "REQUEST_COUNT", UNKNOWN),
    workersMin: fc.constantFrom(null, 0, 1, UNKNOWN),
    workersMax: fc.constantFrom(null, 3, 5, UNKNOWN),
    networkVolumeId: fc.constantFrom(null, "", "vol", UNKNOWN),
  },
  { requiredKeys: ["name", "gpuIds", "templateId"] },
);

test("scalerType cannot be removed while scalerValue stays, because the unit of scalerValue would change", () => {
  const old = check({ ...MINIMAL, scalerType: "REQUEST_COUNT", scalerValue: 50 });
  expect(problems({ ...MINIMAL, scalerValue: 50 }, old)).toEqual([
    expect.stringContaining("scalerValue: requires scalerType, which determines its unit"),
  ]);
  expect(problems({ ...MINIMAL, scalerValue: UNKNOWN }, old)).toHaveLength(1);
  const defaults = { scalerType: "QUEUE_DELAY", scalerValue: 4 };
  for (const scaler of [{}, { scalerValue: null }, { scalerType: null, scalerValue: 4 }]) {
    expect(check({ ...MINIMAL, ...scaler }, old)).toMatchObject(defaults);
  }
});

describe("the normal form", () => {
  test("the normal form contains only the values that the program set, without null and undefined", () => {
    const inputs = check({ ...MINIMAL, gpuIds: ["ADA_24", " AMPERE_16"], locations: ["US", "CZ"], idleTimeout: null });
    expect(inputs).toStrictEqual({
      name: "llama",
      gpuIds: "ADA_24,AMPERE_16",
      templateId: "abc123",
      locations: "CZ,US",
      idleTimeout: 10,
      __provider: PROVIDER,
    });
  });

  test("the normal form replaces null with another value, so that the engine sees that a field was cleared", () => {
    const cleared = check({
      ...MINIMAL,
      locations: null,
      flashBootType: null,
      networkVolumeId: null,
      scalerType: null,
    });
    expect(cleared).toMatchObject({
      locations: "",
      flashBootType: "OFF",
      networkVolumeId: "",
      scalerType: "QUEUE_DELAY",
    });
    const numbers = check({ ...MINIMAL, workersMin: null, workersMax: null, scalerType: null, scalerValue: null });
    expect(numbers).toMatchObject({ workersMin: 0, workersMax: 3, scalerValue: 4 });
  });

  test("the normal form is the same on every run of the same program", () => {
    fc.assert(
      fc.property(program, (given) => {
        const first = check(given);
        expect(check(given, first)).toEqual(first);
      }),
    );
  });

  test("the normal form does not change when it is normalized again", () => {
    fc.assert(
      fc.property(program, (given) => {
        const first = check(given);
        expect(check(first, first)).toEqual(first);
      }),
    );
  });

  test("the normal form contains only values that are strings or numbers", () => {
    fc.assert(
      fc.property(program, (given) => {
        for (const value of Object.values(check(given))) expect(typeof value).toMatch(/^(string|number)$/);
      }),
    );
  });
});

describe("unknown values", () => {
  test.each([
    ["a field", UNKNOWN],
    ["an item of a list", ["CZ", UNKNOWN]],
    ["anything deeper", [{ a: [UNKNOWN] }]],
  ])("given as %s make the field unknown and cause no problem", (_where, value) => {
    expect(check({ ...MINIMAL, locations: value }).locations).toBe(UNKNOWN);
  });

  test("cause no problem in required fields and numbers", () => {
    const all = {
      name: UNKNOWN,
      gpuIds: UNKNOWN,
      templateId: UNKNOWN,
      workersMin: UNKNOWN,
      scalerType: UNKNOWN,
      scalerValue: 3,
    };
    expect(check(all)).toMatchObject(all);
  });

  test("unknown values do not hide the problems of other fields", () => {
    expect(problems({ ...MINIMAL, templateId: UNKNOWN, idleTimeout: -1 })).toEqual([
      expect.stringMatching(/^idleTimeout: /),
    ]);
  });

  test("unknown values do not hide a nonexistent property", () => {
    expect(problems({ ...MINIMAL, workerMax: UNKNOWN })).toEqual([expect.stringMatching(/^workerMax: .*workersMax/)]);
  });
});

describe("a field that the program no longer sets", () => {
  test("a field that the program no longer sets returns to its default and keeps it", () => {
    const before = check({
      ...MINIMAL,
      idleTimeout: 60,
      locations: "CZ",
      flashBootType: "FLASHBOOT",
      networkVolumeId: "vol",
    });
    const removed = check(MINIMAL, before);
    expect(removed).toMatchObject({ idleTimeout: 10, locations: "", flashBootType: "OFF", networkVolumeId: "" });
    expect(check(MINIMAL, removed)).toEqual(removed);
    expect(check({ ...MINIMAL, idleTimeout: undefined }, before).idleTimeout).toBe(10);
  });

  test("a field that the program no longer sets is not added if it was never set", () => {
    expect(Object.keys(check(MINIMAL, check(MINIMAL)))).toEqual(Object.keys(check(MINIMAL)));
  });

  test("a field that the program no longer sets causes a problem if it is required", () => {
    expect(problems({ name: "llama" }, check(MINIMAL))).toEqual([
      "gpuIds: is required (or instanceIds, for an endpoint on CPUs)",
      "templateId: is required (or imageName, for an endpoint without a template)",
    ]);
  });
});

describe("the automatic name", () => {
  const unnamed = { gpuIds: "AMPERE_24", templateId: "abc123" };

  test("the automatic name is used if the program sets no name, and kept if a later run would produce another one", () => {
    const first = check({ ...unnamed, automaticName: "llama-1234567" });
    expect(first).toMatchObject({ name: "llama-1234567", __automaticName: true });
    expect(first).not.toHaveProperty("automaticName");
    expect(check({ ...unnamed, automaticName: "llama-7654321" }, first)).toEqual(first);
  });

  test("the automatic name is replaced by an explicit name, and returns when that name is removed", () => {
    const automatic = check({ ...unnamed, automaticName: "llama-1234567" });
    const explicit = check({ ...MINIMAL, name: "mine" }, automatic);
    expect(explicit).not.toHaveProperty("__automaticName");
    expect(explicit.name).toBe("mine");
    expect(check({ ...unnamed, automaticName: "llama-7654321" }, explicit).name).toBe("llama-7654321");
  });

  test("the automatic name may be unknown in a preview, but an existing name is known", () => {
    const preview = check({ ...unnamed, automaticName: UNKNOWN });
    expect(preview).toMatchObject({ name: UNKNOWN, __automaticName: true });
    const first = check({ ...unnamed, automaticName: "llama-1234567" });
    expect(check({ ...unnamed, automaticName: UNKNOWN }, first).name).toBe("llama-1234567");
  });

  test("the automatic name does not replace an explicit name that is null", () => {
    expect(problems({ ...unnamed, name: null })).toEqual([expect.stringMatching(/^name: must be a name/)]);
  });
});

describe("invalid inputs", () => {
  test("invalid inputs are all reported at once, each with its property", () => {
    const found = problems({ gpuIds: "AMPERE24", idleTimeout: -1, workersMin: 4, scalerValue: 2, color: "red" });
    expect(found.map((each) => each.split(":")[0]).sort()).toEqual([
      "color",
      "gpuIds",
      "idleTimeout",
      "name",
      "scalerValue",
      "templateId",
      "workersMin",
    ]);
  });

  test("invalid inputs are checked against the default of workersMax only for a new resource", () => {
    expect(problems({ ...MINIMAL, workersMin: 4 })).toEqual([
      "workersMin: is 4, more than workersMax (3, its default)",
    ]);
    expect(problems({ ...MINIMAL, workersMin: 4 }, check(MINIMAL))).toEqual([]);
  });

  test("include __proto__, which has no other effect", () => {
    const given = JSON.parse(JSON.stringify(MINIMAL).replace("{", '{"__proto__": {"workersMin": 5}, ')) as Properties;
    const { inputs, problems } = checkInputs({}, given);
    expect(problems).toMatchObject([{ property: "__proto__" }]);
    expect(inputs.workersMin).toBeUndefined();
    expect(({} as Properties).workersMin).toBeUndefined();
  });

  test("invalid inputs never throw an exception", () => {
    const field = fc.constantFrom(...Object.keys(MINIMAL), "locations", "scalerValue", "workersMin", "automaticName");
    fc.assert(
      fc.property(fc.dictionary(fc.oneof(field, fc.string()), fc.anything()), (given) => {
        expect(Array.isArray(checkInputs({}, given).problems)).toBe(true);
      }),
    );
  });
});
