import { type Kind, type RecordControl, recordKind } from "../records/kind";
import {
  type EmulatedSecret,
  type SecretFields,
  type SecretSeed,
  type StoredSecret,
  secretPatchSchema,
  secretSeedSchema,
  storedSecretSchema,
} from "./secretFields";
import type { Secrets } from "./secrets";

/** Reads and changes secrets directly. Never shows a value. */
export interface SecretControl extends RecordControl<SecretSeed, SecretFields, Readonly<EmulatedSecret>> {
  /** Returns `true` if the secret has this value. */
  matches(id: string, value: string): boolean;
}

/** The kind of secrets, with its own control. */
export interface SecretKind extends Kind<SecretSeed, SecretFields, EmulatedSecret> {
  readonly control: SecretControl;
}

/** Returns the part of a secret that others can see. */
export const shownSecret = ({ value: _never, ...others }: StoredSecret): EmulatedSecret => others;

export function secretKind(secrets: Secrets): SecretKind {
  const kind = recordKind(secrets, shownSecret, {
    seedSchema: secretSeedSchema,
    patchSchema: secretPatchSchema,
    snapshotSchema: storedSecretSchema,
  });
  return { ...kind, control: { ...kind.control, matches: (id, value) => secrets.find(id)?.value === value } };
}
