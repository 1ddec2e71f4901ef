import { toInputs, toOutputs } from "../../../provider/endpoint/outputs";
import { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS } from "../../../sdk/endpoints/fields";
import type { Endpoint } from "../../../sdk/endpoints/record";

const ENDPOINT: Endpoint = {
  id: "ep-1",
  name: "llama",
  gpuIds: "AMPERE_24",
  templateId: "template",
  ...ENDPOINT_DEFAULTS,
  pods: [],
};
const PLACE = {
  queueUrl: "http://queue",
  account: { service: "http://graphql", apiKey: "outputs-key-1", provider: "" },
};

/** As states of all versions have them. */
const BITS = {
  name: "1",
  gpuIds: "2",
  templateId: "4",
  idleTimeout: "8",
  scalerValue: "10",
  workersMax: "20",
  workersMin: "40",
  locations: "80",
  flashBootType: "100",
  scalerType: "200",
  networkVolumeId: "400",
};

test.each(Object.entries(BITS))("that %s is managed is the bit 0x%s in state, indefinitely", (field, bit) => {
  const managed = { [field]: ENDPOINT[field as keyof Endpoint] };
  expect(toOutputs(ENDPOINT, managed, PLACE, "owner").__inputs).toBe(bit);
  expect(toInputs(ENDPOINT, { __inputs: bit })).toEqual(managed);
});

test("every field of an endpoint has a bit, and without any bit none is managed", () => {
  expect(Object.keys(BITS).sort()).toEqual([...ENDPOINT_FIELDS].sort());
  expect(toInputs(ENDPOINT, {})).toEqual({});
});
