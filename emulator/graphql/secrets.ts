import type { SecretSeed, StoredSecret } from "../secrets/secretFields";
import { shownSecret } from "../secrets/secretKind";
import type { Secrets } from "../secrets/secrets";
import type { GraphqlPart } from "./part";

/** Returns a secret as GraphQL shows it. */
const inGraphql = ({ valueLastUpdatedAt, ...others }: StoredSecret) => ({
  ...shownSecret({ valueLastUpdatedAt, ...others }),
  lastUpdatedAt: valueLastUpdatedAt,
});

interface CreateInput extends Pick<SecretSeed, "name" | "value" | "description"> {}

/** Creates the part of the GraphQL API for secrets. */
export function secretPart(secrets: Secrets): GraphqlPart {
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
