import { z } from "zod";
import type { GraphqlPart } from "../graphql/part";
import type { Profile } from "../model/fidelity";
import { graphqlFields } from "../model/fieldTable";
import { controlOf, type Kind, type RecordControl } from "../records/kind";
import {
  CREDENTIAL_FIELDS,
  REGISTRY_AUTH_FIELDS,
  type RegistryAuthChange,
  type RegistryAuthFields,
  type RegistryAuthInput,
  type RegistryAuthRecord,
  type RegistryAuthSeed,
  registryAuthPatchSchema,
  registryAuthSeedSchema,
  type StoredRegistryAuth,
} from "./registryAuthFields";
import type { RegistryAuths } from "./registryAuths";

/** Reads and changes registry credentials directly. It never shows a user name or a password. */
export interface RegistryAuthControl
  extends RecordControl<RegistryAuthSeed, RegistryAuthFields, Readonly<RegistryAuthRecord>> {
  /** Returns `true` if the credential has this user name and this password. */
  matches(id: string, username: string, password: string): boolean;
}

/** The kind of registry credentials, with its own control. */
export interface RegistryAuthKind extends Kind<RegistryAuthSeed, RegistryAuthFields, RegistryAuthRecord> {
  readonly control: RegistryAuthControl;
}

const shown = ({ id, name }: StoredRegistryAuth): RegistryAuthRecord => ({ id, name });

export function registryAuthKind(registryAuths: RegistryAuths, profile: Profile): RegistryAuthKind {
  return {
    noun: "registry credential",
    seedSchema: registryAuthSeedSchema,
    patchSchema: registryAuthPatchSchema,
    snapshotSchema: z.looseObject({ id: z.string(), name: z.string(), digest: z.string() }),
    control: { ...controlOf(registryAuths, shown), matches: registryAuths.matches },
    graphql: registryAuthPart(registryAuths, profile),
    snapshot: registryAuths.snapshot,
    restore: (saved) => registryAuths.restore(saved as StoredRegistryAuth[]),
    clear: registryAuths.clear,
  };
}

function registryAuthPart(registryAuths: RegistryAuths, profile: Profile): GraphqlPart {
  return {
    schema: `
      extend type Mutation {
        saveRegistryAuth(input: SaveRegistryAuthInput): ContainerRegistryAuth
        updateRegistryAuth(input: UpdateRegistryAuthInput): ContainerRegistryAuth
        deleteRegistryAuth(registryAuthId: String): Void
      }
      extend type Account { containerRegistryCreds: [ContainerRegistryAuth] }
      type ContainerRegistryAuth { id: String ${graphqlFields(REGISTRY_AUTH_FIELDS, "output", profile)} }
      input SaveRegistryAuthInput { ${graphqlFields(REGISTRY_AUTH_FIELDS, "input", profile)} }
      input UpdateRegistryAuthInput { id: String! ${graphqlFields(CREDENTIAL_FIELDS, "input", profile)} }
    `,
    operations: {
      saveRegistryAuth: ({ input }: { input: RegistryAuthInput }) =>
        shown(registryAuths.create({ ...input, id: null })),
      updateRegistryAuth: ({ input }: { input: RegistryAuthChange }) => shown(registryAuths.update(input)),
      deleteRegistryAuth({ registryAuthId }: { registryAuthId?: string | null }) {
        registryAuths.delete(registryAuthId);
        return null;
      },
    },
    myself: { containerRegistryCreds: ({ listLagMs }) => registryAuths.list(listLagMs).map(shown) },
  };
}
