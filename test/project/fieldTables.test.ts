import { ENDPOINT_FIELDS } from "../../emulator/model/endpointFields";
import { graphqlFields } from "../../emulator/model/fieldTable";
import { OBSERVED_FIELDS } from "../../emulator/model/observedFields";
import type { ServiceName } from "../../sdk/contract/limits";
import { FIELDS, fieldsAt, KEPT_FIELDS } from "../../sdk/endpoints/fields";

const EMULATED = { ...ENDPOINT_FIELDS, ...OBSERVED_FIELDS };

// A field of the client that the emulator lacks does not compile here.
const emulatedFields: Record<keyof typeof FIELDS, unknown> = EMULATED;

test("the client sets or keeps every field of an endpoint that the emulator has", () => {
  // The client reads the name of a release only to refuse a change.
  const known = [...Object.keys({ ...FIELDS, ...KEPT_FIELDS }), "hubReleaseId"];
  expect(Object.keys(emulatedFields).filter((field) => !known.includes(field))).toEqual([]);
});

test.each([
  ["contract", undefined],
  ["observed", "runpod"],
] as const)("under the profile %s, the emulator has the fields that the client sends to the service %s", (profile, service:
  | ServiceName
  | undefined) => {
  const tables = profile === "observed" ? EMULATED : ENDPOINT_FIELDS;
  const names = Array.from(graphqlFields(tables, "input", profile).matchAll(/(\w+):/g), ([, name]) => name);
  expect(fieldsAt(service).filter((field) => !names.includes(field))).toEqual([]);
  if (profile === "contract") expect([...names].sort()).toEqual([...fieldsAt(service)].sort());
});
