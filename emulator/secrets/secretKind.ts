import type { GraphqlPart } from "../graphql/part";
import { controlOf, type Kind, type RecordControl } from "../records/kind";
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

/** Reads and changes secrets directly. It never shows a value. */
export interface SecretControl extends RecordControl<SecretSeed, SecretFields, Readonly<EmulatedSecret>> {
  /** Returns `true` if the secret has this value. */
  matches(id: string, value: string): boolean;
}

/** The kind of secrets, with its own control. */
export interface SecretKind extends Kind<SecretSeed, SecretFields, EmulatedSecret> {
  readonly control: SecretControl;
}

const shown = ({ value: _never, ...others }: StoredSecret): EmulatedSecret => others;

/** Returns a secret as GraphQL shows it. */
const inGraphql = ({ valueLastUpdatedAt, ...others }: StoredSecret) => ({
  ...shown({ valueLastUpdatedAt, ...others }),
  lastUpdatedAt: valueLastUpdatedAt,
});

export function secretKind(secrets: Secrets): SecretKind {
  return {
    noun: "secret",
    seedSchema: secretSeedSchema,
    patchSchema: secretPatchSchema,
    snapshotSchema: storedSecretSchema,
    control: { ...controlOf(secrets, shown), matches: (id, value) => secrets.find(id)?.value === value },
    graphql: secretPart(secrets),
    snapshot: secrets.snapshot,
    restore: (saved) => secrets.restore(saved as StoredSecret[]),
    clear: secrets.clear,
  };
}

interface CreateInput extends Pick<SecretSeed, "name" | "value" | "description"> {}

function secretPart(secrets: Secrets): GraphqlPart {
  return {
    schema: `
      extend type Mutation {
        secretCreate(input: SecretCreateInput!): Secret
        secretValueUpdate(input: SecretValueUpdateInput!): Secret
        secretDescriptionUpdate(input: SecretDescriptionUpdateInput!): Secret
        secretDelete(id: ID!): Void
      }
      extend type Account { secrets: [Secret] }
      type Secret {
        id: ID name: String description: String createdAt: String updatedAt: String lastUpdatedAt: String
        lastRetrievedAt: String
      }
      input SecretCreateInput { name: String! value: String! description: String }
      input SecretValueUpdateInput { id: ID! value: String! }
      input SecretDescriptionUpdateInput { id: ID! description: String! }
    `,
    operations: {
      secretCreate: ({ input }: { input: CreateInput }) => inGraphql(secrets.create({ ...input, id: null })),
      secretValueUpdate: ({ input: { id, value } }: { input: { id: string; value: string } }) =>
        inGraphql(secrets.update(id, { value })),
      secretDescriptionUpdate: ({ input: { id, description } }: { input: { id: string; description: string } }) =>
        inGraphql(secrets.update(id, { description })),
      secretDelete({ id }: { id: string }) {
        secrets.delete(id);
        return null;
      },
    },
    myself: { secrets: ({ listLagMs }) => secrets.list(listLagMs).map(inGraphql) },
  };
}
