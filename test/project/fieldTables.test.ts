import { ENDPOINT_FIELDS as EMULATED } from "../../emulator/model/endpointFields";
import { graphqlFields } from "../../emulator/model/fieldTable";
import type { ServiceName } from "../../sdk/contract/limits";
import { FIELDS, fieldsAt } from "../../sdk/endpoints/fields";

// A field that one of the tables lacks does not compile here.
const clientsFields: Record<keyof typeof EMULATED, unknown> = FIELDS;
const emulatedFields: Record<keyof typeof FIELDS, unknown> = EMULATED;

test("the client and the emulator declare the same fields of an endpoint", () => {
  expect(Object.keys(emulatedFields).sort()).toEqual(Object.keys(clientsFields).sort());
});

test.each([
  ["contract", undefined],
  ["observed", "runpod"],
] as const)("under the profile %s, the emulator has the fields that the client sends to the service %s", (profile, service:
  | ServiceName
  | undefined) => {
  const names = graphqlFields(EMULATED, "input", profile).matchAll(/(\w+):/g);
  expect(Array.from(names, ([, name]) => name).sort()).toEqual([...fieldsAt(service)].sort());
});
