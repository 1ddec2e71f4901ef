import type { Profile } from "../model/fidelity";
import { graphqlFields } from "../model/fieldTable";
import type { RegistryAuthInput } from "../registryAuths/registryAuthFields";
import { CREDENTIAL_FIELDS, REGISTRY_AUTH_FIELDS, type RegistryAuthChange } from "../registryAuths/registryAuthFields";
import { shownCredential } from "../registryAuths/registryAuthKind";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import type { GraphqlPart } from "./part";

/** Creates the part of the GraphQL API for registry credentials. */
export function registryAuthPart(registryAuths: RegistryAuths, profile: Profile): GraphqlPart {
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
        shownCredential(registryAuths.create({ ...input, id: null })),
      updateRegistryAuth: ({ input }: { input: RegistryAuthChange }) => shownCredential(registryAuths.update(input)),
      deleteRegistryAuth({ registryAuthId }: { registryAuthId?: string | null }) {
        registryAuths.delete(registryAuthId);
        return null;
      },
    },
    myself: { containerRegistryCreds: ({ listLagMs }) => registryAuths.list(listLagMs).map(shownCredential) },
  };
}
