import fc from "fast-check";
import { GPU_TIERS } from "../../../sdk/contract/limits";
import { checkEndpointFields, crossFieldProblems, parseEndpointFields } from "../../../sdk/endpoints/input";
import { InvalidInputError } from "../../../sdk/errors/errors";
import { SecretText } from "../../../sdk/errors/secretText";

/** The messages about one field that holds this value. */
function problems(property: string, value: unknown, acceptWords?: string[]): string[] {
  const result = checkEndpointFields({ [property]: value }, { acceptWords });
  for (const problem of result.problems) expect(problem.property).toBe(property);
  expect(result.problems.length === 0).toBe(Object.hasOwn(result.fields, property));
  return result.problems.map(({ message }) => message);
}

function accepted(property: string, value: unknown, acceptWords?: string[]): unknown {
  const result = checkEndpointFields({ [property]: value }, { acceptWords });
  expect(result.problems).toEqual([]);
  return result.fields[property as keyof typeof result.fields];
}

describe("accepted values and their normal form", () => {
  test.each<[string, unknown, unknown]>([
    ["name", "llama", "llama"],
    ["name", 'a "b" \n {c} é 😀 日本', 'a "b" \n {c} é 😀 日本'],
    ["gpuIds", "AMPERE_16", "AMPERE_16"],
    ["gpuIds", " ADA_24 ,AMPERE_16,-NVIDIA L4", "ADA_24,AMPERE_16,-NVIDIA L4"],
    ["gpuIds", ["ADA_24", "AMPERE_16", "- NVIDIA L4"], "ADA_24,AMPERE_16,-NVIDIA L4"],
    ["templateId", "abc123", "abc123"],
    ["templateId", " abc123\n", "abc123"],
    ["idleTimeout", 0, 0],
    ["idleTimeout", 2 ** 31 - 1, 2 ** 31 - 1],
    ["idleTimeout", null, 10],
    ["locations", "US, CZ", "CZ,US"],
    ["locations", ["EU-RO-1", "CZ", "CZ"], "CZ,EU-RO-1"],
    ["locations", "", ""],
    ["locations", [], ""],
    ["locations", null, ""],
    ["flashBootType", "FLASHBOOT", "FLASHBOOT"],
    ["flashBootType", "OFF", "OFF"],
    ["flashBootType", null, "OFF"],
    ["scalerType", "REQUEST_COUNT", "REQUEST_COUNT"],
    ["scalerType", null, "QUEUE_DELAY"],
    ["scalerValue", 0.5, 0.5],
    ["scalerValue", null, 4],
    ["workersMin", 0, 0],
    ["workersMin", null, 0],
    ["workersMax", 7, 7],
    ["workersMax", null, 3],
    ["networkVolumeId", " vol-1 ", "vol-1"],
    ["networkVolumeId", "", ""],
    ["networkVolumeId", null, ""],
  ])("%s %j becomes %j", (property, value, expected) => {
    expect(accepted(property, value)).toEqual(expected);
  });

  test("an undefined field is omitted", () => {
    expect(checkEndpointFields({ name: undefined, workersMin: undefined })).toEqual({ fields: {}, problems: [] });
  });

  test("normalizing a normal form does not change it", () => {
    const input = { gpuIds: "ADA_24, AMPERE_16,-B,-A", locations: "US,CZ", name: "a -fb", flashBootType: null };
    const { fields } = checkEndpointFields(input);
    expect(checkEndpointFields({ ...fields }).fields).toEqual(fields);
  });
});

describe("what is refused", () => {
  test.each<[string, unknown, RegExp]>([
    ["name", "", /must be a name that is not empty/],
    ["name", " \n", /must be a name that is not empty/],
    ["name", " -fb", /must be a name that is not empty/],
    ["name", "llama -fb", /must not end with " -fb".*set flashBootType to FLASHBOOT/],
    ["name", null, /must be a name.*missing/],
    ["name", 5, /must be a name.*it is 5/],
    ["name", "half \ud83d of a pair", /Unicode/],
    ["templateId", "\ud800", /Unicode/],
    ["networkVolumeId", 7, /id of a network volume, or null for none; it is 7/],
    ["networkVolumeId", "\udc00", /Unicode/],
    ["gpuIds", [], /must contain at least one GPU pool/],
    ["gpuIds", "-NVIDIA L4", /must contain at least one GPU pool/],
    ["gpuIds", "AMPERE_16,-", /"-".*excludes nothing/],
    ["gpuIds", 24, /must be a GPU pool, a list of pools or a comma-separated list; it is 24/],
    ["gpuIds", ["AMPERE_16", 5], /a list of pools or a comma-separated list; element \[1\] of the list is 5/],
    ["gpuIds", "AMPERE24", /"AMPERE24" is not a known.*Did you mean AMPERE_24\? Allowed: AMPERE_16, AMPERE_24/],
    ["gpuIds", "ampere_24", /Did you mean AMPERE_24\?/],
    ["gpuIds", ["AMPERE_24", null], /^must be a GPU pool, a list.*; element \[1\] of the list is null, not a string$/],
    ["locations", [5], /element \[0\] of the list is 5/],
    ["locations", "Mars", /"Mars" is neither.*serverless-gpu:acceptWords/],
    ["gpuIds", "HOPPER_142", /"HOPPER_142" is not a known.*Did you mean HOPPER_141\?.*serverless-gpu:acceptWords/],
    ["gpuIds", "BLACKWELL_0", /Did you mean BLACKWELL_\d+\?/],
    [
      "gpuIds",
      "NVIDIA GeForce RTX 4090",
      /is a GPU type, not a GPU pool. Did you mean ADA_24, the pool that contains it\?/,
    ],
    ["gpuIds", "RTX_4090", /Did you mean ADA_24/],
    ["gpuIds", "H100", /Did you mean ADA_80_PRO/],
    ["gpuIds", "NVIDIA", /"NVIDIA" is not a known GPU pool/],
    ["gpuIds", "RTX", /"RTX" is not a known GPU pool/],
    ["idleTimeout", -1, /must be whole seconds, 0 or more; it is -1/],
    ["idleTimeout", 1.5, /it is 1.5/],
    ["idleTimeout", Number.NaN, /it is NaN/],
    ["idleTimeout", Number.POSITIVE_INFINITY, /it is Infinity/],
    ["idleTimeout", 2 ** 31, /it is 2147483648/],
    ["idleTimeout", 1e300, /it is 1e\+300/],
    ["idleTimeout", "10", /it is "10"/],
    ["idleTimeout", true, /it is true/],
    ["locations", "XX", /"XX" is neither a known country nor.*Allowed: CZ, FR, GB, NO, RO, US/],
    ["locations", "cz", /Did you mean CZ\?/],
    ["locations", ["EU-RO"], /"EU-RO" is neither/],
    ["locations", 5, /must be a country, a list of countries or a comma-separated list; it is 5/],
    ["flashBootType", "FLASHBOT", /"FLASHBOT" is not known. Did you mean FLASHBOOT\? Allowed: FLASHBOOT, OFF/],
    ["flashBootType", true, /must be FLASHBOOT or OFF/],
    ["scalerType", "QUEUE-DELAY", /Did you mean QUEUE_DELAY\? Allowed: QUEUE_DELAY, REQUEST_COUNT/],
    ["scalerType", 1, /must be QUEUE_DELAY or REQUEST_COUNT/],
    ["scalerValue", 0, /must be a number above 0; it is 0/],
    ["scalerValue", -4, /it is -4/],
    ["scalerValue", Number.NaN, /it is NaN/],
    ["scalerValue", Number.POSITIVE_INFINITY, /it is Infinity/],
    ["scalerValue", "4", /it is "4"/],
    ["workersMin", -1, /must be a whole number of workers, 0 or more; it is -1/],
    ["workersMax", 0.5, /it is 0.5/],
    ["workersMax", {}, /it is an object/],
    ["workerMax", 3, /is not a property. Did you mean workersMax\? Allowed: name, gpuIds/],
    ["constructor", 3, /is not a property/],
    ["id", "abc", /is not a property/],
  ])("%s %p", (property, value, message) => {
    expect(problems(property, value)).toEqual([expect.stringMatching(message)]);
  });

  test("a suggestion is made only for similar words: UK is not similar to US [contract.locations]", () => {
    expect(problems("locations", "UK")[0]).not.toContain("Did you mean");
    expect(problems("gpuIds", "REDWOOD")[0]).not.toContain("Did you mean");
    expect(problems("color", 1)[0]).not.toContain("Did you mean");
  });

  test("__proto__ is treated like any other unknown property", () => {
    const input = JSON.parse('{"name": "a", "__proto__": {"templateId": "polluted"}}') as Record<string, unknown>;
    const { fields, problems } = checkEndpointFields(input);
    expect(problems).toMatchObject([{ property: "__proto__" }]);
    expect(Object.keys(fields)).toEqual(["name"]);
    expect(({} as Record<string, unknown>).templateId).toBeUndefined();
  });

  test("each invalid entry of a list has its own message", () => {
    expect(problems("gpuIds", "FIRST,AMPERE_16,SECOND")).toHaveLength(2);
    expect(problems("locations", ["XX", "CZ", "YY"])).toHaveLength(2);
  });

  test("a refused setting messages stay short for any input", () => {
    const huge = "x".repeat(100_000);
    const values = [huge, [huge], Number.MAX_VALUE, () => huge];
    for (const property of ["gpuIds", "locations", "flashBootType", "scalerType", "workersMax", "idleTimeout", huge]) {
      for (const value of values) {
        const { problems } = checkEndpointFields({ [property]: value });
        for (const { message } of problems) expect(message.length).toBeLessThan(500);
      }
    }
  });

  test("the check never throws, and input that it accepts is complete", () => {
    const field = fc.constantFrom(
      "name",
      "gpuIds",
      "templateId",
      "locations",
      "scalerValue",
      "workersMin",
      "flashBootType",
    );
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(field, fc.string()), fc.anything({ withBigInt: true, withNullPrototype: true })),
        (input) => {
          const { fields, problems } = checkEndpointFields(input);
          for (const value of Object.values(fields)) expect(["string", "number"]).toContain(typeof value);
          for (const { message } of problems) expect(message).not.toMatch(/undefined|\[object/);
        },
      ),
    );
  });
});

describe("extra GPU pools", () => {
  test("extra GPU pools are accepted, and listed among the allowed values [contract.gpu-ids]", () => {
    expect(accepted("gpuIds", "FUTURE_300,AMPERE_16", ["FUTURE_300"])).toBe("FUTURE_300,AMPERE_16");
    expect(problems("gpuIds", "FUTUR_300", ["FUTURE_300", "HOPPER_141"])[0]).toMatch(
      new RegExp(`Did you mean FUTURE_300\\?.*${GPU_TIERS.join(", ")}, FUTURE_300\\.`),
    );
  });

  test("extra GPU pools are not needed for the known pools at any service", () => {
    for (const tier of GPU_TIERS) expect(accepted("gpuIds", tier)).toBe(tier);
  });
});

describe("rules between fields", () => {
  test("workersMin must not exceed workersMax, whether given or the default", () => {
    const both = crossFieldProblems({ workersMin: 3, workersMax: 2 }, true);
    expect(both).toEqual([{ property: "workersMin", message: "is 3, more than workersMax (2)" }]);
    const byDefault = crossFieldProblems({ workersMin: 4 }, true);
    expect(byDefault).toEqual([{ property: "workersMin", message: "is 4, more than workersMax (3, its default)" }]);
    expect(crossFieldProblems({ workersMin: 4 }, false)).toEqual([]);
    expect(crossFieldProblems({ workersMin: 3, workersMax: 3 }, true)).toEqual([]);
  });

  test("a scalerValue requires its scalerType [contract.scaler-type]", () => {
    const expected = [{ property: "scalerValue", message: expect.stringContaining("QUEUE_DELAY or REQUEST_COUNT") }];
    expect(crossFieldProblems({ scalerValue: 2 }, true)).toEqual(expected);
    expect(crossFieldProblems({ scalerValue: 2, scalerType: "QUEUE_DELAY" }, true)).toEqual([]);
  });
});

describe("a whole input", () => {
  const what = "the new endpoint";

  test("a new endpoint requires name, gpuIds and templateId, and all problems are reported at once", () => {
    const input = { workersMin: 9, scalerValue: 1, gpuIds: "NONE" } as never;
    const parse = () => parseEndpointFields(what, input, { isNew: true });
    expect(parse).toThrow(InvalidInputError);
    expect(parse).toThrow(
      /^the new endpoint is not valid: gpuIds: "NONE".*name: is required.*templateId: is required.*workersMin.*scalerValue/,
    );
  });

  test("a change may contain any combination of the fields", () => {
    expect(parseEndpointFields(what, { scalerValue: 7 }, { isNew: false })).toEqual({ scalerValue: 7 });
    expect(parseEndpointFields(what, { locations: null }, { isNew: false })).toEqual({ locations: "" });
  });

  test("a change is refused when its own fields contradict each other", () => {
    expect(() => parseEndpointFields(what, { workersMin: 2, workersMax: 1 }, { isNew: false })).toThrow(
      /more than workersMax/,
    );
  });

  test("a key that was put into the wrong field is not shown", () => {
    const key = "K3Y".repeat(15);
    new SecretText(key);
    for (const property of ["gpuIds", "locations", "scalerType", "idleTimeout", "workersMax"]) {
      for (const { message } of checkEndpointFields({ [property]: key }).problems) {
        expect(message).not.toContain("K3YK3Y");
      }
    }
  });
});

test("a scalerValue must be an integer if the service accepts only integers", () => {
  expect(checkEndpointFields({ scalerValue: 0.5 }).problems).toEqual([]);
  expect(checkEndpointFields({ scalerValue: 0.5 }, { wholeScalerValue: true }).problems).toEqual([
    {
      property: "scalerValue",
      message: expect.stringContaining("must be a whole number over GraphQL at this service; it is 0.5"),
    },
  ]);
  expect(checkEndpointFields({ scalerValue: 2 }, { wholeScalerValue: true }).problems).toEqual([]);
});
