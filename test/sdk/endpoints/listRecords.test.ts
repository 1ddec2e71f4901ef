import { UnexpectedResponseError } from "../../../sdk/errors/errors";
import { readableEndpoint } from "../../../sdk/graphql/endpointFormat";
import { decodeRecords, recordsByName } from "../../../sdk/records/listed";

const ENDPOINT = readableEndpoint(undefined);
const record = (id: string, name: unknown) => ({ id, name, gpuIds: "AMPERE_24", templateId: "t" });
const named = (name: string, ...endpoints: unknown[]) =>
  recordsByName(ENDPOINT, decodeRecords(ENDPOINT, { endpoints }, "endpoints"), name);
const odd = (id: string, name: unknown) => ({ ...record(id, name), scalerValue: "4" });

describe("endpoints looked up by name", () => {
  test("endpoints looked up by name are found even if the records of other endpoints are malformed", () => {
    const found = named("llama", odd("a", "other"), record("b", "llama"), odd("c", null), null);
    expect(found.map(({ id }) => id)).toEqual(["b"]);
    expect(named("llama", odd("a", "other"))).toEqual([]);
  });

  test("cause an error if the record of an endpoint with that name cannot be read", () => {
    const look = () => named("llama", record("b", "llama"), odd("a", "llama"));
    expect(look).toThrow(UnexpectedResponseError);
    expect(look).toThrow(/the record of a \("llama"\): scalerValue/);
  });

  test.each([
    [odd("a", null)],
    [null],
  ])("endpoints looked up by name are never reported as absent because of %j", (nameless) => {
    expect(() => named("llama", nameless)).toThrow(/cannot tell whether an endpoint named "llama" exists/);
  });
});
