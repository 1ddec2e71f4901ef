import type { Reply } from "../site";
import {
  body,
  deletion,
  deletionOf,
  type FactOf,
  observed,
  outcome,
  type Scenario,
  status,
  UNKNOWN_ID,
} from "./scenario";

const LIST = "query { myself { endpoints { id } } }";
const DISCOUNT = "query { myself { serverlessDiscount { discountFactor type expirationDate } } }";
const TWO_OPERATIONS = "query A { myself { endpoints { id } } } query B { myself { __typename } }";
const listWith = (fields: string) => `query { myself { endpoints { id ${fields} } } }`;

const listed: FactOf = ({ status, body }) => ({ status, isList: Array.isArray(body?.data?.myself?.endpoints) });
const firstMessage = ({ body }: Reply): string | undefined => body?.errors?.[0]?.message;

export interface Listed {
  readonly id: string;
  readonly pods?: unknown;
  readonly version?: unknown;
}

/** Returns a fact about the own endpoint in a list, which is `undefined` if it is not there. */
export const own =
  (factOf: (endpoint: Listed | undefined, status: number) => object): FactOf =>
  ({ status, body }, _, { id }) => {
    const list: Listed[] = body?.data?.myself?.endpoints ?? [];
    return factOf(
      list.find((each) => each.id === id),
      status,
    );
  };

export const graphqlKeys: Scenario = {
  name: "keys of GraphQL",
  steps: [
    { send: { graphql: LIST }, facts: [["graphql.key-in-query", listed]] },
    {
      send: { graphql: LIST, key: "wrong" },
      facts: [
        ["graphql.wrong-key", status],
        ["graphql.unauthorized-body", body],
      ],
    },
    {
      send: { graphql: LIST, key: "none" },
      facts: [
        [{ contract: "graphql.no-key", observed: "graphql.no-key-observed" }, ({ status, body }) => ({ status, body })],
      ],
    },
    {
      send: { graphql: LIST, key: "bearer" },
      facts: [[{ contract: "graphql.bearer-refused", observed: "graphql.bearer" }, listed]],
    },
    {
      send: { graphql: deletionOf(UNKNOWN_ID), key: "none" },
      facts: [
        [
          observed("graphql.no-key-mutation"),
          (reply) => ({ status: reply.status, message: firstMessage(reply) ?? null }),
        ],
      ],
    },
  ],
};

export const graphqlForms: Scenario = {
  name: "forms of GraphQL",
  steps: [
    { send: { graphql: "", method: "GET" }, facts: [["graphql.post-only", status]] },
    { send: { graphql: "", body: "{" }, facts: [["graphql.malformed", status]] },
    { send: { graphql: "query { myself { noSuchField } }" }, facts: [["graphql.validation", outcome]] },
    { send: { graphql: TWO_OPERATIONS, operationName: "A" }, facts: [["graphql.variables", listed]] },
    { send: { elsewhere: "/verify-service-no-such-path" }, facts: [["server.unknown-path", status]] },
  ],
};

export const account: Scenario = {
  name: "the account",
  steps: [
    {
      send: { graphql: DISCOUNT },
      facts: [
        [
          "myself.discount",
          ({ status, body }) => ({
            status,
            isNullOrObject: typeof body?.data?.myself?.serverlessDiscount === "object",
          }),
        ],
      ],
    },
    {
      send: { graphql: listWith("name pods { desiredStatus }") },
      facts: [
        ["myself.endpoints", own((endpoint, status) => ({ status, isListed: endpoint !== undefined }))],
        ["myself.pods", own((endpoint) => ({ pods: endpoint?.pods }))],
      ],
    },
    {
      send: { graphql: listWith("version") },
      facts: [[observed("myself.version"), own((endpoint, status) => ({ status, type: typeof endpoint?.version }))]],
    },
    {
      send: { graphql: listWith("pods { id }") },
      facts: [[observed("myself.pod-ids"), ({ status }) => ({ status })]],
    },
  ],
};

export const unknownDeletion: Scenario = {
  name: "the deletion of an unknown endpoint",
  steps: [
    {
      send: { graphql: deletionOf(UNKNOWN_ID) },
      facts: [
        [
          "delete.unknown-id",
          (reply) => ({ status: reply.status, saysNotFound: (firstMessage(reply) ?? "").includes("not found") }),
        ],
      ],
    },
  ],
};

/** The end of the endpoint: it has no worker, so it can be deleted at once. */
export const ownDeletion: Scenario = {
  name: "the deletion",
  steps: [{ send: { save: {} } }, { send: { graphql: deletionOf("{endpoint}") }, facts: [["delete.done", deletion]] }],
};
