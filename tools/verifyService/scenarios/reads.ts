import { LIST_CAP } from "../../../sdk/contract/limits";
import type { TestedReply } from "../testedService";
import type { ListedEndpoint } from "./graphql";
import { type FindingOf, observed, type Scenario, UNKNOWN_ID } from "./scenario";

const OWN = 'endpoint(id: "{endpoint}") { id }';
const UNKNOWN = `endpoint(id: "${UNKNOWN_ID}") { id }`;

/**
 * Returns a finding that does not depend on the account's size: the list contains the oldest
 * endpoints, and this run's endpoint is the youngest.
 */
const holdsTheOldest: FindingOf = ({ status, body }, _, { id }) => {
  const list: ListedEndpoint[] = body?.data?.myself?.endpoints ?? [];
  const isShown = list.some((each) => each.id === id);
  const isHidden = list.length === LIST_CAP && !isShown;
  return { status, isCapped: list.length <= LIST_CAP, holdsTheOldest: isHidden || list.at(-1)?.id === id };
};

/** Returns which of these reply fields contain the run's endpoint. `null` means no endpoint. */
const endpointsIn = (reply: TestedReply | undefined, ownId: string): object => {
  const fields = Object.entries(reply?.body?.data?.myself ?? {}) as [string, ListedEndpoint | null][];
  return {
    status: reply?.status,
    ...Object.fromEntries(fields.map(([field, found]) => [field, found && found.id === ownId])),
  };
};

/**
 * Tests what proves that a record was created or deleted: single reads, several reads in one
 * request, and the order of lists that may be cut off.
 */
export const reads: Scenario = {
  name: "lists and single reads",
  steps: [
    {
      send: { graphql: "query { myself { endpoints { id } } }" },
      findings: [[observed("myself.list-cap"), holdsTheOldest]],
    },
    { send: { graphql: `query { myself { ${OWN} } }` }, as: "own" },
    { send: { graphql: `query { myself { ${UNKNOWN} } }` }, as: "unknown" },
    {
      send: { graphql: `query { myself { own: ${OWN} unknown: ${UNKNOWN} } }` },
      findings: [
        [
          observed("myself.endpoint"),
          (both, { own, unknown }, { id }) => [own, unknown, both].map((each) => endpointsIn(each, id)),
        ],
      ],
    },
    {
      send: { graphql: 'query { podTemplate(id: "{template}") { id isServerless } }' },
      findings: [
        [
          observed("template.get"),
          ({ status, body }, _, { templateId }) => ({
            status,
            isIt: body?.data?.podTemplate?.id === templateId,
            isServerless: body?.data?.podTemplate?.isServerless,
          }),
        ],
      ],
    },
    {
      send: { graphql: `query { podTemplate(id: "${UNKNOWN_ID}") { id } }` },
      findings: [[observed("template.get-unknown"), ({ status, body }) => ({ status, data: body?.data })]],
    },
    {
      send: { v2: "/serverless?limit=1" },
      findings: [
        [
          observed("v2.newest-first"),
          ({ status, body }, _, { id }) => ({
            status,
            count: body?.endpoints?.length,
            isNewest: body?.endpoints?.[0]?.id === id,
          }),
        ],
      ],
    },
  ],
};
