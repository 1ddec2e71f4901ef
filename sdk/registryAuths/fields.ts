import { type FieldTable, NEVER_CHANGES, type TableOf } from "../records/fields";
import type { RegistryAuthInput } from "./record";

// Programs load this file when they start, so it imports no library.

const TABLE: TableOf<RegistryAuthInput, RegistryAuthInput, "text"> = {
  name: { type: "text", mustBe: "a name, not empty", isInEveryRecord: true, ...NEVER_CHANGES, v2: "name" },
  username: { type: "text", mustBe: "the user of the registry, not empty", selection: "", v2: "username" },
  password: { type: "text", mustBe: "the password or token of the user, not empty", selection: "", v2: "password" },
};

/** All fields of a registry credential that can be set, for code that treats all fields alike. */
export const REGISTRY_AUTH_FIELDS: FieldTable = TABLE;
