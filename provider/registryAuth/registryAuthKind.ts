import { REGISTRY_AUTH_FIELDS } from "../../sdk/registryAuths/fields";
import { checkRegistryAuthFields } from "../../sdk/registryAuths/input";
import type { RegistryAuth, RegistryAuthInput, RegistryLogin } from "../../sdk/registryAuths/record";
import type { RecordKind } from "../resource/recordKind";

/** The rules of a `ContainerRegistryAuth`. */
export const REGISTRY_AUTH_KIND: RecordKind<RegistryAuth> = {
  one: "a registry credential",
  noun: "registry credential",
  table: REGISTRY_AUTH_FIELDS,
  hasUniqueNames: true,
  fixedFields: ["name"],
  hiddenFields: ["username", "password"],
  checkFields: checkRegistryAuthFields,
  records: ({ registryAuths }) => registryAuths,
  create: ({ registryAuths }, fields, onNameTaken) =>
    registryAuths.create(fields as unknown as RegistryAuthInput, { onNameTaken }),
  update: ({ registryAuths }, id, fields) => registryAuths.update(id, fields as unknown as RegistryLogin),
  toFields: ({ name }, { username, password }) => ({ name, username, password }),
};
