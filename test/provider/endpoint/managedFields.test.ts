import { managedFields, managedRecord } from "../../../provider/fields/managed";
import { ENDPOINT_FIELDS, FIELDS } from "../../../sdk/endpoints/fields";

/** As in older states. */
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

test("the managed fields of an endpoint are a sorted comma-separated list in state", () => {
  const inputs = { workersMax: 3, name: "llama", gpuIds: "AMPERE_24", drain: true, __provider: "code" };
  expect(managedRecord(FIELDS, inputs)).toEqual({ __managed: "gpuIds,name,workersMax" });
  expect(managedFields(FIELDS, managedRecord(FIELDS, inputs))).toEqual(["gpuIds", "name", "workersMax"]);
  expect(managedFields(FIELDS, managedRecord(FIELDS, {}))).toEqual([]);
});

test.each(Object.entries(BITS))("older state says that %s is managed with the bit 0x%s", (field, bit) => {
  expect(managedFields(FIELDS, { __inputs: bit })).toEqual([field]);
});

test("every field of an endpoint had a bit in older state", () => {
  expect(ENDPOINT_FIELDS).toEqual(expect.arrayContaining(Object.keys(BITS)));
  expect(managedFields(FIELDS, { __inputs: "7ff" })).toEqual(Object.keys(BITS).sort());
});

test("outputs without a record of managed fields say nothing about them", () => {
  expect(managedFields(FIELDS, {})).toBeUndefined();
});
