import { CONTAINER_FIELDS } from "../../emulator/model/containerFields";
import { ENDPOINT_FIELDS as EMULATED } from "../../emulator/model/endpointFields";
import { graphqlFields } from "../../emulator/model/fieldTable";
import type { ServiceName } from "../../sdk/contract/limits";
import { FIELDS, fieldsAt, keptFieldsAt } from "../../sdk/endpoints/fields";

// A field that the emulator lacks does not compile here.
const emulatedFields: Record<keyof typeof FIELDS, unknown> = { ...EMULATED, ...CONTAINER_FIELDS };

test("the emulator declares all fields of an endpoint that the client sets", () => {
  expect(Object.keys(FIELDS).filter((field) => !(field in emulatedFields))).toEqual([]);
});

test.each([
  ["contract", undefined],
  ["observed", "runpod"],
] as const)("under the profile %s, the client sends or keeps each field that the emulator supports, for the service %s", (profile, service:
  | ServiceName
  | undefined) => {
  const names = graphqlFields(EMULATED, "input", profile).matchAll(/(\w+):/g);
  // The release is an object in the output.
  const emulated = Array.from(names, ([, name]) => (name === "hubReleaseId" ? "hubRelease" : name));
  // The template is created with the endpoint, and is no field of it.
  const kept = Object.keys(keptFieldsAt(service)).filter((name) => name !== "template");
  const known = new Set([...fieldsAt(service), ...kept]);
  expect(emulated.sort()).toEqual([...known].sort());
});
