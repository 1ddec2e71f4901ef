import type { TestedReply } from "../testedService";
import {
  body,
  deletion,
  deletionOf,
  type FindingOf,
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

const listed: FindingOf = ({ status, body }) => ({ status, isList: Array.isArray(body?.data?.myself?.endpoints) });
const firstMessage = ({ body }: TestedReply): string | undefined => body?.errors?.[0]?.message;

export interface ListedEndpoint {
  readonly id: string;
  readonly pods?: unknown;
  readonly version?: unknown;
}

/**
 * Returns a finding about the run's endpoint in a list. The endpoint is `undefined` if the list
 * does not contain it.
 */
export const own =
  (findingOf: (endpoint: ListedEndpoint | undefined, status: number) => object): FindingOf =>
  ({ status, body }, _, { id }) => {
    const list: ListedEndpoint[] = body?.data?.myself?.endpoints ?? [];
    return findingOf(
      list.find((each) => each.id === id),
      status,
    );
  };

export const graphqlKeys: Scenario = {
  name: "GraphQL keys",
  steps: [
    { send: { graphql: LIST }, findings: [["graphql.key-in-query", listed]] },
    {
      send: { graphql: LIST, key: "wrong" },
      findings: [
        ["graphql.wrong-key", status],
        ["graphql.unauthorized-body", body],
      ],
    },
    {
      send: { graphql: LIST, key: "none" },
      findings: [
        [{ contract: "graphql.no-key", observed: "graphql.no-key-observed" }, ({ status, body }) => ({ status, body })],
      ],
    },
    {
      send: { graphql: LIST, key: "bearer" },
      findings: [[{ contract: "graphql.bearer-refused", observed: "graphql.bearer" }, listed]],
    },
    {
      send: { graphql: deletionOf(UNKNOWN_ID), key: "none" },
      findings: [
        [
          observed("graphql.no-key-mutation"),
          (reply) => ({ status: reply.status, message: firstMessage(reply) ?? null }),
        ],
      ],
    },
  ],
};

export const graphqlForms: Scenario = {
  name: "GraphQL requests",
  steps: [
    { send: { graphql: "", method: "GET" }, findings: [["graphql.post-only", status]] },
    { send: { graphql: "", body: "{" }, findings: [["graphql.malformed", status]] },
    { send: { graphql: "query { myself { noSuchField } }" }, findings: [["graphql.validation", outcome]] },
    { send: { graphql: TWO_OPERATIONS, operationName: "A" }, findings: [["graphql.variables", listed]] },
    { send: { elsewhere: "/verify-service-no-such-path" }, findings: [["server.unknown-path", status]] },
  ],
};

export const account: Scenario = {
  name: "the account",
  steps: [
    {
      send: { graphql: DISCOUNT },
      findings: [
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
      findings: [
        ["myself.endpoints", own((endpoint, status) => ({ status, isListed: endpoint !== undefined }))],
        ["myself.pods", own((endpoint) => ({ pods: endpoint?.pods }))],
      ],
    },
    {
      send: { graphql: listWith("version") },
      findings: [[observed("myself.version"), own((endpoint, status) => ({ status, type: typeof endpoint?.version }))]],
    },
    {
      send: { graphql: listWith("pods { id }") },
      findings: [[observed("myself.pod-ids"), ({ status }) => ({ status })]],
    },
  ],
};

export const unknownDeletion: Scenario = {
  name: "the deletion of an unknown endpoint",
  steps: [
    {
      send: { graphql: deletionOf(UNKNOWN_ID) },
      findings: [
        [
          "delete.unknown-id",
          (reply) => ({ status: reply.status, saysNotFound: (firstMessage(reply) ?? "").includes("not found") }),
        ],
      ],
    },
  ],
};

/** Deletes the endpoint. It has no workers, so it can be deleted at once. */
export const ownDeletion: Scenario = {
  name: "the deletion",
  steps: [
    { send: { save: {} } },
    { send: { graphql: deletionOf("{endpoint}") }, findings: [["delete.done", deletion]] },
  ],
};
