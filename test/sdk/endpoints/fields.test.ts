import { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS, FIELDS } from "../../../sdk/endpoints/fields";
import { InvalidInputError } from "../../../sdk/errors/errors";
import { endpointSelection, toSaveInput } from "../../../sdk/graphql/endpointFormat";
import { requiredFields } from "../../../sdk/records/fields";

test("every field is either required or has a default", () => {
  const required = requiredFields(FIELDS);
  expect(required).toEqual(["name"]);
  expect([...required, ...Object.keys(ENDPOINT_DEFAULTS)].sort()).toEqual([...ENDPOINT_FIELDS].sort());
});

describe("a field that only one service has", () => {
  const settings = { name: "llama", gpuIds: "AMPERE_24", templateId: "t", scalerValue: 9 };
  beforeEach(() => jest.replaceProperty(FIELDS, "scalerValue", { ...FIELDS.scalerValue, onlyAt: "runpod" }));
  afterEach(() => jest.restoreAllMocks());

  test("a field that only one service has is read and written at that service", () => {
    expect(endpointSelection("runpod")).toContain("scalerValue");
    expect(toSaveInput(settings, "runpod")).toEqual(settings);
  });

  test("a field that only one service has is neither read nor written at other services, and refused unless it equals its default", () => {
    expect(endpointSelection(undefined)).not.toContain("scalerValue");
    const { scalerValue, ...others } = settings;
    expect(toSaveInput({ ...others, scalerValue: ENDPOINT_DEFAULTS.scalerValue }, undefined)).toEqual(others);
    expect(() => toSaveInput(settings, undefined)).toThrow(InvalidInputError);
    expect(() => toSaveInput(settings, undefined)).toThrow(/scalerValue.*is supported only by the service runpod/);
  });
});
