import { managedFields, managedRecord } from "../../../provider/fields/managed";
import { FIELDS } from "../../../sdk/endpoints/fields";

test("state lists the managed fields of an endpoint in sorted order, separated by commas", () => {
  const inputs = { workersMax: 3, name: "llama", gpuIds: "AMPERE_24", drain: true, __provider: "code" };
  expect(managedRecord(FIELDS, inputs)).toEqual({ __managed: "gpuIds,name,workersMax" });
  expect(managedFields(FIELDS, managedRecord(FIELDS, inputs))).toEqual(["gpuIds", "name", "workersMax"]);
  expect(managedFields(FIELDS, managedRecord(FIELDS, {}))).toEqual([]);
});

test("outputs without a record of managed fields yield undefined", () => {
  expect(managedFields(FIELDS, {})).toBeUndefined();
});
