import type { GraphqlPart } from "../graphql/part";
import { ENDPOINT_FIELDS, type EndpointInput } from "../model/endpointFields";
import type { Profile } from "../model/fidelity";
import { graphqlFields } from "../model/fieldTable";
import { shown } from "./endpointRules";
import type { Endpoints } from "./endpoints";

/** Creates the part of the GraphQL interface for endpoints. */
export function endpointPart(endpoints: Endpoints, profile: Profile): GraphqlPart {
  const isObserved = profile === "observed";
  return {
    schema: `
      extend type Mutation {
        saveEndpoint(input: EndpointInput!): Endpoint!
        deleteEndpoint(id: String!): Void
      }
      extend type Account { endpoints: [Endpoint!]! }
      enum FlashBootType { FLASHBOOT ${isObserved ? "OFF" : ""} }
      type Pod { ${isObserved ? "id: String!" : ""} desiredStatus: String }
      type Endpoint {
        id: String! ${graphqlFields(ENDPOINT_FIELDS, "output", profile)} ${isObserved ? "version: Int" : ""} pods: [Pod!]!
      }
      input EndpointInput { id: String ${graphqlFields(ENDPOINT_FIELDS, "input", profile)} }
    `,
    operations: {
      saveEndpoint({ input }: { input: EndpointInput }, { onEndpoint }) {
        const { record, runtime } = endpoints.save(input);
        onEndpoint(record.id);
        return { ...shown(record, profile), pods: runtime.pods() };
      },
      deleteEndpoint({ id }: { id: string }) {
        endpoints.delete(id);
        return null;
      },
    },
    myself: {
      endpoints: ({ listLagMs }) =>
        endpoints.list(listLagMs).map(({ record, pods }) => ({ ...shown(record, profile), pods })),
    },
    endpointIdOf(operation, { id, input }) {
      if (operation === "deleteEndpoint") return id;
      return operation === "saveEndpoint" ? (input as Partial<EndpointInput> | null | undefined)?.id : undefined;
    },
  };
}
