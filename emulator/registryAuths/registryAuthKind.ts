import { z } from "zod";
import { type Kind, type RecordControl, recordKind } from "../records/kind";
import {
  type RegistryAuthFields,
  type RegistryAuthRecord,
  type RegistryAuthSeed,
  registryAuthPatchSchema,
  registryAuthSeedSchema,
  type StoredRegistryAuth,
} from "./registryAuthFields";
import type { RegistryAuths } from "./registryAuths";

/** Reads and changes registry credentials directly. Never shows a user name or password. */
export interface RegistryAuthControl
  extends RecordControl<RegistryAuthSeed, RegistryAuthFields, Readonly<RegistryAuthRecord>> {
  /** Returns `true` if the credential has this user name and password. */
  matches(id: string, username: string, password: string): boolean;
}

/** The kind of registry credentials, with its own control. */
export interface RegistryAuthKind extends Kind<RegistryAuthSeed, RegistryAuthFields, RegistryAuthRecord> {
  readonly control: RegistryAuthControl;
}

/** Returns the part of a credential that others can see. */
export const shownCredential = ({ id, name }: StoredRegistryAuth): RegistryAuthRecord => ({ id, name });

export function registryAuthKind(registryAuths: RegistryAuths): RegistryAuthKind {
  const kind = recordKind(registryAuths, shownCredential, {
    seedSchema: registryAuthSeedSchema,
    patchSchema: registryAuthPatchSchema,
    snapshotSchema: z.looseObject({ id: z.string(), name: z.string(), digest: z.string() }),
  });
  return { ...kind, control: { ...kind.control, matches: registryAuths.matches } };
}
