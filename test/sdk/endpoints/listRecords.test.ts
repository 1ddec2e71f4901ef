import { ENDPOINT, endpointsByName, toListedEndpoints } from "../../../sdk/endpoints/listRecords";
import { UnexpectedResponseError } from "../../../sdk/errors";
import { readRecords } from "../../../sdk/records/listed";

const record = (id: string, name: unknown) => ({ id, name, gpuIds: "AMPERE_24", templateId: "t" });
const listOf = (...endpoints: unknown[]) => toListedEndpoints(readRecords(ENDPOINT, { endpoints }, "endpoints"));
const odd = (id: string, name: unknown) => ({ ...record(id, name), scalerValue: "4" });

describe("endpoints looked up by name", () => {
  test("are found beside odd records of other endpoints", () => {
    const found = endpointsByName(listOf(odd("a", "other"), record("b", "llama"), odd("c", null), null), "llama");
    expect(found.map(({ id }) => id)).toEqual(["b"]);
    expect(endpointsByName(listOf(odd("a", "other")), "llama")).toEqual([]);
  });

  test("are an error when the record of one of them cannot be read", () => {
    const look = () => endpointsByName(listOf(record("b", "llama"), odd("a", "llama")), "llama");
    expect(look).toThrow(UnexpectedResponseError);
    expect(look).toThrow(/the record of a \("llama"\): scalerValue/);
  });

  test.each([[odd("a", null)], [null]])("are never said to be absent because of %j", (nameless) => {
    expect(() => endpointsByName(listOf(nameless), "llama")).toThrow(
      /cannot tell whether an endpoint named "llama" exists/,
    );
  });
});
