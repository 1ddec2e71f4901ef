import {
  REGISTRY_AUTH,
  REGISTRY_AUTH_FIELDS,
  type RegistryAuth,
  type RegistryAuthInput,
} from "../../sdk/registryAuths/registryAuth";
import { ANOTHER_LOGIN, FIXED_LOGIN, REGISTRY_AUTH_CHECKS } from "../../sdk/registryAuths/registryAuths";
import { SECONDS } from "../engine/properties";
import { whenUnused } from "../records/deletion";
import type { RecordKind } from "../records/recordKind";

const FIXED = {
  fields: ["username", "password"],
  reason: FIXED_LOGIN,
  sameName: ANOTHER_LOGIN,
  adoption:
    "so this one would keep its own. Remove the resource, and write the credential's id where it is used, or remove adoptId to " +
    "create another credential",
};

/** The rules of a `ContainerRegistryAuth`. */
export const REGISTRY_AUTH_KIND: RecordKind<RegistryAuth, RegistryAuthInput> = {
  ...REGISTRY_AUTH,
  table: REGISTRY_AUTH_FIELDS,
  unchangeable: ({ changesLogins }) => (changesLogins ? undefined : FIXED),
  hiddenFields: ["username", "password"],
  checkFields: REGISTRY_AUTH_CHECKS.check,
  records: ({ registryAuths }) => registryAuths,
  create: ({ client: { registryAuths } }, fields, onNameTaken) => registryAuths.create(fields, { onNameTaken }),
  // A change sends both the user name and the password, which the program always sets.
  update: ({ client: { registryAuths } }, { id, inputs, onSave }) =>
    registryAuths.update(id, { username: String(inputs.username), password: String(inputs.password) }, { onSave }),
  delete: whenUnused(REGISTRY_AUTH, ({ registryAuths }) => registryAuths),
  ownRules: { deleteTimeout: SECONDS },
  toFields: ({ name }, { username, password }) => ({ name, username, password }),
};
