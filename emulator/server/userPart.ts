import { EMULATED_USER_ID } from "../endpoints/endpointGraphql";
import type { GraphqlPart } from "../graphql/part";
import type { Profile } from "../model/fidelity";

/**
 * Creates the part of the GraphQL interface that the service's clients query in addition to
 * endpoints and the catalog: the user. The contract does not include it.
 */
export function userPart(profile: Profile): GraphqlPart {
  if (profile === "contract") return { schema: "" };
  return {
    schema: "extend type Account { id: String email: String pubKey: String }",
    myself: { id: () => EMULATED_USER_ID, email: () => null, pubKey: () => null },
  };
}
