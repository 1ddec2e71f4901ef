import { CONTAINER_FIELDS } from "../../emulator/model/containerFields";
import { ENDPOINT_FIELDS as ENDPOINT } from "../../emulator/model/endpointFields";
import { graphqlFields } from "../../emulator/model/fieldTable";
import { REGISTRY_AUTH_FIELDS } from "../../emulator/registryAuths/registryAuthFields";
import { SECRET_FIELDS } from "../../emulator/secrets/secretFields";
import { TEMPLATE_FIELDS } from "../../emulator/templates/templateFields";
import { VOLUME_FIELDS } from "../../emulator/volumes/volumeFields";
import type { ServiceName } from "../../sdk/contract/limits";
import { fieldsAt, keptFieldsAt } from "../../sdk/endpoints/fields";
import { TABLES } from "../support/recordTables";

/** The emulator's tables, by class of the resource. */
const EMULATED: Readonly<Record<string, object>> = {
  ServerlessEndpoint: { ...ENDPOINT, ...CONTAINER_FIELDS },
  ServerlessTemplate: TEMPLATE_FIELDS,
  // The emulator stores the type of the storage, and not the setting that determines it.
  NetworkVolume: { ...VOLUME_FIELDS, highPerformance: "isNextGenStorage" },
  ContainerRegistryAuth: REGISTRY_AUTH_FIELDS,
  Secret: SECRET_FIELDS,
};

test.each(Object.entries(TABLES))("the emulator declares every field of a %s", (name, table) => {
  expect(Object.keys(table).filter((field) => !(field in (EMULATED[name] ?? {})))).toEqual([]);
});

test.each([
  ["contract", undefined],
  ["observed", "runpod"],
] as const)("under the profile %s, the client sends or keeps each field that the emulator supports, for the service %s", (profile, service:
  | ServiceName
  | undefined) => {
  const names = graphqlFields(ENDPOINT, "input", profile).matchAll(/(\w+):/g);
  // The release is an object in the output.
  const emulated = Array.from(names, ([, name]) => (name === "hubReleaseId" ? "hubRelease" : name));
  // The template is created with the endpoint, and is no field of it.
  const kept = Object.keys(keptFieldsAt(service)).filter((name) => name !== "template");
  const known = new Set([...fieldsAt(service), ...kept]);
  expect(emulated.sort()).toEqual([...known].sort());
});
